/** First and last index, both inclusive. */
type Interval = readonly [first: number, last: number];

export interface Indexes {
  readonly intervals: readonly Interval[];
  readonly total: number;
}

/**
 * Parses ascending indexes and intervals, such as `1,3-5,7`, all below a bound; an error text when the text is invalid.
 */
export function readIndexes(text: string, bound: number): Indexes | string {
  const intervals: Interval[] = [];
  let total = 0;
  let previous = -1;
  for (const part of text === '' ? [] : text.split(',')) {
    const interval = readInterval(part, bound);
    if (typeof interval === 'string') return interval;
    const [first, last] = interval;
    if (intervals.length > 0 && previous >= first) {
      return `non-increasing order, previous: ${previous}, current: ${first}`;
    }
    intervals.push(interval);
    total += last - first + 1;
    previous = last;
  }
  return { intervals, total };
}

function readInterval(text: string, bound: number): Interval | string {
  const limits = text.split('-', 3);
  if (limits.length > 2) {
    return `the fragment ${JSON.stringify(text)} violates the requirement that an index interval can have at most two parts separated by '-'`;
  }
  const numbers: number[] = [];
  for (const limit of limits) {
    if (!/^\+?[0-9]+$/.test(limit)) return `cannot convert string to integer for index: ${JSON.stringify(limit)}`;
    if (Number(limit) >= bound) return `too large index: ${JSON.stringify(limit)}`;
    numbers.push(Number(limit));
  }
  const [first = 0, last = first] = numbers;
  if (limits.length > 1 && first >= last) return `non-increasing order, previous: ${first}, current: ${last}`;
  return [first, last];
}

/** The first index that is in both texts; undefined when there is none or one cannot be parsed. */
export function overlapOf(a: string, b: string, bound: number): number | undefined {
  const [left, right] = [a, b].map((text) =>
    text.split(',').flatMap((part) => {
      const interval = readInterval(part, bound);
      return typeof interval === 'string' ? [] : [interval];
    }),
  ) as [Interval[], Interval[]];
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    const [a1, a2] = left[i] as Interval;
    const [b1, b2] = right[j] as Interval;
    if (a1 <= b2 && b1 <= a2) return Math.max(a1, b1);
    if (a1 <= b1) i++;
    else j++;
  }
  return undefined;
}
