/** Searches for parts of texts in time linear in the length of both. */

/**
 * V8 compares a part with a text from many places where the text is repetitive: in the worst case the time is the product
 * of both lengths, which is acceptable for parts up to this length.
 */
const maxShortPart = 32;

/** A part of texts that is not empty. */
export class Part {
  readonly #part: string;
  #forward: Int32Array | undefined;
  #backward: Int32Array | undefined;

  constructor(part: string) {
    this.#part = part;
  }

  /** The index of its first occurrence from `from` on; -1: there is none. */
  firstIn(text: string, from = 0): number {
    const part = this.#part;
    const { length } = part;
    if (length <= maxShortPart) return text.indexOf(part, from);
    this.#forward ??= borders(length, (i) => part.charCodeAt(i));
    let matched = 0;
    for (let i = from; i < text.length; i++) {
      matched = extend(matched, this.#forward, text.charCodeAt(i), (at) => part.charCodeAt(at));
      if (matched === length) return i - length + 1;
    }
    return -1;
  }

  /** The index of its last occurrence that begins at `until` or before; -1: there is none. */
  lastIn(text: string, until = text.length): number {
    const part = this.#part;
    const { length } = part;
    if (length <= maxShortPart) return text.lastIndexOf(part, until);
    const codeAt = (i: number) => part.charCodeAt(length - 1 - i);
    this.#backward ??= borders(length, codeAt);
    let matched = 0;
    for (let i = Math.min(text.length, until + length) - 1; i >= 0; i--) {
      matched = extend(matched, this.#backward, text.charCodeAt(i), codeAt);
      if (matched === length) return i;
    }
    return -1;
  }

  /** The texts between its occurrences, at most `limit` of them. */
  split(text: string, limit: number): string[] {
    if (this.#part.length <= maxShortPart) return text.split(this.#part, limit);
    const texts: string[] = [];
    let from = 0;
    for (let at = this.firstIn(text); at >= 0 && texts.length < limit; at = this.firstIn(text, from)) {
      texts.push(text.slice(from, at));
      from = at + this.#part.length;
    }
    if (texts.length < limit) texts.push(text.slice(from));
    return texts;
  }
}

/**
 * For each length of a beginning of a part, less 1, the length of the longest shorter one that is also its end (the algorithm
 * of Knuth, Morris and Pratt).
 */
function borders(length: number, codeAt: (i: number) => number): Int32Array {
  const found = new Int32Array(length);
  for (let i = 1; i < length; i++) found[i] = extend(found[i - 1] as number, found, codeAt(i), codeAt);
  return found;
}

/** How many codes of the part match after a next code, of which `matched` did before. */
function extend(matched: number, borders: Int32Array, code: number, codeAt: (i: number) => number): number {
  let length = matched;
  while (length > 0 && codeAt(length) !== code) length = borders[length - 1] as number;
  return codeAt(length) === code ? length + 1 : length;
}
