import {
  isJsonObject,
  isLarge,
  type Json,
  MAX_DEPTH,
  MAX_FIELDS,
  MAX_ITEMS,
  MAX_MEMBERS,
  Pace,
  StatusError,
  type Steps,
  statusError,
} from '../meta/index.ts';

/** The path of a field in `fieldsV1` is deeper than the field itself by up to this many levels. */
const managedFieldsLevels = 8;

/** A count of members. */
interface Count {
  /** How many more there may be. */
  left: number;
  /** How many fields one object may have. */
  readonly fields: number;
  /** A value that is not counted. */
  readonly except?: Json | undefined;
}

/** Bounds the work of a write. @throws StatusError 413 for a body with more members than the limit */
export const checkMembers = (body: Json): Steps<void> =>
  countInSteps(body, Number.POSITIVE_INFINITY, { left: MAX_MEMBERS, fields: MAX_FIELDS }, new Pace());

/** The same for a patched object. @throws StatusError 413, 422 when it nests deeper than a request body may */
export function* checkPatched(document: Json): Steps<void> {
  const metadata = isJsonObject(document) ? document['metadata'] : undefined;
  const managedFields = isJsonObject(metadata) ? metadata['managedFields'] : undefined;
  const members: Count = { left: MAX_MEMBERS, fields: MAX_FIELDS, except: managedFields };
  const pace = new Pace();
  yield* countInSteps(document, MAX_DEPTH, members, pace);
  if (managedFields === undefined) return;
  // Managed fields list the fields of an object, and the object itself.
  const owned: Count = { left: members.left, fields: MAX_FIELDS + 1 };
  yield* countInSteps(managedFields, MAX_DEPTH + managedFieldsLevels, owned, pace);
}

export const nestsTooDeep = (): StatusError =>
  new StatusError(422, 'Invalid', `the patched object nests deeper than ${MAX_DEPTH} levels`);

/** Subtracts the number of members of a value from `members.left`, and throws when it nests deeper than `levels`. */
function* countInSteps(value: Json, levels: number, members: Count, pace: Pace): Steps<void> {
  if (typeof value !== 'object' || value === null || value === members.except) return;
  if (!isLarge(value)) return count(value, levels, members);
  if (levels === 0) throw nestsTooDeep();
  yield;
  const entries: readonly (Json | string)[] = Array.isArray(value) ? value : Object.keys(value);
  if (entries.length > (Array.isArray(value) ? MAX_ITEMS : members.fields)) throw statusError.tooManyMembers();
  for (const entry of entries) {
    if (pace.over()) yield;
    const item = Array.isArray(value) ? entry : (value[entry as string] as Json);
    if (typeof item === 'object') yield* countInSteps(item, levels - 1, members, pace);
  }
  take(members, entries.length);
}

/** The same in one step. */
function count(value: Json, levels: number, members: Count): void {
  if (typeof value !== 'object' || value === null || value === members.except) return;
  if (levels === 0) throw nestsTooDeep();
  let entries = 0;
  if (Array.isArray(value)) {
    entries = value.length;
    for (const item of value) count(item, levels - 1, members);
  } else {
    for (const key in value) {
      entries++;
      count(value[key] as Json, levels - 1, members);
    }
  }
  take(members, entries);
}

function take(members: Count, entries: number): void {
  members.left -= entries;
  if (members.left < 0) throw statusError.tooManyMembers();
}
