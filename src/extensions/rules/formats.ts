/** Reads texts of the formats that have types of their own in expressions. */

import { CelError, Duration, Timestamp } from '../../cel/index.ts';
import { parseTime, StatusError } from '../../meta/index.ts';
import { durationOf } from '../durations.ts';

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

/** Reads a `duration`: `1h30m`, or in words such as `3 days`. @throws CelError */
export function readDuration(text: string): Duration {
  const nanos = durationOf(text);
  if (nanos === undefined) throw new CelError(`Invalid duration ${text}: unable to parse ${text} as duration`);
  return new Duration(nanos);
}

/** Reads a `byte`: Base64 with padding. @throws CelError */
export function readBytes(text: string): Uint8Array {
  const packed = text.replace(/[\r\n]/g, '');
  if (packed.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(packed)) {
    throw new CelError(`Invalid byte formatted string ${text}: illegal base64 data`);
  }
  return new Uint8Array(Buffer.from(packed, 'base64'));
}
