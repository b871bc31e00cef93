/** Timestamps and durations: their texts, and the fields of a timestamp in a time zone. */
import { parseDuration, parseInstant, StatusError } from '../../meta/index.ts';
import { CelError, Duration, Timestamp } from '../values.ts';
import { decimalText } from './numbers.ts';

/** 0001-01-01T00:00:00Z */
const minSeconds = -62_135_596_800;
/** 9999-12-31T23:59:59Z */
const maxSeconds = 253_402_300_799;

/** @throws CelError for a year before 1 or after 9999 */
export function timestampOf(seconds: number, nanos: number, offset = 0): Timestamp {
  if (!(seconds >= minSeconds && seconds <= maxSeconds)) throw new CelError('timestamp overflow');
  return new Timestamp(seconds, nanos, offset);
}

/** Adds nanoseconds to a timestamp. @throws CelError for a year before 1 or after 9999 */
export function timestampPlus({ seconds, nanos, offset }: Timestamp, later: bigint): Timestamp {
  const sum = BigInt(nanos) + later;
  const rest = ((sum % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  return timestampOf(seconds + Number((sum - rest) / 1_000_000_000n), Number(rest), offset);
}

/** The timestamp of an RFC 3339 text. @throws CelError */
export function parseTimestamp(text: string): Timestamp {
  const instant = orUndefined(() => parseInstant(text));
  if (instant === undefined || Math.abs(instant.offset) > 25 * 3600) throw conversionError('google.protobuf.Timestamp');
  return timestampOf(instant.seconds, instant.nanos, instant.offset);
}

/** The duration of a text such as `1h30m` or `-1.5s`. @throws CelError */
export function durationOfText(text: string): Duration {
  const nanos = orUndefined(() => parseDuration(text));
  if (nanos === undefined) throw conversionError('google.protobuf.Duration');
  return new Duration(nanos);
}

const conversionError = (type: string) => new CelError(`type conversion error from 'string' to '${type}'`);

function orUndefined<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (thrown) {
    if (thrown instanceof StatusError) return undefined;
    throw thrown;
  }
}

/** RFC 3339 with the offset of the timestamp, and as many decimals as there are. */
export function formatTimestamp({ seconds, nanos, offset }: Timestamp): string {
  const local = new Date((seconds + offset) * 1000).toISOString();
  // A year beyond 9999 or before 0, which only an offset leads to, has a sign and six digits.
  const whole = local.startsWith('+') ? local.slice(2, 22) : local.slice(0, -5);
  const fraction = nanos === 0 ? '' : `.${nanos.toString().padStart(9, '0').replace(/0+$/, '')}`;
  return `${whole}${fraction}${formatOffset(offset)}`;
}

function formatOffset(offset: number): string {
  if (offset === 0) return 'Z';
  const minutes = Math.trunc(Math.abs(offset) / 60);
  const two = (value: number) => value.toString().padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
}

/** Seconds, as a decimal number: `5400s`, `-1.5s`. */
export const formatSeconds = ({ nanos }: Duration): string => `${decimalText(secondsOf(nanos))}s`;

const secondsOf = (nanos: bigint): number => Number(nanos / 1_000_000_000n) + Number(nanos % 1_000_000_000n) / 1e9;

/** A timestamp in a time zone: its UTC fields are those of the zone. @throws CelError for an unknown zone */
export function inZone({ seconds }: Timestamp, zone: string): Date {
  const utc = seconds * 1000;
  if (zone === '' || zone === 'UTC') return new Date(utc);
  const offset = zone.includes(':') ? fixedOffset(zone) : namedOffset(zone, utc);
  const local = new Date(utc + offset * 1000);
  if (Number.isNaN(local.getTime())) throw new CelError('timestamp overflow');
  return local;
}

/** Seconds east of UTC of `+05:30`. */
function fixedOffset(zone: string): number {
  const colon = zone.indexOf(':');
  const hours = integerOf(zone.slice(0, colon)) * 60;
  const minutes = integerOf(zone.slice(colon + 1));
  return (zone.startsWith('-') ? hours - minutes : hours + minutes) * 60;
}

function integerOf(text: string): number {
  const quoted = JSON.stringify(text);
  if (!/^[+-]?\d+$/.test(text)) throw new CelError(`strconv.Atoi: parsing ${quoted}: invalid syntax`);
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new CelError(`strconv.Atoi: parsing ${quoted}: value out of range`);
  return value;
}

/** Formats by time zone name. There are about six hundred names; a format is cached because creating one is slow. */
const formats = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATS = 1000;

/** Seconds east of UTC of a named zone at a time. */
function namedOffset(zone: string, utc: number): number {
  let format = formats.get(zone);
  if (format === undefined) {
    format = formatOf(zone);
    if (formats.size >= MAX_FORMATS) formats.clear();
    formats.set(zone, format);
  }
  const at = new Map(format.formatToParts(utc).map(({ type, value }) => [type, value]));
  const field = (name: Intl.DateTimeFormatPartTypes) => Number(at.get(name));
  const year = at.get('era') === 'BC' ? 1 - field('year') : field('year');
  const local = new Date(0);
  local.setUTCFullYear(year, field('month') - 1, field('day'));
  local.setUTCHours(field('hour'), field('minute'), field('second'));
  return (local.getTime() - utc) / 1000;
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const fields = { year: 'numeric', month: 'numeric', day: 'numeric', era: 'short' } as const;
  const ofDay = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const;
  try {
    // A name starts with a letter; offsets are not names.
    if (/^[A-Za-z]/.test(timeZone)) return new Intl.DateTimeFormat('en-US', { timeZone, ...fields, ...ofDay });
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
  }
  throw new CelError(`unknown time zone ${timeZone}`);
}
