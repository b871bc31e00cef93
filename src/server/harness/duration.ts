import { duration } from '../settings/flag-types.ts';

/** Parses a number of milliseconds or a text such as `30s`. @throws Error that names `what` */
export function readDuration(what: string, value: number | string): number {
  const parsed = duration.parse(typeof value === 'number' ? `${value}ms` : String(value));
  if ('value' in parsed) return parsed.value;
  throw new Error(`${what} ${JSON.stringify(value)} ${parsed.problem}, or a number of milliseconds`);
}
