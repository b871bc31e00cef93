/** How the form shows a field, from its schema. */
import { isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';
import type { FieldPath } from '../object/paths.ts';
import type { Schema } from '../object/schema.ts';

export type Control = 'section' | 'map' | 'list' | 'choice' | 'switch' | 'number' | 'mixed' | 'text' | 'yaml';

/** Fields of deeper objects, and longer lists and maps, are shown as YAML. */
export const maxDepth = 16;
export const maxMembers = 100;

/** The controls with the values that they can show, in the order in which they are tried. */
const controls: readonly {
  readonly control: Control;
  readonly fits: (schema: Schema) => boolean;
  readonly shows: (value: Json) => boolean;
}[] = [
  { control: 'choice', fits: hasChoices, shows: isText },
  { control: 'mixed', fits: isTextOrNumber, shows: (value) => isText(value) || typeof value === 'number' },
  { control: 'switch', fits: hasType('boolean'), shows: (value) => typeof value === 'boolean' },
  { control: 'number', fits: hasType('integer', 'number'), shows: (value) => typeof value === 'number' },
  { control: 'text', fits: hasType('string'), shows: isText },
  {
    control: 'list',
    fits: ({ items }) => isJsonObject(items),
    shows: (value) => Array.isArray(value) && value.length <= maxMembers,
  },
  { control: 'section', fits: ({ properties }) => isJsonObject(properties), shows: isJsonObject },
  {
    control: 'map',
    fits: ({ additionalProperties }) => isJsonObject(additionalProperties),
    shows: (value) => isJsonObject(value) && Object.keys(value).length <= maxMembers,
  },
];

/** The control of a field: one for its schema that can show its value, otherwise YAML. */
export function controlOf(schema: Schema | undefined, value: Json | undefined, depth: number): Control {
  if (schema === undefined || depth > maxDepth) return 'yaml';
  const found = controls.find(({ fits }) => fits(schema));
  return found !== undefined && (value === undefined || found.shows(value)) ? found.control : 'yaml';
}

function hasChoices({ enum: choices }: Schema): boolean {
  return Array.isArray(choices) && choices.every(isText);
}

function isText(value: Json): boolean {
  return typeof value === 'string';
}

/** Whether a field takes a text or a number, such as a quantity or a port. */
export function isTextOrNumber({ oneOf, format, ...extensions }: Schema): boolean {
  const types = Array.isArray(oneOf) ? oneOf.map((one) => isJsonObject(one) && one['type']) : [];
  const hasBoth = types.includes('string') && (types.includes('integer') || types.includes('number'));
  const isExtension = Object.entries(extensions).some(
    ([name, value]) => value === true && name.endsWith('-int-or-string'),
  );
  return format === 'int-or-string' || isExtension || (types.length === 2 && hasBoth);
}

function hasType(...types: readonly string[]): (schema: Schema) => boolean {
  return ({ type }) => typeof type === 'string' && types.includes(type);
}

/** The number that a text is; undefined where it is none for the schema, or one that would be rounded. */
export function readNumber(text: string, { type }: Schema): number | undefined {
  const number = Number(text);
  const isExact = type === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number);
  return text.trim() !== '' && isExact ? number : undefined;
}

/** A value in which the member at a path is replaced, or removed when `member` is undefined. Changes nothing in place. */
export function withMember(value: Json | undefined, path: FieldPath, member: Json | undefined): Json | undefined {
  const [part, ...rest] = path;
  if (part === undefined) return member;
  if (typeof part === 'number') {
    const items = Array.isArray(value) ? value : [];
    const next = withMember(items[part], rest, member);
    return items.toSpliced(part, 1, ...(next === undefined ? [] : [next]));
  }
  const members: JsonObject = isJsonObject(value) ? value : {};
  const before = Object.hasOwn(members, part) ? members[part] : undefined;
  const next = withMember(before, rest, member);
  const others = Object.entries(members).filter(([name]) => name !== part);
  if (next === undefined) return Object.fromEntries(others);
  if (before === undefined) return Object.fromEntries([...others, [part, next]]);
  return Object.fromEntries(Object.entries(members).map(([name, old]) => [name, name === part ? next : old]));
}
