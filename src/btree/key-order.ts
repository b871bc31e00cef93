/**
 * UTF-16 code units whose order differs from that of UTF-8 bytes: surrogates sort below U+E000..U+FFFF, but encode
 * characters above them. Two keys compare alike in both orders unless both contain such units.
 */
const high = /[\uD800-\uFFFF]/;

/** Whether `a` comes before `b`. */
export type Before = (a: string, b: string) => boolean;

/** Whether `<` could misplace the key among others that need the UTF-8 order too. */
export function needsUtf8Order(key: string): boolean {
  return high.test(key);
}

/** The order of UTF-8 bytes, unless both keys {@link needsUtf8Order}. */
export function plainBefore(a: string, b: string): boolean {
  return a < b;
}

/** The order of UTF-8 bytes, for any keys. */
export function utf8Before(a: string, b: string): boolean {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? rank(x) < rank(y) : x < y;
  }
  return a.length < b.length;
}

/** Maps a code unit from U+D800 on to its place in code point order: surrogates last. */
function rank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}
