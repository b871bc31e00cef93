/** A step of the translation. */
interface Cursor {
  readonly source: string;
  at: number;
  inClass: boolean;
  /** Whether the previous token was a class such as `\w`, after which `-` does not form a range. */
  afterClass: boolean;
}

/** A token that JavaScript has no equivalent of. */
class Untranslatable extends Error {}

const whitespace = '\\t\\n\\f\\r ';

/**
 * A regular expression of RE2 in the syntax of JavaScript with the flag `u`, which matches the same texts; undefined
 * where there is none, such as for one with flags.
 */
export function javaScriptPattern(source: string): string | undefined {
  const cursor: Cursor = { source, at: 0, inClass: false, afterClass: false };
  try {
    let out = '';
    while (cursor.at < source.length) out += next(cursor);
    new RegExp(out, 'u');
    return out;
  } catch (error) {
    if (error instanceof Untranslatable || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function next(cursor: Cursor): string {
  const char = cursor.source[cursor.at++] as string;
  const { afterClass } = cursor;
  cursor.afterClass = false;
  if (char === '\\') return escaped(cursor);
  if (!cursor.inClass) return outside(char, cursor);
  if (char === '[') {
    // A class by name, such as [:alpha:].
    if (cursor.source[cursor.at] === ':') throw new Untranslatable();
    return '\\[';
  }
  if (char === ']') cursor.inClass = false;
  return char === '-' && afterClass && cursor.source[cursor.at] !== ']' ? '\\-' : char;
}

function outside(char: string, cursor: Cursor): string {
  const rest = cursor.source.slice(cursor.at, cursor.at + 12);
  switch (char) {
    case '.':
      return '[^\\n]';
    case '[': {
      cursor.inClass = true;
      // A bracket that comes first is a member.
      const [begin = ''] = /^\^?\]?/.exec(rest) ?? [];
      cursor.at += begin.length;
      return `[${begin.replace(']', '\\]')}`;
    }
    case '(':
      if (!rest.startsWith('?') || /^\?(:|<\w)/.test(rest)) return char;
      if (!rest.startsWith('?P<')) throw new Untranslatable();
      cursor.at += 3;
      return '(?<';
    case '{':
      return /^\d+(,\d*)?\}/.test(rest) ? char : '\\{';
    case '}':
      return /\{\d+(,\d*)?$/.test(cursor.source.slice(0, cursor.at - 1)) ? char : '\\}';
    case ']':
      return '\\]';
    default:
      return char;
  }
}

/** Reads the character after a backslash. */
function escaped(cursor: Cursor): string {
  const char = cursor.source[cursor.at++] ?? '';
  const rest = cursor.source.slice(cursor.at, cursor.at + 12);
  const take = (pattern: RegExp): string => {
    const [token] = pattern.exec(rest) ?? [];
    if (token === undefined) throw new Untranslatable();
    cursor.at += token.length;
    return token;
  };
  if (/[dDwWsSpP]/.test(char)) cursor.afterClass = true;
  if (char === 's') return cursor.inClass ? whitespace : `[${whitespace}]`;
  if (char === 'S' && !cursor.inClass) return `[^${whitespace}]`;
  if (char === 'p' || char === 'P') return `\\${char}{${take(/^(?:[A-Z]|\{[A-Z][a-z]?\})/).replaceAll(/[{}]/g, '')}}`;
  if (char === 'x') return rest.startsWith('{') ? `\\u${take(/^\{[0-9A-Fa-f]+\}/)}` : `\\x${take(/^[0-9A-Fa-f]{2}/)}`;
  if (char === 'A' && !cursor.inClass) return '^';
  if (char === 'z' && !cursor.inClass) return '$';
  if (/[dDwWtnrfv^$\\.*+?()[\]{}|/]/.test(char) || (/[bB]/.test(char) && !cursor.inClass)) return `\\${char}`;
  // Any punctuation may be escaped.
  if (/[!-/:-@[-`{-~]/.test(char)) return char === '-' && cursor.inClass ? '\\-' : char;
  throw new Untranslatable();
}
