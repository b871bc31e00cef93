/** The fields of timestamps, in UTC or in a time zone, and of durations. */
import type { Library, Overload } from '../library.ts';
import { durationType, intType, stringType, timestampType } from '../types.ts';
import { type Duration, intOf, type Timestamp, type Value } from '../values.ts';
import { methodOf } from './overloads.ts';
import { inZone } from './times.ts';

const dayOfYear = (date: Date): number => {
  const first = new Date(date.getTime());
  first.setUTCMonth(0, 1);
  return Math.round((date.getTime() - first.getTime()) / 86_400_000);
};

/** A field of timestamps: the identifiers of its overloads, and what it is of a time whose UTC fields are local. */
const field = (id: string, of: (local: Date, timestamp: Timestamp) => number, zoned = `${id}_with_tz`): Overload[] => {
  const call = (timestamp: Value | undefined, zone: Value = 'UTC'): number =>
    of(inZone(timestamp as Timestamp, zone as string), timestamp as Timestamp);
  return [
    methodOf(id, [timestampType], intType, (timestamp) => call(timestamp)),
    // Looking for a zone that does not exist takes long.
    methodOf(zoned, [timestampType, stringType], intType, call, { cost: (_, result) => (result === null ? 50 : 1) }),
  ];
};

/** A whole number of units that a duration has. */
const units = (id: string, nanos: bigint): Overload =>
  methodOf(id, [durationType], intType, (duration) => intOf((duration as Duration).nanos / nanos));

export const timeFields: Library['functions'] = {
  getFullYear: field('timestamp_to_year', (local) => local.getUTCFullYear()),
  getMonth: field('timestamp_to_month', (local) => local.getUTCMonth()),
  getDayOfYear: field('timestamp_to_day_of_year', dayOfYear),
  getDayOfMonth: field('timestamp_to_day_of_month', (local) => local.getUTCDate() - 1),
  getDate: field('timestamp_to_day_of_month_1_based', (local) => local.getUTCDate()),
  getDayOfWeek: field('timestamp_to_day_of_week', (local) => local.getUTCDay()),
  getHours: [
    ...field('timestamp_to_hours', (local) => local.getUTCHours()),
    units('duration_to_hours', 3_600_000_000_000n),
  ],
  getMinutes: [
    ...field('timestamp_to_minutes', (local) => local.getUTCMinutes()),
    units('duration_to_minutes', 60_000_000_000n),
  ],
  getSeconds: [
    ...field('timestamp_to_seconds', (local) => local.getUTCSeconds(), 'timestamp_to_seconds_tz'),
    units('duration_to_seconds', 1_000_000_000n),
  ],
  getMilliseconds: [
    ...field('timestamp_to_milliseconds', (_, { nanos }) => Math.floor(nanos / 1_000_000)),
    units('duration_to_milliseconds', 1_000_000n),
  ],
};
