const printableAscii = /^[ -~]$/;

/** Whether a character can be seen; the plain space counts. The common ones never need the tables of Unicode. */
export const isPrintable = (character: string): boolean =>
  printableAscii.test(character) || !/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.test(character);

/** How much a message shows of a field's value (characters). */
export const maxShown = 10 * 1024;

/** The text, or its first `most` characters followed by `...` when it is longer. */
export const shorten = (text: string, most = 500): string => (text.length <= most ? text : `${text.slice(0, most)}...`);

const named: { readonly [character: string]: string } = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** What does not stand in quotes as it is: what {@link isPrintable} says cannot be seen, and two that mean something. */
const special = /["\\\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/** The first {@link maxShown} characters of a text in quotes, as messages show it: whatever is not printable is escaped. */
export function quote(text: string): string {
  const shown = shorten(text, maxShown);
  if (/^[ !#-[\]-~]*$/.test(shown)) return `"${shown}"`;
  return `"${shown.replace(special, (character) => named[character] ?? escaped(character))}"`;
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = (digits: number) => code.toString(16).padStart(digits, '0');
  if (code < 0x80) return `\\x${hex(2)}`;
  return code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}
