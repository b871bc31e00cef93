import { isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';

/** A field that differs between two versions of an object. */
export interface FieldChange {
  /** `spec.containers[name="web"].image`. */
  readonly path: string;
  /** Undefined: the field was added. */
  readonly before: Json | undefined;
  /** Undefined: the field was removed. */
  readonly after: Json | undefined;
}

/** Fields that every write changes, or that say who wrote. */
const unremarkable = new Set(['metadata.resourceVersion', 'metadata.generation', 'metadata.managedFields']);

/** The fields in which two versions of an object differ, in the order of the fields. */
export function changesOf(before: JsonObject, after: JsonObject): FieldChange[] {
  const changes: FieldChange[] = [];
  compare(before, after, '', changes);
  return changes;
}

function compare(before: Json | undefined, after: Json | undefined, path: string, changes: FieldChange[]): void {
  if (unremarkable.has(path)) return;
  const [from, to] = [membersOf(before), membersOf(after)];
  if (from === undefined || to === undefined || Array.isArray(before) !== Array.isArray(after)) {
    if (JSON.stringify(before) !== JSON.stringify(after)) changes.push({ path, before, after });
    return;
  }
  for (const step of new Set([...from.keys(), ...to.keys()])) {
    const inner = path === '' || step.startsWith('[') ? path + step : `${path}.${step}`;
    compare(from.get(step), to.get(step), inner, changes);
  }
}

/** The fields of a map, or the items of a list by their name, type or position; undefined for a scalar. */
function membersOf(value: Json | undefined): Map<string, Json> | undefined {
  if (Array.isArray(value)) {
    const key = ['name', 'type'].find((field) => isUnique(value.map((item) => isJsonObject(item) && item[field])));
    const stepOf = (item: Json, i: number) =>
      key === undefined ? `[${i}]` : `[${key}=${JSON.stringify((item as JsonObject)[key])}]`;
    return new Map(value.map((item, i) => [stepOf(item, i), item]));
  }
  if (!isJsonObject(value)) return undefined;
  return new Map(Object.entries(value).map(([field, member]) => [stepOfField(field), member]));
}

const stepOfField = (field: string): string => (/^[\w-]+$/.test(field) ? field : `[${JSON.stringify(field)}]`);

const isUnique = (values: readonly unknown[]): boolean =>
  values.length > 0 && values.every((value) => typeof value === 'string') && new Set(values).size === values.length;

/** The longest value that is shown. */
const maxShown = 40;

/** Changes in one line: short scalars with their values unless `hidesValues`, added fields with `+`, removed ones with `-`. */
export function changesText(changes: readonly FieldChange[], hidesValues: boolean): string {
  return changes.map((change) => changeText(change, hidesValues)).join(', ');
}

function changeText({ path, before, after }: FieldChange, hidesValues: boolean): string {
  const [from, to] = [scalarText(before), scalarText(after)];
  if (before === undefined) return `+${path}${to === undefined || hidesValues ? '' : `: ${to}`}`;
  if (after === undefined) return `-${path}`;
  return from === undefined || to === undefined || hidesValues ? path : `${path}: ${from} -> ${to}`;
}

/** A scalar as it is shown; undefined for maps, lists and long texts. */
function scalarText(value: Json | undefined): string | undefined {
  if (value === undefined || (typeof value === 'object' && value !== null)) return undefined;
  const text = typeof value === 'string' && /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  return text.length > maxShown ? undefined : text;
}
