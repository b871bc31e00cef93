/** Strings by code point. A string without surrogates, as most are, has a code point in each of its units. */
const isPair = (text: string, unit: number): boolean =>
  (text.charCodeAt(unit) & 0xfc00) === 0xd800 && (text.charCodeAt(unit + 1) & 0xfc00) === 0xdc00;

/** The index in UTF-16 of a code point, and of the end of the text for the number of its code points. */
export function unitOf(text: string, point: number): number {
  let unit = 0;
  for (let i = 0; i < point && unit < text.length; i++) unit += isPair(text, unit) ? 2 : 1;
  return unit;
}

/** The number of code points before an index in UTF-16. */
export function pointOf(text: string, unit: number): number {
  let point = 0;
  for (let i = 0; i < unit; point++) i += isPair(text, i) ? 2 : 1;
  return point;
}

/** The code points from one index to another, both within the text. */
export function between(text: string, start: number, end: number): string {
  const from = unitOf(text, start);
  const rest = text.slice(from);
  return rest.slice(0, unitOf(rest, end - start));
}
