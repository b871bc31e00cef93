/** The two orders agree on strings without such characters: one side below U+D800 is smaller in both. */
const high = /[\uD800-\uFFFF]/;

/** Whether `a` comes before `b`. */
export type Before = (a: string, b: string) => boolean;

/** Whether the order of the engine's strings could misplace the key among others of its sort. */
export function needsUtf8Order(key: string): boolean {
  return high.test(key);
}

/** The order of UTF-8 bytes, for keys of which at most one of any two {@link needsUtf8Order}. */
export function plainBefore(a: string, b: string): boolean {
  return a < b;
}

/** The order of UTF-8 bytes, for any keys: surrogates stand for characters above U+FFFF and come last. */
export function utf8Before(a: string, b: string): boolean {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? rank(x) < rank(y) : x < y;
  }
  return a.length < b.length;
}

function rank(unit: number): number {
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
}
