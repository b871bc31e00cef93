import { Token } from './tokens.ts';

/** The tokens of a source, in parallel arrays; the last one is `Token.end`. */
export interface Tokens {
  readonly kinds: readonly number[];
  /** Where they start and end in the source, in UTF-16 code units. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  /** Where they start, in code points. */
  readonly offsets: readonly number[];
  /** The parts of the source that are in no token. */
  readonly unrecognized: readonly Unrecognized[];
}

export interface Unrecognized {
  readonly start: number;
  readonly end: number;
  readonly offset: number;
}

/** Reads the tokens in one pass. Never throws; takes time in proportion to the length. */
export function tokenize(source: string): Tokens {
  const kinds: number[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  const unrecognized: Unrecognized[] = [];
  const { length } = source;
  const reader = new Reader(source);
  let position = 0;
  while (position < length) {
    const start = position;
    const code = source.charCodeAt(position);
    if (code === 32 || (code >= 9 && code <= 13 && code !== 11)) {
      position++;
      continue;
    }
    if (code === 47 && source.charCodeAt(position + 1) === 47) {
      const line = source.indexOf('\n', position);
      position = line === -1 ? length : line;
      continue;
    }
    const kind = reader.read(start, code);
    position = reader.end;
    if (kind === 0) {
      unrecognized.push({ start, end: position, offset: start });
    } else {
      kinds.push(kind);
      starts.push(start);
      ends.push(position);
    }
  }
  kinds.push(Token.end);
  starts.push(length);
  ends.push(length);
  if (!hasSurrogate(source)) return { kinds, starts, ends, offsets: starts, unrecognized };
  const offsets = codePointOffsets(
    source,
    unrecognized.map(({ start }) => start),
  );
  return {
    kinds,
    starts,
    ends,
    offsets: codePointOffsets(source, starts),
    unrecognized: unrecognized.map((text, index) => ({ ...text, offset: offsets[index]! })),
  };
}

function hasSurrogate(source: string): boolean {
  for (let index = 0; index < source.length; index++) {
    if ((source.charCodeAt(index) & 0xf800) === 0xd800) return true;
  }
  return false;
}

/** The offsets in code points of positions, which ascend. */
function codePointOffsets(source: string, positions: readonly number[]): number[] {
  const offsets: number[] = [];
  let offset = 0;
  let index = 0;
  for (const position of positions) {
    for (; index < position; offset++) index += source.codePointAt(index)! > 0xffff ? 2 : 1;
    offsets.push(offset);
  }
  return offsets;
}

const flags = new Uint8Array(128);
const letter = 1;
const digit = 2;
const hexDigit = 4;
/** A character other than letters and digits that identifiers in backticks may contain. */
const escapable = 8;
const octalDigit = 16;
/** A character that is an escape sequence after a backslash. */
const simpleEscape = 32;
const mark = (characters: string, flag: number): void => {
  for (const character of characters) flags[character.charCodeAt(0)]! |= flag;
};
mark('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_', letter);
mark('0123456789', digit);
mark('0123456789abcdefABCDEF', hexDigit);
mark('.-/ ', escapable);
mark('01234567', octalDigit);
mark('abfnrtv"\'\\?`', simpleEscape);
const is = (code: number, flag: number): boolean => code < 128 && (flags[code]! & flag) !== 0;

const singles = new Uint8Array(128);
const single: readonly (readonly [string, number])[] = [
  ['[', Token.leftBracket],
  [']', Token.rightBracket],
  ['{', Token.leftBrace],
  ['}', Token.rightBrace],
  ['(', Token.leftParenthesis],
  [')', Token.rightParenthesis],
  ['.', Token.dot],
  [',', Token.comma],
  ['-', Token.minus],
  ['!', Token.not],
  ['?', Token.question],
  [':', Token.colon],
  ['+', Token.plus],
  ['*', Token.times],
  ['/', Token.divide],
  ['%', Token.remainder],
  ['<', Token.less],
  ['>', Token.greater],
];
for (const [character, kind] of single) singles[character.charCodeAt(0)] = kind;

/** Reads one token. Without a match it ends after the first character with which no token continues. */
class Reader {
  readonly #source: string;
  /** The end of the token, or of the text that is none. */
  end = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** The code unit of a position; NaN after the end. */
  #at(position: number): number {
    return this.#source.charCodeAt(position);
  }

  #is(position: number, flag: number): boolean {
    return is(this.#source.charCodeAt(position), flag);
  }

  /** The kind of the token at a position; 0: none. */
  read(start: number, code: number): number {
    if (is(code, letter)) return this.#word(start, code);
    if (is(code, digit) || (code === 46 && this.#is(start + 1, digit))) return this.#number(start, code);
    if (code === 34 || code === 39) return this.#string(start, false) ? Token.string : 0;
    if (code === 96) return this.#escapedIdentifier(start);
    return this.#operator(start, code);
  }

  #operator(start: number, code: number): number {
    const next = this.#at(start + 1);
    this.end = start + 2;
    if (next === 61) {
      if (code === 61) return Token.equals;
      if (code === 33) return Token.notEquals;
      if (code === 60) return Token.lessEquals;
      if (code === 62) return Token.greaterEquals;
    }
    if (code === 38 && next === 38) return Token.and;
    if (code === 124 && next === 124) return Token.or;
    const kind = code < 128 ? singles[code]! : 0;
    if (kind !== 0) this.end = start + 1;
    // `=`, `&` and `|` begin a token; anything else is one character that begins none.
    else if (code === 61 || code === 38 || code === 124) this.#fail(start + 1);
    else this.#fail(start);
    return kind;
  }

  #fail(position: number): void {
    const code = this.#source.codePointAt(position);
    this.end = code === undefined ? this.#source.length : position + (code > 0xffff ? 2 : 1);
  }

  #word(start: number, code: number): number {
    const kind = this.#prefixed(start, code);
    if (kind !== 0) return kind;
    const source = this.#source;
    let end = start + 1;
    while (is(source.charCodeAt(end), letter | digit)) end++;
    this.end = end;
    if (code === 105) return end === start + 2 && source.charCodeAt(start + 1) === 110 ? Token.in : Token.identifier;
    if (code === 116 && end === start + 4 && source.startsWith('true', start)) return Token.true;
    if (code === 102 && end === start + 5 && source.startsWith('false', start)) return Token.false;
    if (code === 110 && end === start + 4 && source.startsWith('null', start)) return Token.null;
    return Token.identifier;
  }

  /** A string with the prefix `r`, `b` or `br`; 0: none. */
  #prefixed(start: number, code: number): number {
    let quote = start;
    const bytes = code === 98 || code === 66;
    if (bytes) quote++;
    const prefix = bytes ? this.#at(quote) : code;
    const raw = prefix === 114 || prefix === 82;
    if (raw) quote++;
    if (quote === start) return 0;
    const opening = this.#at(quote);
    if (opening !== 34 && opening !== 39) return 0;
    // A string that does not end is an identifier before something else.
    if (!this.#string(quote, raw)) return 0;
    return bytes ? Token.bytes : Token.string;
  }

  /** Whether a string with its quote at a position ends. */
  #string(quote: number, raw: boolean): boolean {
    const code = this.#source.charCodeAt(quote);
    if (this.#at(quote + 1) !== code) return this.#content(quote + 1, code, raw, false);
    if (this.#at(quote + 2) === code && this.#content(quote + 3, code, raw, true)) return true;
    this.end = quote + 2;
    return true;
  }

  /** Whether the content of a string from a position on ends with its quotes. */
  #content(from: number, quote: number, raw: boolean, triple: boolean): boolean {
    const source = this.#source;
    const { length } = source;
    let position = from;
    while (position < length) {
      const code = source.charCodeAt(position);
      if (code === quote) {
        if (!triple || (source.charCodeAt(position + 1) === quote && source.charCodeAt(position + 2) === quote)) {
          this.end = position + (triple ? 3 : 1);
          return true;
        }
      } else if (code === 92 && !raw) {
        const end = this.#escape(position + 1);
        if (end < 0) {
          this.#fail(-end);
          return false;
        }
        position = end;
        continue;
      } else if ((code === 10 || code === 13) && !triple) {
        this.end = position + 1;
        return false;
      }
      position++;
    }
    this.end = length;
    return false;
  }

  /** The end of an escape sequence after its backslash; negative: the position of what is wrong in it. */
  #escape(position: number): number {
    const code = this.#source.charCodeAt(position);
    if (is(code, simpleEscape)) return position + 1;
    if (code >= 48 && code <= 51) return this.#digits(position + 1, 2, octalDigit);
    if (code === 120 || code === 88) return this.#digits(position + 1, 2, hexDigit);
    if (code === 117) return this.#digits(position + 1, 4, hexDigit);
    if (code === 85) return this.#digits(position + 1, 8, hexDigit);
    return -position;
  }

  #digits(from: number, count: number, flag: number): number {
    for (let position = from; position < from + count; position++) {
      if (!this.#is(position, flag)) return -position;
    }
    return from + count;
  }

  #escapedIdentifier(start: number): number {
    let end = start + 1;
    while (this.#is(end, letter | digit | escapable)) end++;
    if (this.#at(end) === 96 && end > start + 1) {
      this.end = end + 1;
      return Token.escapedIdentifier;
    }
    this.#fail(end);
    return 0;
  }

  #skip(from: number, flag: number): number {
    let position = from;
    while (this.#is(position, flag)) position++;
    return position;
  }

  #number(start: number, code: number): number {
    if (code === 48 && this.#at(start + 1) === 120 && this.#is(start + 2, hexDigit)) {
      return this.#integer(this.#skip(start + 2, hexDigit));
    }
    let end = this.#skip(start, digit);
    let kind: number = Token.int;
    if (this.#at(end) === 46 && this.#is(end + 1, digit)) {
      end = this.#skip(end + 1, digit);
      kind = Token.float;
    }
    const exponent = this.#at(end);
    if (exponent === 101 || exponent === 69) {
      const sign = this.#at(end + 1);
      const digits = end + (sign === 43 || sign === 45 ? 2 : 1);
      if (this.#is(digits, digit)) {
        end = this.#skip(digits, digit);
        kind = Token.float;
      }
    }
    if (kind === Token.int) return this.#integer(end);
    this.end = end;
    return kind;
  }

  /** An integer whose digits end at a position. */
  #integer(end: number): number {
    const suffix = this.#at(end);
    const unsigned = suffix === 117 || suffix === 85;
    this.end = unsigned ? end + 1 : end;
    return unsigned ? Token.uint : Token.int;
  }
}
