/** Reads texts of the formats that have types of their own in expressions. */

import { CelError, Duration, Timestamp } from '../../cel/index.ts';
import { parseDuration, parseTime, StatusError } from '../../meta/index.ts';

const reasonOf = (thrown: unknown): string => {
  if (thrown instanceof StatusError) return thrown.message;
  throw thrown;
};

/** Reads a `date-time`, with or without a time zone. @throws CelError */
export function readDateTime(text: string): Timestamp {
  if (text === '') return new Timestamp(0, 0);
  const zoned = /(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`;
  try {
    const seconds = Math.floor(parseTime(zoned) / 1000);
    const fraction = /[.,](\d+)/.exec(zoned)?.[1] ?? '';
    return new Timestamp(seconds, Number(fraction.slice(0, 9).padEnd(9, '0')));
  } catch (thrown) {
    throw new CelError(`Invalid date-time formatted string ${text}: ${reasonOf(thrown)}`);
  }
}

/** Reads a `date`. @throws CelError */
export function readDate(text: string): Timestamp {
  try {
    if (/^\d{4}-\d\d-\d\d$/.test(text)) return new Timestamp(parseTime(`${text}T00:00:00Z`) / 1000, 0);
  } catch (thrown) {
    throw new CelError(`Invalid date formatted string ${text}: ${reasonOf(thrown)}`);
  }
  throw new CelError(`Invalid date formatted string ${text}: must have the form 2006-01-02`);
}

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

/** Reads a `duration`: `1h30m`, or in words such as `3 days`. @throws CelError */
export function readDuration(text: string): Duration {
  try {
    return new Duration(parseDuration(text));
  } catch (thrown) {
    reasonOf(thrown);
  }
  let total = 0n;
  let found = false;
  for (const [, count = '', word = ''] of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    if (count.length > 18) break;
    const unit = word.toLowerCase();
    for (const [nanos, ...names] of units) {
      if (!names.includes(unit) && !unit.startsWith(names.at(-1) as string)) continue;
      found = true;
      total += BigInt(count) * nanos;
    }
  }
  if (!found) throw new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`);
  return new Duration(BigInt.asIntN(64, total));
}

/** Reads a `byte`: Base64 with padding. @throws CelError */
export function readBytes(text: string): Uint8Array {
  const packed = text.replace(/[\r\n]/g, '');
  if (packed.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(packed)) {
    throw new CelError(`Invalid byte formatted string ${text}: illegal base64 data`);
  }
  return new Uint8Array(Buffer.from(packed, 'base64'));
}
