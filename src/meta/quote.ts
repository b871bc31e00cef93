/** Whether a character can be seen; the plain space counts. */
export const isPrintable = (character: string): boolean => !/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.test(character);

/** How much of a text from outside one message shows, in characters. */
export const maxShown = 10 * 1024;

/** The text, or its beginning followed by `...` when it is longer than a message shows. */
export const shorten = (text: string, most = maxShown): string =>
  text.length <= most ? text : `${text.slice(0, most)}...`;

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

/** A text in quotes as the wire's messages show it: whatever cannot be seen is escaped. */
export function quote(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  let shown = '';
  for (const character of text) shown += named[character] ?? (isPrintable(character) ? character : escaped(character));
  return `"${shown}"`;
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = (digits: number) => code.toString(16).padStart(digits, '0');
  if (code < 0x80) return `\\x${hex(2)}`;
  return code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}
