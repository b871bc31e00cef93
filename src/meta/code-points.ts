/** The number of code points of a text; a surrogate that is not part of a pair counts as one. */
export function countCodePoints(text: string): number {
  let count = text.length;
  // Searching is several times as fast as the loop, and most texts have no pairs.
  for (let i = text.length < minSearchedLength ? 0 : text.search(lastOfPair); i >= 0 && i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) count--;
  }
  return count;
}

/** Texts of this length and more (UTF-16 code units) are searched for pairs first. */
const minSearchedLength = 1_000;
const lastOfPair = /[\udc00-\udfff]/;
