import {
  fieldError,
  formatPath,
  isJsonObject,
  type Json,
  type JsonObject,
  type Names,
  Pace,
  type Path,
  type Steps,
  statusError,
} from '../../meta/index.ts';
import { compile } from '../../schema/index.ts';
import { ObjectMeta } from '../../types/meta-v1.ts';
import { isTypeMember, memberForm, type NormalForm } from './normal-form.ts';

/** The maximum number of unknown fields that are reported. */
const MAX_UNKNOWN = 100;

interface Found {
  readonly names: Names;
  readonly pruned: Path[];
  readonly embedded: Path[];
  readonly pace: Pace;
}

/**
 * The paths of the fields that pruning removes from an object, then those in the metadata of embedded resources, each
 * sorted as text; at most 100 of each. Slow: called only when decoding has found such a field or a malformed one.
 * @throws StatusError 400 for embedded resources that cannot be decoded
 */
export function* inspect(form: NormalForm, object: JsonObject, names: Names): Steps<Path[]> {
  const findings: Found = { names, pruned: [], embedded: [], pace: new Pace() };
  for (const key of Object.keys(object)) {
    if (!isTypeMember(key)) yield* inspectMember(form, key, object[key] as Json, [key], findings);
  }
  return [...sorted(findings.pruned), ...sorted(findings.embedded)];
}

const sorted = (paths: Path[]): Path[] =>
  paths
    .map((path) => ({ path, text: formatPath(path) }))
    .sort((a, b) => (a.text < b.text ? -1 : Number(a.text > b.text)))
    .map(({ path }) => path);

function* inspectValue(form: NormalForm, value: Json, path: (string | number)[], findings: Found): Steps<void> {
  if (isJsonObject(value)) yield* inspectObject(form, value, path, findings);
  else if (Array.isArray(value) && form.items !== undefined) {
    for (let i = 0; i < value.length; i++) {
      path.push(i);
      yield* inspectValue(form.items, value[i] as Json, path, findings);
      path.pop();
    }
  }
}

function* inspectObject(form: NormalForm, object: JsonObject, path: (string | number)[], findings: Found): Steps<void> {
  const keys = Object.keys(object);
  if (findings.pace.over(keys.length)) yield;
  for (const key of keys) {
    path.push(key);
    yield* inspectMember(form, key, object[key] as Json, path, findings);
    path.pop();
  }
}

function* inspectMember(
  form: NormalForm,
  key: string,
  item: Json,
  path: (string | number)[],
  findings: Found,
): Steps<void> {
  if (findings.pace.over()) yield;
  const reserved = form.embedded && isTypeMember(key);
  if (reserved) yield* inspectTypeMember(key, item, path, findings);
  const member = memberForm(form, key);
  if (member !== undefined) yield* inspectValue(member, item, path, findings);
  else if (!form.keepsUnknown && !reserved && findings.pruned.length < MAX_UNKNOWN) findings.pruned.push([...path]);
}

function* inspectTypeMember(key: string, item: Json, path: readonly (string | number)[], findings: Found): Steps<void> {
  const reject = (why: string) => {
    const { field, message } = fieldError.invalid(formatPath(path), item, why);
    return statusError.badRequest(`${field}: ${message}`);
  };
  if (key !== 'metadata') {
    if (typeof item !== 'string') throw reject('must be a string');
    return;
  }
  try {
    for (const unknown of (yield* compile(ObjectMeta, findings.names).decodeInSteps(item ?? {})).unknown) {
      if (findings.embedded.length < MAX_UNKNOWN) findings.embedded.push([...path, ...unknown]);
    }
  } catch (error) {
    throw reject(error instanceof Error ? error.message : String(error));
  }
}
