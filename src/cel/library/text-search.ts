/** Searches of texts for others, in time linear in the length of both. */

/**
 * V8's own search takes time in the product of both lengths where both texts are repetitive. It is used for parts up to this
 * length.
 */
const maxShortPart = 32;

/** A search for one part in any text. */
export class TextSearch {
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
 * The table of the algorithm of Knuth, Morris and Pratt: for each prefix of a part, at the index of its last code, the length of
 * its longest proper prefix that is also its suffix.
 */
function borders(length: number, codeAt: (i: number) => number): Int32Array {
  const found = new Int32Array(length);
  for (let i = 1; i < length; i++) found[i] = extend(found[i - 1] as number, found, codeAt(i), codeAt);
  return found;
}

/** Returns how many codes of the part match after the next code of a text, where `matched` of them did before. */
function extend(matched: number, borders: Int32Array, code: number, codeAt: (i: number) => number): number {
  let length = matched;
  while (length > 0 && codeAt(length) !== code) length = borders[length - 1] as number;
  return codeAt(length) === code ? length + 1 : length;
}
