/** Cron schedules and time zones. */
import { parseDuration } from '../meta/index.ts';

interface Field {
  readonly low: number;
  readonly high: number;
  /** Names of values in lower case, from the lowest value on. */
  readonly names: readonly string[];
}

const fields: readonly Field[] = [
  { low: 0, high: 59, names: [] },
  { low: 0, high: 23, names: [] },
  { low: 1, high: 31, names: [] },
  { low: 1, high: 12, names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { low: 0, high: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];

/** The five fields that each descriptor abbreviates. */
const descriptors: { readonly [word: string]: string } = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** The times at which a schedule is due. */
export interface Schedule {
  /** Returns the first due time after `after` (ms); undefined when there is none within five years. */
  readonly next: (after: number) => number | undefined;
  /** The interval of an `@every` schedule (ms). */
  readonly every?: number;
}

/** The maximum number of fields, and of ranges of a field, that are parsed: a field has at most 60 values. */
const maxParts = 1_000;

/** A syntax error of a schedule. Does not leave this module. */
class ScheduleError extends Error {}

/**
 * Parses five fields such as `0 0-6 * * mon` or a descriptor such as `@hourly`. Times are local unless the text starts with
 * `TZ=<zone>`. Returns the error message when the text is invalid.
 */
export function parseSchedule(text: string): Schedule | string {
  try {
    return readSchedule(text);
  } catch (error) {
    if (error instanceof ScheduleError) return error.message;
    throw error;
  }
}

function readSchedule(text: string): Schedule {
  if (text === '') throw new ScheduleError('empty spec string');
  let rest = text;
  let zone: string | undefined;
  if (/^(?:CRON_)?TZ=/.test(text)) {
    const space = text.indexOf(' ');
    zone = text.slice(text.indexOf('=') + 1, space < 0 ? undefined : space);
    if (!isTimeZone(zone)) throw new ScheduleError(`provided bad location ${zone}: unknown time zone ${zone}`);
    rest = space < 0 ? '' : text.slice(space).trim();
  }
  if (rest.startsWith(everyWord)) {
    const every = readInterval(rest);
    return { every, next: (after) => Math.floor(after / 1000) * 1000 + every };
  }
  if (rest.startsWith('@')) {
    if (!Object.hasOwn(descriptors, rest)) throw new ScheduleError(`unrecognized descriptor: ${rest}`);
    rest = descriptors[rest] ?? '';
  }
  const parts = rest
    .trim()
    .split(/\s+/, maxParts)
    .filter((part) => part !== '');
  if (parts.length !== fields.length) {
    throw new ScheduleError(`expected exactly ${fields.length} fields, found ${parts.length}: [${parts.join(' ')}]`);
  }
  const [minutes, hours, days, months, weekdays] = parts.map((part, i) => readField(part, fields[i] as Field)) as [
    FieldValues,
    FieldValues,
    FieldValues,
    FieldValues,
    FieldValues,
  ];
  const times = { minutes, hours, days, months, weekdays };
  return { next: (after) => nextTime(times, zone, after) };
}

const everyWord = '@every ';

/** The interval of `@every 1h30m` (ms): whole seconds, at least one. */
function readInterval(word: string): number {
  try {
    const seconds = Number(parseDuration(word.slice(everyWord.length)) / 1_000_000_000n);
    return Math.max(1, seconds) * 1000;
  } catch (error) {
    throw new ScheduleError(`failed to parse duration ${word}: ${error instanceof Error ? error.message : ''}`);
  }
}

/** The values of a field at which a schedule is due. */
interface FieldValues {
  readonly values: ReadonlySet<number>;
  /** Whether the field is `*` or `?`. */
  readonly any: boolean;
}

function readField(text: string, field: Field): FieldValues {
  const ranges = text.split(',', maxParts);
  if (ranges.length === maxParts) throw new ScheduleError(`too many ranges: ${text}`);
  const values = new Set<number>();
  let any = false;
  for (const range of ranges) if (range !== '') any = readRange(range, field, values) || any;
  return { values, any };
}

/** Adds the values of `5`, `mon-fri` or `*`, each with an optional step, to `into`. Returns whether the range is `*`. */
function readRange(text: string, { low, high, names }: Field, into: Set<number>): boolean {
  const [bounds = '', step, ...more] = text.split('/', 3);
  const [from = '', to, ...others] = bounds.split('-', 3);
  const isAny = from === '*' || from === '?';
  let first = low;
  let last = high;
  if (!isAny) {
    first = readValue(from, low, names);
    if (others.length > 0) throw new ScheduleError(`too many hyphens: ${text}`);
    last = to === undefined ? first : readValue(to, low, names);
  }
  if (more.length > 0) throw new ScheduleError(`too many slashes: ${text}`);
  const size = step === undefined ? 1 : readNumber(step);
  if (step !== undefined && to === undefined) last = high;
  if (first < low) throw new ScheduleError(`beginning of range (${first}) below minimum (${low}): ${text}`);
  if (last > high) throw new ScheduleError(`end of range (${last}) above maximum (${high}): ${text}`);
  if (first > last) throw new ScheduleError(`beginning of range (${first}) beyond end of range (${last}): ${text}`);
  if (size === 0) throw new ScheduleError(`step of range should be a positive number: ${text}`);
  for (let value = first; value <= last; value += size) into.add(value);
  return isAny && size === 1;
}

function readValue(text: string, low: number, names: readonly string[]): number {
  const index = names.indexOf(text.toLowerCase());
  return index >= 0 ? low + index : readNumber(text);
}

function readNumber(text: string): number {
  if (!/^[+-]?[0-9]+$/.test(text)) {
    throw new ScheduleError(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new ScheduleError(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: value out of range`,
    );
  }
  if (value < 0) throw new ScheduleError(`negative number (${value}) not allowed: ${text}`);
  return value;
}

/** The maximum length of a time zone name (characters). */
const maxZone = 1_000;
const ZONE_PART = /^[A-Za-z._0-9+][A-Za-z._0-9+-]{0,13}$/;

/** Validates a time zone name. */
export function timeZoneErrors(zone: string): string[] {
  if (zone === '') return ['timeZone must be nil or non-empty string'];
  const unknown = `unknown time zone ${zone}`;
  if (zone.length > maxZone || zone.split('/').some((part) => part === '.' || part === '..' || !ZONE_PART.test(part)))
    return [unknown];
  const local = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
  if (zone === 'Local') return [local];
  return [...(zone.toLowerCase() === 'local' ? [local] : []), ...(isTimeZone(zone) ? [] : [unknown])];
}

/** Whether a time zone with exactly this name exists. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}

interface Times {
  readonly minutes: FieldValues;
  readonly hours: FieldValues;
  readonly days: FieldValues;
  readonly months: FieldValues;
  readonly weekdays: FieldValues;
}

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const maxYears = 5;

/**
 * Returns the first time after `after` at which all fields match. A local hour that is skipped when clocks change is not due
 * on that day; one that is repeated is due twice.
 */
function nextTime(times: Times, zone: string | undefined, after: number): number | undefined {
  const { minutes, hours, months } = times;
  if (Object.values(times).some(({ values }: FieldValues) => values.size === 0)) return undefined;
  const local = (time: number) => new Date(time + zoneOffset(zone, time));
  // Schedules have whole minutes.
  let time = Math.floor(after / minuteMs) * minuteMs + minuteMs;
  const lastYear = local(time).getUTCFullYear() + maxYears;
  for (;;) {
    const date = local(time);
    const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
    if (year > lastYear) return undefined;
    // A day repeats when clocks are set back across midnight.
    const later = (localTime: number) => Math.max(time + minuteMs, instant(zone, localTime));
    if (!months.values.has(month + 1)) time = later(Date.UTC(year, month + 1, 1));
    else if (!isDue(times, date)) time = later(Date.UTC(year, month, day + 1));
    else if (!hours.values.has(date.getUTCHours())) time += hourMs - (date.getTime() % hourMs);
    else if (!minutes.values.has(date.getUTCMinutes())) time += minuteMs;
    else return time;
  }
}

/** When both days of the month and days of the week are restricted, a match of either suffices. */
function isDue({ days, weekdays }: Times, date: Date): boolean {
  const [byMonth, byWeek] = [days.values.has(date.getUTCDate()), weekdays.values.has(date.getUTCDay())];
  return days.any || weekdays.any ? byMonth && byWeek : byMonth || byWeek;
}

/** Returns the first instant of a local time (ms, written as if UTC), or a later instant when clocks skip that time. */
function instant(zone: string | undefined, localTime: number): number {
  const [before, after] = [-dayMs, dayMs].map((ms) => localTime - zoneOffset(zone, localTime + ms)) as [number, number];
  const first = Math.min(before, after);
  return first + zoneOffset(zone, first) === localTime ? first : Math.max(before, after);
}

const formats = new Map<string | undefined, Intl.DateTimeFormat>();

/** Returns the offset from UTC (ms) of a time zone, by default the local one, at `time`. */
export function zoneOffset(zone: string | undefined, time: number): number {
  if (zone === 'UTC') return 0;
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en', {
      ...(zone === undefined ? {} : { timeZone: zone }),
      timeZoneName: 'longOffset',
    });
    formats.set(zone, format);
  }
  const text = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours, minutes, seconds = '0'] = /([+-])([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?$/.exec(text) ?? [];
  const total = Number(hours ?? 0) * hourMs + Number(minutes ?? 0) * minuteMs + Number(seconds) * 1000;
  return sign === '-' ? -total : total;
}
