/**
 * The suffix of a message about an unknown word: `; did you mean "x"?` with the most similar known word, or empty where more
 * than `allowed` characters differ. Default: a third of them.
 */
export function didYouMean(
  word: string,
  candidates: readonly string[],
  allowed = Math.max(2, Math.floor(word.length / 3)),
): string {
  const [best] = candidates
    .map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= allowed)
    .sort((a, b) => a.distance - b.distance);
  return best === undefined ? '' : `; did you mean ${JSON.stringify(best.candidate)}?`;
}

/** The Levenshtein distance of the first 100 characters. */
function editDistance(a: string, b: string): number {
  const [from, to] = [a.slice(0, 100), b.slice(0, 100)];
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
