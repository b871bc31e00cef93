import { parseDuration, StatusError } from '../meta/index.ts';

/** The longest text that is read. */
const maxLength = 256;
const maxCount = 2n ** 63n - 1n;

/** The names of a unit; the last one may continue in any way (`nanoseconds`). */
const units: readonly (readonly [nanos: bigint, ...names: string[]])[] = [
  [1n, 'ns', 'nano'],
  [1_000n, 'us', 'µs', 'micro'],
  [1_000_000n, 'ms', 'milli'],
  [1_000_000_000n, 's', 'sec'],
  [60_000_000_000n, 'm', 'min'],
  [3_600_000_000_000n, 'h', 'hr', 'hour'],
  [86_400_000_000_000n, 'd', 'day'],
  [604_800_000_000_000n, 'w', 'wk', 'week'],
];

/** Nanoseconds of a text in the format `duration`, `1h30m` or in words such as `2 days`; undefined for other texts. */
export function durationOf(text: string): bigint | undefined {
  if (text.length > maxLength) return undefined;
  try {
    return parseDuration(text);
  } catch (thrown) {
    if (thrown instanceof StatusError) return durationInWords(text);
    throw thrown;
  }
}

function durationInWords(text: string): bigint | undefined {
  let total: bigint | undefined;
  for (const [, digits = '', word = ''] of text.matchAll(/([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)/g)) {
    const count = BigInt(digits);
    if (count > maxCount) return undefined;
    const unit = word.toLowerCase();
    for (const [nanos, ...names] of units) {
      if (names.includes(unit) || unit.startsWith(names.at(-1) as string)) total = (total ?? 0n) + count * nanos;
    }
  }
  return total === undefined ? undefined : BigInt.asIntN(64, total);
}
