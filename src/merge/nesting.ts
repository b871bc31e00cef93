import { isJsonObject, type Json, MAX_DEPTH, nestsDeeper, StatusError } from '../meta/index.ts';

/** The fieldsV1 of an object stand a few levels deeper in it than the fields that they name. */
const managedFieldsLevels = 8;

export const nestsTooDeep = (): StatusError =>
  new StatusError(422, 'Invalid', `the patched object nests deeper than ${MAX_DEPTH} levels`);

/** @throws StatusError 422 when a patched object nests deeper than a body may */
export function checkNesting(document: Json): void {
  const metadata = isJsonObject(document) ? document['metadata'] : undefined;
  if (!isJsonObject(document) || !isJsonObject(metadata)) {
    if (nestsDeeper(document, MAX_DEPTH)) throw nestsTooDeep();
    return;
  }
  const { managedFields = null, ...rest } = metadata;
  if (nestsDeeper({ ...document, metadata: rest }, MAX_DEPTH)) throw nestsTooDeep();
  if (nestsDeeper(managedFields, MAX_DEPTH + managedFieldsLevels)) throw nestsTooDeep();
}
