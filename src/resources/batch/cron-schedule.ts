/** Validation of cron schedules and time zones. */

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

const wellKnown = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']);

/** Ends the parsing of a schedule; the message is the error. */
class Fault extends Error {}

/**
 * The error of a schedule of five fields such as `0 0-6 * * mon`, or a descriptor such as `@hourly`; undefined when it
 * is valid.
 */
export function scheduleFault(schedule: string): string | undefined {
  try {
    readSchedule(schedule);
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

function readSchedule(text: string): void {
  if (text === '') throw new Fault('empty spec string');
  let rest = text;
  if (/^(?:CRON_)?TZ=/.test(text)) {
    const space = text.indexOf(' ');
    const zone = text.slice(text.indexOf('=') + 1, space < 0 ? undefined : space);
    if (!isTimeZone(zone)) throw new Fault(`provided bad location ${zone}: unknown time zone ${zone}`);
    rest = space < 0 ? '' : text.slice(space).trim();
  }
  if (rest.startsWith('@')) {
    readWord(rest);
    return;
  }
  const parts = rest.split(/\s+/).filter((part) => part !== '');
  if (parts.length !== fields.length) {
    throw new Fault(`expected exactly ${fields.length} fields, found ${parts.length}: [${parts.join(' ')}]`);
  }
  parts.forEach((part, i) => {
    for (const range of part.split(',')) if (range !== '') readRange(range, fields[i] as Field);
  });
}

function readWord(word: string): void {
  if (wellKnown.has(word)) return;
  const every = '@every ';
  if (!word.startsWith(every)) throw new Fault(`unrecognized descriptor: ${word}`);
  const span = word.slice(every.length);
  if (!/^[-+]?(?:0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.test(span)) {
    throw new Fault(`failed to parse duration ${word}: time: invalid duration ${JSON.stringify(span)}`);
  }
}

/** Parses `5`, `mon-fri` or `*`, each with an optional step. */
function readRange(text: string, { low, high, names }: Field): void {
  const [bounds = '', step, ...more] = text.split('/');
  const [from = '', to, ...others] = bounds.split('-');
  let first = low;
  let last = high;
  if (from !== '*' && from !== '?') {
    first = readValue(from, low, names);
    if (others.length > 0) throw new Fault(`too many hyphens: ${text}`);
    last = to === undefined ? first : readValue(to, low, names);
  }
  if (more.length > 0) throw new Fault(`too many slashes: ${text}`);
  const size = step === undefined ? 1 : readNumber(step);
  if (step !== undefined && to === undefined) last = high;
  if (first < low) throw new Fault(`beginning of range (${first}) below minimum (${low}): ${text}`);
  if (last > high) throw new Fault(`end of range (${last}) above maximum (${high}): ${text}`);
  if (first > last) throw new Fault(`beginning of range (${first}) beyond end of range (${last}): ${text}`);
  if (size === 0) throw new Fault(`step of range should be a positive number: ${text}`);
}

function readValue(text: string, low: number, names: readonly string[]): number {
  const named = names.indexOf(text.toLowerCase());
  return named >= 0 ? low + named : readNumber(text);
}

function readNumber(text: string): number {
  if (!/^[+-]?[0-9]+$/.test(text)) {
    throw new Fault(`failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new Fault(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: value out of range`,
    );
  }
  if (value < 0) throw new Fault(`negative number (${value}) not allowed: ${text}`);
  return value;
}

const ZONE_PART = /^[A-Za-z._0-9+][A-Za-z._0-9+-]{0,13}$/;

/** The errors of a time zone name. */
export function timeZoneFaults(zone: string): string[] {
  if (zone === '') return ['timeZone must be nil or non-empty string'];
  const unknown = `unknown time zone ${zone}`;
  if (zone.split('/').some((part) => part === '.' || part === '..' || !ZONE_PART.test(part))) return [unknown];
  const local = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
  if (zone === 'Local') return [local];
  return [...(zone.toLowerCase() === 'local' ? [local] : []), ...(isTimeZone(zone) ? [] : [unknown])];
}

/** Whether a time zone has exactly this name. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}
