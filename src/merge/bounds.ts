import {
  isJsonObject,
  type Json,
  MAX_DEPTH,
  MAX_ENTRIES,
  MAX_MEMBERS,
  StatusError,
  statusError,
} from '../meta/index.ts';

/** The path of a field in `fieldsV1` is deeper than the field itself by up to this many levels. */
const managedFieldsLevels = 8;

/** Bounds the work of a write. @throws StatusError 413 for a body with more members than the limit */
export function checkMembers(body: Json): void {
  count(body, Number.POSITIVE_INFINITY, { left: MAX_MEMBERS });
}

/** The same for a patched object. @throws StatusError 413, 422 when it nests deeper than a request body may */
export function checkPatched(document: Json): void {
  const members = { left: MAX_MEMBERS };
  const metadata = isJsonObject(document) ? document['metadata'] : undefined;
  if (!isJsonObject(document) || !isJsonObject(metadata)) {
    count(document, MAX_DEPTH, members);
    return;
  }
  const { managedFields = null, ...rest } = metadata;
  count({ ...document, metadata: rest }, MAX_DEPTH, members);
  count(managedFields, MAX_DEPTH + managedFieldsLevels, members);
}

export const nestsTooDeep = (): StatusError =>
  new StatusError(422, 'Invalid', `the patched object nests deeper than ${MAX_DEPTH} levels`);

/** Subtracts the number of members of a value from `members.left`, and throws when it nests deeper than `levels`. */
function count(value: Json, levels: number, members: { left: number }): void {
  if (typeof value !== 'object' || value === null) return;
  if (levels === 0) throw nestsTooDeep();
  let entries = 0;
  if (Array.isArray(value)) {
    entries = value.length;
    if (entries > MAX_ENTRIES) throw statusError.tooManyMembers();
    for (let i = 0; i < entries; i++) count(value[i] as Json, levels - 1, members);
  } else {
    for (const key in value) {
      if (++entries > MAX_ENTRIES) throw statusError.tooManyMembers();
      count(value[key] as Json, levels - 1, members);
    }
  }
  members.left -= entries;
  if (members.left < 0) throw statusError.tooManyMembers();
}
