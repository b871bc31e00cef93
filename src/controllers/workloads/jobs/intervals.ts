/** First and last index, both inclusive. */
type Interval = readonly [first: number, last: number];

/** Ascending intervals that neither overlap nor adjoin. */
export type Intervals = readonly Interval[];

/** The indexes of a text such as `1,3-5,7` below the bound; what cannot be parsed is left out. */
export function parseIntervals(text: string | undefined, bound: number): Intervals {
  const intervals: Interval[] = [];
  for (const part of (text ?? '') === '' ? [] : (text ?? '').split(',')) {
    const [first, last] = part.split('-').map((limit) => (/^\+?[0-9]+$/.test(limit) ? Number(limit) : Number.NaN));
    if (first === undefined || Number.isNaN(first) || Number.isNaN(last ?? first)) continue;
    if (first >= bound) break;
    intervals.push([first, Math.min(last ?? first, bound - 1)]);
  }
  return union(intervals, []);
}

export const formatIntervals = (intervals: Intervals): string =>
  intervals
    .map(([first, last]) => (first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`))
    .join(',');

export const intervalsOf = (indexes: Iterable<number>): Intervals =>
  union(
    [...indexes].sort((a, b) => a - b).map((index) => [index, index]),
    [],
  );

export function union(a: Intervals, b: Intervals): Intervals {
  const merged: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const [left, right] = [a[i], b[j]];
    const next = right === undefined || (left !== undefined && left[0] < right[0]) ? left : right;
    if (next === left) i++;
    else j++;
    const [first, last] = next as Interval;
    const before = merged.at(-1);
    if (before === undefined || first > before[1] + 1) merged.push([first, last]);
    else before[1] = Math.max(before[1], last);
  }
  return merged;
}

/** How many indexes are in both. */
export function overlap(a: Intervals, b: Intervals): number {
  let count = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const [[first, last], [from, to]] = [a[i] as Interval, b[j] as Interval];
    count += Math.max(0, Math.min(last, to) - Math.max(first, from) + 1);
    if (last <= to) i++;
    if (to <= last) j++;
  }
  return count;
}

export const totalOf = (intervals: Intervals): number =>
  intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0);

export function includes(intervals: Intervals, index: number): boolean {
  let low = 0;
  for (let high = intervals.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if ((intervals[middle] as Interval)[1] >= index) high = middle;
    else low = middle + 1;
  }
  const interval = intervals[low];
  return interval !== undefined && interval[0] <= index;
}

/** The lowest indexes below the bound that are in none of the intervals, at most `count`. */
export function lowestOutside(intervals: Intervals, bound: number, count: number): number[] {
  const indexes: number[] = [];
  let next = 0;
  for (const [first, last] of [...intervals, [bound, bound] as const]) {
    for (; next < Math.min(first, bound) && indexes.length < count; next++) indexes.push(next);
    next = Math.max(next, last + 1);
  }
  return indexes;
}
