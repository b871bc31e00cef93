/** The fields that transformers change. */
import { getKey, isJsonObject, type Json, jsonCopy, setKey } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import type { FieldSpec } from './format.ts';
import { isSelected, type Resource } from './resource.ts';

interface FieldEdit {
  /** The new value of the field. */
  readonly set: (value: Json) => Json;
  /** The initial value of the field where `create` of the place is true; without it, the field is not created. */
  readonly empty?: Json;
}

/** The elements of a path such as `spec/template/spec/containers[]/image`, where `\/` is a slash of a name. */
export function splitPath(path: string, separator: string): string[] {
  const parts: string[] = [];
  for (const part of (path.startsWith(separator) ? path.slice(1) : path).split(separator)) {
    const last = parts.at(-1);
    if (last?.endsWith('\\') === true) parts[parts.length - 1] = `${last.slice(0, -1)}${separator}${part}`;
    else parts.push(part);
  }
  return parts;
}

/**
 * Changes the fields of a resource at a place, if the place is one of its kind. A path leads through the items of lists
 * without naming them. @throws CommandError for a path through a text, a number or a boolean
 */
export function editField(resource: Resource, spec: FieldSpec, edit: FieldEdit): void {
  if (!isSelected(resource.identity, spec)) return;
  const path = splitPath(spec.path ?? '', '/');
  try {
    editAt(resource.object, path, 0, spec.create === true, edit);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(`${error.message}, at the field ${spec.path} of ${resource.text}`, { cause: error });
  }
}

function editAt(value: Json, path: readonly string[], at: number, create: boolean, edit: FieldEdit): Json {
  if (at === path.length) return edit.set(value);
  if (value === null) return value;
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) value[i] = editAt(item, path, at, create, edit);
    return value;
  }
  if (!isJsonObject(value)) throw new CommandError('a list or an object is expected');
  const part = path[at] ?? '';
  const name = part.replace(/\[\]$/, '');
  const empty = create && name === part ? emptyAt(path, at, edit) : undefined;
  let child = getKey(value, name);
  if (empty !== undefined) child ??= empty;
  if (child !== undefined) setKey(value, name, editAt(child, path, at + 1, create, edit));
  return value;
}

/** The value that an absent field gets; undefined where it is not created. */
function emptyAt(path: readonly string[], at: number, { empty }: FieldEdit): Json | undefined {
  if (empty === undefined) return undefined;
  return at === path.length - 1 ? jsonCopy(empty) : {};
}

/** @throws CommandError unless the value is a text, a number or a boolean */
export function expectScalar(value: Json): Exclude<Json, object> {
  if (typeof value === 'object') throw new CommandError('a text is expected');
  return value;
}
