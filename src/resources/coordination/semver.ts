/** Versions of Semantic Versioning 2.0.0. */

type Semver = readonly [core: readonly bigint[], pre: readonly string[]];

const numeric = '(?:0|[1-9][0-9]*)';
const identifier = `(?:${numeric}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)`;
const form = new RegExp(
  `^(${numeric})\\.(${numeric})\\.(${numeric})(?:-(${identifier}(?:\\.${identifier})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);
/** Limit of a version in characters. */
const MAX_LENGTH = 253;

/** Parses a version; undefined when it is invalid. */
export function parseSemver(text: string): Semver | undefined {
  const match = text.length > MAX_LENGTH ? null : form.exec(text);
  if (match === null) return undefined;
  const [, major = '', minor = '', patch = '', pre] = match;
  return [[major, minor, patch].map(BigInt), pre === undefined ? [] : pre.split('.')];
}

/** Compares two versions: negative when the first one is lower. */
export function compareSemver([a, preA]: Semver, [b, preB]: Semver): number {
  for (const [i, number] of a.entries()) {
    if (number !== b[i]) return number < (b[i] as bigint) ? -1 : 1;
  }
  // A release is higher than its pre-releases.
  if (preA.length === 0 || preB.length === 0) return preB.length - preA.length;
  for (const [i, part] of preA.entries()) {
    const other = preB[i];
    if (other === undefined) return 1;
    const order = compareIdentifiers(part, other);
    if (order !== 0) return order;
  }
  return preA.length - preB.length;
}

/** Compares pre-release identifiers: numeric ones by value and lower than others, others by their characters. */
function compareIdentifiers(a: string, b: string): number {
  const [x, y] = [a, b].map((part) => (/^[0-9]+$/.test(part) ? BigInt(part) : undefined));
  if (x !== undefined && y !== undefined) return x < y ? -1 : x > y ? 1 : 0;
  if (x !== undefined || y !== undefined) return x === undefined ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}
