/** Fields that have another place or form in another version, as data. */
import {
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  type Names,
  Pace,
  type Steps,
  setKey,
} from '../../meta/index.ts';

/**
 * A field of an older version and the one of the storage version that has its value. A path is the names of fields, with
 * `[]` after a list whose elements are changed: `spec.rules[].host`. Both paths are the same up to their last `[]`.
 */
export interface FieldChange {
  readonly older: string;
  /** Default: the same path. */
  readonly stored?: string;
  /** The value of one version in the other; undefined: there is no such field. Default: the same value. */
  readonly toStored?: ConvertValue;
  readonly toOlder?: ConvertValue;
}

export type ConvertValue = (value: Json, names: Names) => Json | undefined;

export type Direction = 'toStored' | 'toOlder';

const same: ConvertValue = (value) => value;

/** Changes an object in place: fields of the one version become those of the other. */
export function* changeFields(
  object: JsonObject,
  changes: readonly FieldChange[],
  direction: Direction,
  names: Names,
): Steps<void> {
  const pace = new Pace();
  for (const change of changes) {
    const { older, stored = older } = change;
    const [from, to] = direction === 'toStored' ? [older, stored] : [stored, older];
    const steps = from.split('[]');
    const source = keysOf(steps.pop() ?? '');
    const target = keysOf(to.split('[]').at(-1) ?? '');
    const convert = change[direction] ?? same;
    const moveIn = (holder: Json) => move(holder, source, target, (value) => convert(value, names));
    yield* changeBelow(object, steps.map(keysOf), moveIn, pace);
  }
}

const keysOf = (path: string): string[] => path.split('.').filter((key) => key !== '');

/** Applies a change to each element of the innermost of nested lists; without lists, to the value itself. */
function* changeBelow(
  value: Json,
  lists: readonly string[][],
  change: (value: Json) => Json | undefined,
  pace: Pace,
): Steps<Json | undefined> {
  const [path, ...inner] = lists;
  if (path === undefined) return change(value);
  const elements = getKey(parentOf(value, path, false) ?? {}, path.at(-1) ?? '');
  if (!Array.isArray(elements)) return value;
  for (const [i, element] of elements.entries()) {
    if (pace.over()) yield;
    elements[i] = (yield* changeBelow(element, inner, change, pace)) ?? element;
  }
  return value;
}

/** Moves a value within its holder, which is changed in place; without paths, the holder is the value. */
function move(
  holder: Json,
  from: readonly string[],
  to: readonly string[],
  convert: (value: Json) => Json | undefined,
): Json | undefined {
  const last = from.at(-1);
  if (last === undefined) return convert(holder);
  const parent = parentOf(holder, from, false);
  const value = parent && getKey(parent, last);
  if (parent === undefined || value === undefined) return holder;
  delete parent[last];
  const converted = convert(value);
  const target = converted === undefined ? undefined : parentOf(holder, to, true);
  if (target !== undefined && converted !== undefined) setKey(target, to.at(-1) ?? '', converted);
  return holder;
}

/** The object that has the last field of a path. `make`: objects that are missing on the way are made. */
function parentOf(holder: Json, path: readonly string[], make: boolean): JsonObject | undefined {
  let parent: Json | undefined = holder;
  for (const key of path.slice(0, -1)) {
    if (!isJsonObject(parent)) return undefined;
    const child: Json | undefined = getKey(parent, key) ?? (make ? {} : undefined);
    if (make && child !== undefined) setKey(parent, key, child);
    parent = child;
  }
  return isJsonObject(parent) ? parent : undefined;
}
