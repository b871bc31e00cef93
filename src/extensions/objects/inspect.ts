import {
  fieldError,
  formatPath,
  isJsonObject,
  type Json,
  type JsonObject,
  type Names,
  type Path,
  statusError,
} from '../../meta/index.ts';
import { compile } from '../../schema/index.ts';
import { ObjectMeta } from '../../types/meta-v1.ts';
import { isTypeMember, type NormalForm } from './normal-form.ts';

/** The maximum number of unknown fields that are reported. */
const MAX_UNKNOWN = 100;

interface Found {
  readonly names: Names;
  readonly pruned: Path[];
  readonly embedded: Path[];
}

/**
 * The paths of the fields that pruning removes from an object, then those in the metadata of embedded resources, each
 * sorted as text; at most 100 of each. Slow: called only when decoding has found such a field or a malformed one.
 * @throws StatusError 400 for embedded resources that cannot be decoded
 */
export function inspect(form: NormalForm, object: JsonObject, names: Names): Path[] {
  const found: Found = { names, pruned: [], embedded: [] };
  for (const key of Object.keys(object)) {
    if (!isTypeMember(key)) inspectMember(form, key, object[key] as Json, [key], found);
  }
  return [...sorted(found.pruned), ...sorted(found.embedded)];
}

const sorted = (paths: Path[]): Path[] =>
  paths
    .map((path) => ({ path, text: formatPath(path) }))
    .sort((a, b) => (a.text < b.text ? -1 : Number(a.text > b.text)))
    .map(({ path }) => path);

function inspectValue(form: NormalForm, value: Json, path: (string | number)[], found: Found): void {
  if (isJsonObject(value)) inspectObject(form, value, path, found);
  else if (Array.isArray(value) && form.items !== undefined) {
    for (let i = 0; i < value.length; i++) {
      path.push(i);
      inspectValue(form.items, value[i] as Json, path, found);
      path.pop();
    }
  }
}

function inspectObject(form: NormalForm, object: JsonObject, path: (string | number)[], found: Found): void {
  for (const key of Object.keys(object)) {
    path.push(key);
    inspectMember(form, key, object[key] as Json, path, found);
    path.pop();
  }
}

function inspectMember(form: NormalForm, key: string, item: Json, path: (string | number)[], found: Found): void {
  const reserved = form.embedded && isTypeMember(key);
  if (reserved) inspectTypeMember(key, item, path, found);
  const member = form.properties.get(key) ?? (reserved ? undefined : form.additional);
  if (member !== undefined) inspectValue(member, item, path, found);
  else if (!form.keepsUnknown && !reserved && found.pruned.length < MAX_UNKNOWN) found.pruned.push([...path]);
}

function inspectTypeMember(key: string, item: Json, path: readonly (string | number)[], found: Found): void {
  const reject = (why: string) => {
    const { field, message } = fieldError.invalid(formatPath(path), item, why);
    return statusError.badRequest(`${field}: ${message}`);
  };
  if (key !== 'metadata') {
    if (typeof item !== 'string') throw reject('must be a string');
    return;
  }
  try {
    for (const unknown of compile(ObjectMeta, found.names).decode(item ?? {}).unknown) {
      if (found.embedded.length < MAX_UNKNOWN) found.embedded.push([...path, ...unknown]);
    }
  } catch (error) {
    throw reject(error instanceof Error ? error.message : String(error));
  }
}
