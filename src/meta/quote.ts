const printableAscii = /^[ -~]$/;

/** Whether a character is printable, as Go defines it: the space is. ASCII needs no Unicode tables. */
export const isPrintable = (character: string): boolean =>
  printableAscii.test(character) || !/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.test(character);

/** The maximum length of a value in messages, in characters. */
export const maxShown = 10 * 1024;

/** Returns the text, or a copy of its first `most` characters followed by `...` when it is longer. */
export function shorten(text: string, most = 500): string {
  if (text.length <= most) return text;
  // A slice would keep the whole text in memory.
  return JSON.parse(JSON.stringify(`${text.slice(0, most)}...`)) as string;
}

const escapes: { readonly [character: string]: string } = {
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

/** The characters that quotes escape: those that are not {@link isPrintable}, `"` and `\`. */
const special = /["\\\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/**
 * A text in quotes as Go's `%q` writes it, shortened to {@link maxShown} characters: unprintable characters are
 * escaped.
 */
export function quote(text: string): string {
  const shortened = shorten(text, maxShown);
  if (/^[ !#-[\]-~]*$/.test(shortened)) return `"${shortened}"`;
  return `"${shortened.replace(special, (character) => escapes[character] ?? escapeCharacter(character))}"`;
}

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = (digits: number) => code.toString(16).padStart(digits, '0');
  if (code < 0x80) return `\\x${hex(2)}`;
  return code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}

/** Joins distinct messages: `[a, b]`, a single `a`, or '' for none. */
export function aggregateMessages(messages: Iterable<string>): string {
  const [first = '', ...more] = new Set(messages);
  return more.length === 0 ? first : `[${[first, ...more].join(', ')}]`;
}

/** Breaks a text at spaces into lines of at most `width` characters; longer words stay whole. */
export function wrap(text: string, width: number): string[] {
  if (text.length <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
