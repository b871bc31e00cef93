import { isJsonObject, type Json, MAX_DEPTH, StatusError } from '../meta/index.ts';

/** How many entries one list or object may have, and how many all of an object's together: far more than are stored. */
const maxEntries = 64 * 1024;
const maxMembers = 400_000;

/** The fieldsV1 of an object stand a few levels deeper in it than the fields that they name. */
const managedFieldsLevels = 8;

/** What every step of a write may take time for. @throws StatusError 413 for a body that has more */
export function checkMembers(body: Json): void {
  count(body, Number.POSITIVE_INFINITY, { left: maxMembers });
}

/** The same for what a patch has made of an object. @throws StatusError 413, 422 when it nests deeper than a body may */
export function checkPatched(document: Json): void {
  const members = { left: maxMembers };
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

function tooMany(): StatusError {
  const limits = `${maxEntries} in one list or map, ${maxMembers} in all`;
  const why = `Request entity too large: the object has too many fields and entries, limit is ${limits}`;
  return new StatusError(413, 'RequestEntityTooLarge', why);
}

/** Takes the members of a value off those that are left, without going deeper than so many levels. */
function count(value: Json, levels: number, members: { left: number }): void {
  if (typeof value !== 'object' || value === null) return;
  if (levels === 0) throw nestsTooDeep();
  let entries = 0;
  if (Array.isArray(value)) {
    entries = value.length;
    if (entries > maxEntries) throw tooMany();
    for (let i = 0; i < entries; i++) count(value[i] as Json, levels - 1, members);
  } else {
    for (const key in value) {
      if (++entries > maxEntries) throw tooMany();
      count(value[key] as Json, levels - 1, members);
    }
  }
  members.left -= entries;
  if (members.left < 0) throw tooMany();
}
