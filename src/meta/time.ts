import { maxShown, shorten } from './quote.ts';
import { statusError } from './status-error.ts';

/** The layouts of `time` and `microTime` as shown in messages. */
const LAYOUT = '2006-01-02T15:04:05Z07:00';
const MICRO_LAYOUT = '2006-01-02T15:04:05.000000Z07:00';

const WHOLE = /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/;

/** The elements of a time, in order: the pattern, the name in messages, and the bounds. */
const PLACES: readonly { form: RegExp; sample: string; name?: string; low?: number; high?: number }[] = [
  { form: /^\d{4}/, sample: '2006' },
  { form: /^-/, sample: '-' },
  { form: /^\d\d/, sample: '01', name: 'month', low: 1, high: 12 },
  { form: /^-/, sample: '-' },
  { form: /^\d\d/, sample: '02', name: 'day', low: 1, high: 31 },
  { form: /^T/, sample: 'T' },
  { form: /^\d\d?/, sample: '15', name: 'hour', low: 0, high: 23 },
  { form: /^:/, sample: ':' },
  { form: /^\d\d/, sample: '04', name: 'minute', low: 0, high: 59 },
  { form: /^:/, sample: ':' },
  { form: /^\d\d/, sample: '05', name: 'second', low: 0, high: 59 },
];

/** An instant: whole seconds since 1970-01-01T00:00:00Z, the nanoseconds beyond them, and the offset in its text. */
export interface Instant {
  readonly seconds: number;
  readonly nanos: number;
  /** Seconds east of UTC. */
  readonly offset: number;
}

/** @throws StatusError 400 */
function readMoment(text: string, micro: boolean): Instant {
  const instant = readInstant(text, micro);
  const year = new Date(instant.seconds * 1000).getUTCFullYear();
  if (year < 0 || year > 9999) throw statusError.badRequest(`parsing time ${quote(text)}: year out of range`);
  return instant;
}

/**
 * The instant of an RFC 3339 text, of any year from 0000 to 9999 in its own offset.
 * @throws StatusError 400
 */
export function parseInstant(text: string): Instant {
  return readInstant(text, false);
}

function readInstant(text: string, micro: boolean): Instant {
  const parts = text.length > 64 ? null : WHOLE.exec(text);
  if (parts === null) throw statusError.badRequest(explain(text, micro));
  const [, year, month, day, hour, minute, second, fraction = '', zone = 'Z'] = parts;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  const good =
    date.getUTCMonth() === Number(month) - 1 &&
    date.getUTCDate() === Number(day) &&
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(second) < 60 &&
    (!micro || fraction.length === 6);
  if (!good) throw statusError.badRequest(explain(text, micro));
  const ofDay = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  const offset = offsetOf(zone);
  const seconds = date.getTime() / 1000 + ofDay - offset;
  return { seconds, nanos: Number(fraction.slice(0, 9).padEnd(9, '0')), offset };
}

function offsetOf(zone: string): number {
  if (zone === 'Z') return 0;
  const size = Number(zone.slice(1, 3)) * 3600 + Number(zone.slice(4, 6)) * 60;
  return zone.startsWith('-') ? -size : size;
}

const quote = (text: string): string => JSON.stringify(shorten(text, maxShown));

/** The error of an invalid time: the first element that does not match. */
function explain(text: string, micro: boolean): string {
  const layout = micro ? MICRO_LAYOUT : LAYOUT;
  const cannot = (rest: string, sample: string) =>
    `parsing time ${quote(text)} as ${quote(layout)}: cannot parse ${quote(rest)} as ${quote(sample)}`;
  let rest = text;
  for (const { form, sample, name, low = 0, high = 0 } of PLACES) {
    const found = form.exec(rest)?.[0];
    if (found === undefined) return cannot(rest, sample);
    const value = Number(found);
    if (name !== undefined && (value < low || value > high)) return `parsing time ${quote(text)}: ${name} out of range`;
    rest = rest.slice(found.length);
  }
  const fraction = (micro ? /^[.,]\d{6}/ : /^[.,]\d+/).exec(rest)?.[0];
  if (micro && fraction === undefined) return cannot(rest, '.000000');
  rest = rest.slice(fraction?.length ?? 0);
  const zone = /^(?:Z|[+-]\d\d:\d\d)/.exec(rest)?.[0];
  if (zone === undefined) return cannot(rest, 'Z07:00');
  if (rest.length > zone.length) return `parsing time ${quote(text)}: extra text: ${quote(rest.slice(zone.length))}`;
  return `parsing time ${quote(text)}: day out of range`;
}

/**
 * Milliseconds since 1970-01-01T00:00:00Z of an RFC 3339 text; with `micro`, one with six decimals.
 * @throws StatusError 400
 */
export function parseTime(text: string, micro = false): number {
  const { seconds, nanos } = readMoment(text, micro);
  return seconds * 1000 + Math.floor(nanos / 1_000_000);
}

/** The most recently formatted second, cached because the current time is formatted over and over. */
let lastSecond = 0;
let lastText = '1970-01-01T00:00:00Z';

/** `2024-01-31T23:59:59Z`: whole seconds, UTC. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond) {
    lastText = `${new Date(ms).toISOString().slice(0, 19)}Z`;
    lastSecond = second;
  }
  return lastText;
}

/** `2024-01-31T23:59:59.123000Z`: six decimals, UTC. */
export function formatMicroTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}

/** Matches the times that are in stored form, except on 29 February. */
const AT_REST =
  /^\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{6})?Z$/;

/**
 * The stored form of an RFC 3339 time: UTC, with whole seconds or, with `micro`, six decimals.
 * @throws StatusError 400
 */
export function canonicalTime(text: string, micro = false): string {
  if (text.length === (micro ? 27 : 20) && AT_REST.test(text)) return text;
  const { seconds, nanos } = readMoment(text, micro);
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  return micro ? `${whole}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}Z` : `${whole}Z`;
}

const UNITS = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
const MAX_DURATION = 2n ** 63n;

/**
 * Nanoseconds of a text such as `1h30m`, `-1.5s`, `100ms`.
 * @throws StatusError 400
 */
export function parseDuration(text: string): bigint {
  const invalid = () => statusError.badRequest(`time: invalid duration ${quote(text)}`);
  const negative = text.startsWith('-');
  let rest = text.replace(/^[+-]/, '');
  if (rest === '0') return 0n;
  if (rest === '' || text.length > 256) throw invalid();
  let total = 0n;
  while (rest !== '') {
    const [all = '', whole = '', , fraction = '', unit = ''] = /^(\d*)(\.(\d*))?([^\d.]*)/.exec(rest) ?? [];
    if (whole === '' && fraction === '') throw invalid();
    if (unit === '') throw statusError.badRequest(`time: missing unit in duration ${quote(text)}`);
    const size = UNITS.get(unit);
    if (size === undefined) {
      throw statusError.badRequest(`time: unknown unit ${quote(unit)} in duration ${quote(text)}`);
    }
    total += BigInt(whole) * size + (BigInt(fraction) * size) / 10n ** BigInt(fraction.length);
    rest = rest.slice(all.length);
  }
  if (total > MAX_DURATION || (total === MAX_DURATION && !negative)) throw invalid();
  return negative ? -total : total;
}

/** Formats a duration for {@link parseDuration}: `1h30m0s`, `1.5s`, `100ms`, `0s`. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (size < 1_000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(size, 3)}µs`;
  if (size < 1_000_000_000n) return `${sign}${decimal(size, 6)}ms`;
  const minutes = size / 60_000_000_000n;
  const seconds = `${decimal(size % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return sign + seconds;
  const hours = minutes / 60n;
  return hours === 0n ? `${sign}${minutes}m${seconds}` : `${sign}${hours}h${minutes % 60n}m${seconds}`;
}

/** A number with the decimal point `places` from the right, without trailing zeros. */
function decimal(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return digits.slice(0, -places) + (fraction === '' ? '' : `.${fraction}`);
}

/**
 * The stored form of a duration.
 * @throws StatusError 400
 */
export function canonicalDuration(text: string): string {
  return formatDuration(parseDuration(text));
}

/** A human-readable duration with two or three significant digits: `45s`, `3m20s`, `5d`. */
export function formatSpan(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  const [minutes, hours, days] = [60, 3600, 86_400].map((unit) => Math.floor(seconds / unit)) as [
    number,
    number,
    number,
  ];
  const two = (large: number, a: string, small: number, b: string) =>
    `${large}${a}${small === 0 ? '' : `${small}${b}`}`;
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (days < 8) return two(days, 'd', hours % 24, 'h');
  const years = Math.floor(days / 365);
  if (years < 2) return `${days}d`;
  return years < 8 ? two(years, 'y', days % 365, 'd') : `${years}y`;
}

/** The age of a time in tables; `<unknown>` when there is none. `now` in milliseconds since 1970. */
export function formatAge(time: string | null | undefined, now: number): string {
  const then = time === null || time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(then) ? '<unknown>' : formatSpan(now - then);
}
