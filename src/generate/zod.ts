import { stringifyJson } from '../codec/index.ts';
import type { Json } from '../meta/index.ts';
import { type JsonSchema, type JsonType, type Model, referredName } from './model.ts';
import { comment, literal, memberName } from './text.ts';
import { aboutOf } from './typescript.ts';

/** A zod schema and its type for each type of the model. */
export function writeZod({ types }: Model): string {
  const declarations = inOrder(types).map((name) => declaration(name, types.get(name) ?? {}));
  const text = declarations.join('\n');
  const helpers = Object.entries(helperSources).filter(([name]) => text.includes(`${name}(`));
  return [`import { z } from 'zod';\n`, ...helpers.map(([, source]) => source), text].join('\n');
}

/** Checks that zod makes in another way: it counts UTF-16 code units, and has no limits of members. */
const helperSources = {
  atMost: `/** Strings of at most the given number of characters. */
const atMost = (count: number) => (text: string) => text.length <= count || [...text].length <= count;
`,
  membersWithin: `/** Objects with a number of members within these bounds. */
const membersWithin = (least: number, most: number) => (object: object) =>
  Object.keys(object).length >= least && Object.keys(object).length <= most;
`,
};

/** The names of types, each behind those that it refers to. @throws Error for a type that contains itself */
function inOrder(types: Model['types']): string[] {
  const emitted = new Set<string>();
  const open = new Set<string>();
  const visit = (name: string) => {
    if (emitted.has(name)) return;
    if (open.has(name)) throw new Error(`${name} contains itself, which no zod schema of a value can`);
    open.add(name);
    for (const other of referencesOf(types.get(name) ?? {})) visit(other);
    emitted.add(name);
  };
  for (const name of types.keys()) visit(name);
  return [...emitted];
}

/** The names of the types that a schema refers to. */
function referencesOf(schema: JsonSchema): string[] {
  const { items, additionalProperties, anyOf = [], properties = {} } = schema;
  const values = typeof additionalProperties === 'object' ? [additionalProperties] : [];
  const below = [...(items === undefined ? [] : [items]), ...values, ...anyOf, ...Object.values(properties)];
  const own = referredName(schema);
  return [...(own === undefined ? [] : [own]), ...below.flatMap(referencesOf)];
}

function declaration(name: string, schema: JsonSchema): string {
  const lines = comment(schema.description ?? '', '');
  const call = schema.additionalProperties === undefined ? 'z.object' : 'z.looseObject';
  lines.push(`export const ${name} = ${call}({`);
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    for (const line of comment(aboutOf(property), '  ')) lines.push(line);
    // As a name in a literal it would be the prototype.
    const member = key === '__proto__' ? "['__proto__']" : memberName(key);
    lines.push(`  ${member}: ${memberText(property, schema.required?.includes(key) ?? false)},`);
  }
  return [...lines, `})${membersText(schema)};`, `export type ${name} = z.infer<typeof ${name}>;`, ''].join('\n');
}

function memberText(schema: JsonSchema, required: boolean): string {
  const { default: byDefault } = schema;
  const text = zodText(schema);
  if (byDefault === undefined) return required ? text : `${text}.optional()`;
  // Members of an object that is the default have defaults themselves.
  return `${text}.${typeof byDefault === 'object' ? 'prefault' : 'default'}(${valueText(byDefault)})`;
}

/** A value as an expression. A member named `__proto__` would be the prototype of a literal. */
const valueText = (value: Json): string =>
  typeof value === 'object' ? stringifyJson(value).replaceAll('"__proto__":', '["__proto__"]:') : literal(value);

function zodText(schema: JsonSchema): string {
  const name = referredName(schema);
  if (name !== undefined) return name;
  if (schema.const !== undefined) return `z.literal(${valueText(schema.const)})`;
  const { type = [], enum: values } = schema;
  if (values?.every((value) => typeof value !== 'object')) return `z.literal([${values.map(valueText).join(', ')}])`;
  const texts = type.filter((one) => one !== 'null').map((one) => ofType(one, schema));
  if (type.length === 0) for (const option of schema.anyOf ?? []) texts.push(zodText(option));
  const [only = 'z.unknown()'] = texts;
  const text = texts.length < 2 ? only : `z.union([${texts.join(', ')}])`;
  return type.includes('null') ? (texts.length === 0 ? 'z.null()' : `${text}.nullable()`) : text;
}

function ofType(type: JsonType, schema: JsonSchema): string {
  const { items = {}, minItems, maxItems, additionalProperties, format, pattern, minLength, maxLength } = schema;
  switch (type) {
    case 'string': {
      const longest = maxLength === undefined ? '' : `.refine(atMost(${maxLength}), ${tooLong(maxLength)})`;
      const matching = pattern === undefined ? '' : `.regex(${new RegExp(pattern, 'u')})`;
      return `z.string()${bound('min', minLength)}${matching}${longest}`;
    }
    case 'array':
      return `z.array(${zodText(items)})${bound('min', minItems)}${bound('max', maxItems)}`;
    case 'object': {
      const value = additionalProperties === undefined || additionalProperties === true ? {} : additionalProperties;
      return `z.record(z.string(), ${zodText(value)})${membersText(schema)}`;
    }
    case 'boolean':
      return 'z.boolean()';
    case 'null':
      return 'z.null()';
    default:
      return numberText(type === 'number' ? 'z.number()' : format === 'int32' ? 'z.int32()' : 'z.int()', schema);
  }
}

const tooLong = (most: number) => literal(`must have at most ${most} characters`);

function numberText(base: string, { minimum, maximum, multipleOf, ...schema }: JsonSchema): string {
  const exclusive = bound('gt', schema.exclusiveMinimum) + bound('lt', schema.exclusiveMaximum);
  return `${base}${bound('min', minimum)}${bound('max', maximum)}${exclusive}${bound('multipleOf', multipleOf)}`;
}

function membersText({ minProperties, maxProperties }: JsonSchema): string {
  if (minProperties === undefined && maxProperties === undefined) return '';
  return `.refine(membersWithin(${minProperties ?? 0}, ${maxProperties ?? 'Number.POSITIVE_INFINITY'}), 'has too few or too many members')`;
}

const bound = (method: string, value: number | undefined): string =>
  value === undefined ? '' : `.${method}(${value})`;
