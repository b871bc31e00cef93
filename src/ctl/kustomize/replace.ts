/** The replacements of a kustomization: values of one object that are copied into fields of others. */
import { parseYaml } from '../../codec/index.ts';
import {
  getKey,
  isJsonObject,
  type Json,
  type JsonArray,
  type JsonObject,
  jsonCopy,
  setKey,
} from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import { jsonText } from '../output/json.ts';
import { splitPath } from './field-path.ts';
import type { FieldOptions, Replacement, Selector } from './format.ts';
import type { Folder } from './load.ts';
import { type Identity, isSelected, type Resource } from './resource.ts';
import { hasPairs, regexOf } from './selector.ts';
import { sizeOf } from './size.ts';

/** The field that sources and targets have by default. */
const defaultPath = 'metadata.name';

/** Copies a value into the fields of all targets. @throws CommandError for a source or a field that does not exist */
export function replaceValues(
  folder: Folder,
  resources: readonly Resource[],
  { source, targets = [] }: Replacement,
): void {
  if (source === undefined || source === null || targets.length === 0) {
    throw new CommandError('replacements: each one needs a source and at least one target');
  }
  const value = partOf(sourceValue(resources, source), source.options ?? {});
  for (const { select, reject = [], fieldPaths = [defaultPath], options = {} } of targets) {
    if (select === undefined || select === null) throw new CommandError('replacements: each target needs select');
    const rejections = reject.map(rejects);
    const isTarget = [
      isNamed(select),
      hasPairs('labels', select.labelSelector),
      hasPairs('annotations', select.annotationSelector),
    ];
    for (const resource of resources) {
      if (!isTarget.every((test) => test(resource)) || rejections.some((test) => test(resource))) continue;
      for (const path of fieldPaths) setField(folder, resource, path, value, options);
    }
  }
}

/** Unlike in patches, the fields of selectors are texts here. */
const isNamed =
  (selector: Selector) =>
  ({ identities }: Resource): boolean =>
    identities.some((identity) => isMeant(identity, selector));

const isMeant = (identity: Identity, { name = '', namespace = '', ...gvk }: Selector): boolean =>
  (name === '' || name === identity.name) &&
  (namespace === '' || namespace === identity.namespace) &&
  isSelected(identity, gvk);

/** A rejection without name and kind looks at labels and annotations only, and the other way round. */
function rejects(selector: Selector): (resource: Resource) => boolean {
  const { labelSelector = '', annotationSelector = '', ...identity } = selector;
  const named = Object.values(identity).some((text) => text !== '') ? isNamed(identity) : () => false;
  if (labelSelector === '' && annotationSelector === '') return named;
  const [labels, annotations] = [hasPairs('labels', labelSelector), hasPairs('annotations', annotationSelector)];
  return (resource) => named(resource) || (labels(resource) && annotations(resource));
}

type Source = NonNullable<Replacement['source']>;

function sourceValue(resources: readonly Resource[], source: Source): Json {
  const { fieldPath = defaultPath, options: _, ...selector } = source;
  const found = resources.filter(isNamed(selector));
  const [resource, ...others] = found;
  const shown = Object.values(selector).join(' ');
  if (resource === undefined) throw new CommandError(`replacements: no resource is the source ${shown}`);
  if (others.length > 0) throw new CommandError(`replacements: several resources are the source ${shown}`);
  let value: Json | undefined = resource.object;
  for (const part of partsOf(fieldPath)) value = memberOf(value ?? null, part);
  if (value === undefined || value === null || value === '') {
    throw new CommandError(`replacements: the source ${resource.text} has no field ${fieldPath}`);
  }
  return value;
}

function memberOf(value: Json, part: string): Json | undefined {
  if (isJsonObject(value)) return getKey(value, part);
  if (!Array.isArray(value)) return undefined;
  if (part === '-') return value.at(-1);
  if (/^\d+$/.test(part)) return value[Number(part)];
  const { field, text } = itemOf(part);
  return value.find((item) => jsonText(field === '' ? item : fieldOf(item, field)) === text);
}

const fieldOf = (item: Json, field: string): Json | undefined => (isJsonObject(item) ? getKey(item, field) : undefined);

/** The elements of a path such as `spec.containers.[name=web].image`; a name with dots is in brackets. */
function partsOf(path: string): string[] {
  const parts: string[] = [];
  let open: string | undefined;
  for (const part of splitPath(path, '.')) {
    const text: string = open === undefined ? part : `${open}.${part}`;
    const isComplete = !text.startsWith('[') || text.endsWith(']');
    open = isComplete ? undefined : text;
    if (isComplete) parts.push(text.startsWith('[') && !text.includes('=') ? text.slice(1, -1) : text);
  }
  return open === undefined ? parts : [...parts, open];
}

const isItem = (part: string): boolean => part.startsWith('[') && part.endsWith(']');

/** `[name=web]` or, for lists of texts, `[=web]`. */
function itemOf(part: string): { readonly field: string; readonly text: string } {
  const [, field, text] = /^\[([^=]*)=(.*)\]$/s.exec(part) ?? [];
  if (field === undefined || text === undefined) {
    throw new CommandError(`replacements: ${part} must be an index, a * or of the form [field=value] in a list`);
  }
  return { field, text };
}

/** The part of a text that the options of a source mean. */
function partOf(value: Json, { delimiter = '', index = 0 }: FieldOptions): Json {
  if (delimiter === '') return value;
  const part = textOf(value).split(delimiter)[index];
  if (part !== undefined) return part;
  throw new CommandError(`replacements: options.index ${index} is out of bounds for the value ${jsonText(value)}`);
}

function textOf(value: Json): string {
  if (typeof value !== 'object') return String(value);
  throw new CommandError('replacements: options.delimiter needs fields that are texts, numbers or booleans');
}

function setField(folder: Folder, resource: Resource, path: string, value: Json, options: FieldOptions): void {
  const parts = partsOf(path);
  const slots = slotsOf(resource.object, parts, 0, options.create === true);
  if (slots.length === 0) {
    throw new CommandError(`replacements: ${resource.text} has no field ${path}: set options.create to create it`);
  }
  for (const { holder, key } of slots) {
    const before = Array.isArray(holder) ? (holder[Number(key)] ?? null) : (getKey(holder, key) ?? null);
    const after = converted(before, spliced(before, value, options), path);
    folder.charge(sizeOf(after));
    if (Array.isArray(holder)) holder[Number(key)] = after;
    else setKey(holder, key, after);
  }
}

/** The value of a target: the source, or a text with the source as one of its parts. */
function spliced(before: Json, value: Json, { delimiter = '', index = 0 }: FieldOptions): Json {
  if (delimiter === '') return jsonCopy(value);
  const parts = textOf(before).split(delimiter);
  if (index < 0) parts.unshift(textOf(value));
  else parts[Math.min(index, parts.length)] = textOf(value);
  return parts.join(delimiter);
}

/** A field retains its type: the text of a number is that number where there was a number. @throws CommandError */
function converted(before: Json, after: Json, path: string): Json {
  if (typeof before === 'object' || typeof after === 'object' || typeof before === typeof after) return after;
  if (typeof before === 'string') return String(after);
  const { value } = parseYaml(Buffer.from(String(after)), { coreBooleans: true });
  if (typeof value === typeof before) return value;
  throw new CommandError(`replacements: the field ${path} is a ${typeof before}, and cannot become ${jsonText(after)}`);
}

/** A member of an object or an item of a list. */
interface Slot {
  readonly holder: JsonObject | JsonArray;
  readonly key: string;
}

/** The slots that a path leads to from a value; with `creates`, absent parts are created. */
function slotsOf(value: Json, parts: readonly string[], at: number, creates: boolean): Slot[] {
  const part = parts[at] ?? '';
  if (!Array.isArray(value) && !isJsonObject(value)) {
    throw new CommandError(`replacements: ${parts.slice(0, at).join('.')} must be an object or a list`);
  }
  const keys = Array.isArray(value)
    ? indexesOf(value, parts, at, creates)
    : namesOf(value, part, creates ? emptyPart(parts[at + 1]) : undefined);
  if (at === parts.length - 1) return keys.map((key) => ({ holder: value, key }));
  return keys.flatMap((key) => {
    const child = Array.isArray(value) ? value[Number(key)] : getKey(value, key);
    return slotsOf(child ?? null, parts, at + 1, creates);
  });
}

/** The value of a created part before the next one is created in it. */
function emptyPart(next: string | undefined): Json {
  if (next === undefined) return null;
  return isItem(next) || next === '*' || /^\d+$/.test(next) ? [] : {};
}

function namesOf(object: JsonObject, name: string, empty: Json | undefined): string[] {
  if (getKey(object, name) === undefined) {
    if (empty === undefined) return [];
    setKey(object, name, empty);
  }
  return [name];
}

function indexesOf(list: JsonArray, parts: readonly string[], at: number, creates: boolean): string[] {
  const part = parts[at] ?? '';
  if (part === '*') return [...list.keys()].map(String);
  if (/^\d+$/.test(part)) {
    if (Number(part) === list.length && creates) list.push(emptyPart(parts[at + 1]));
    if (Number(part) >= list.length) {
      throw new CommandError(`replacements: the index ${part} is out of bounds for a list of ${list.length} items`);
    }
    return [part];
  }
  const { field, text } = itemOf(part);
  const pattern = regexOf(text, 'replacements');
  const matching = (): string[] =>
    [...list.entries()]
      .filter(([, item]) => {
        const member = field === '' ? item : fieldOf(item, field);
        return member !== undefined && pattern.test(jsonText(member));
      })
      .map(([i]) => String(i));
  const found = matching();
  if (found.length > 0 || !creates) return found;
  list.push(field === '' ? text : { [field]: text });
  return matching();
}
