import type { Json } from '../meta/index.ts';
import { type JsonSchema, type JsonType, type Model, referredName } from './model.ts';
import { comment, literal, memberName } from './text.ts';

/** Longer unions are written one member to a line. */
const lineLength = 120;

/** TypeScript interfaces, one for each type of the model. */
export function writeTypeScript({ types }: Model): string {
  const declarations = [...types].map(([name, schema]) => declaration(name, schema));
  if (declarations.some((text) => text.includes(': Embedded<'))) declarations.push(embedded);
  return declarations.join('\n');
}

const embedded = `/** An object inside another one, which may leave out what it is. */
export type Embedded<T extends { apiVersion: unknown; kind: unknown }> = Omit<T, 'apiVersion' | 'kind'> &
  Partial<Pick<T, 'apiVersion' | 'kind'>>;
`;

function declaration(name: string, { description = '', properties = {}, required = [], ...rest }: JsonSchema): string {
  const lines = [...comment(description, ''), `export interface ${name} {`];
  for (const [key, property] of Object.entries(properties)) {
    for (const line of comment(aboutOf(property), '  ')) lines.push(line);
    const member = `${memberName(key)}${required.includes(key) ? '' : '?'}`;
    const line = `  ${member}: ${typeText(property)};`;
    lines.push((line.length > lineLength ? broken(member, property) : undefined) ?? line);
  }
  // Fields that are not declared have any value.
  if (rest.additionalProperties !== undefined) lines.push('  [key: string]: unknown;');
  return [...lines, '}', ''].join('\n');
}

/** A member whose type is a long union, or a list of one: with each literal on a line of its own. */
function broken(member: string, schema: JsonSchema): string | undefined {
  const item = schema.type?.join() === 'array' ? schema.items : undefined;
  const { enum: values } = item ?? schema;
  if (!values?.every(isScalar)) return undefined;
  const lines = values.map((value) => `    | ${literal(value)}`).join('\n');
  return item === undefined ? `  ${member}:\n${lines};` : `  ${member}: (\n${lines}\n  )[];`;
}

/** The description of a field, and what its type does not say. */
export function aboutOf({ description = '', format, default: byDefault }: JsonSchema): string {
  const tags = [
    ...(byDefault === undefined || typeof byDefault === 'object'
      ? []
      : [`@default ${JSON.stringify(String(byDefault)).slice(1, -1)}`]),
    ...(format === undefined ? [] : [`@format ${format}`]),
  ];
  return [description, ...(description !== '' && tags.length > 0 ? [''] : []), ...tags].join('\n');
}

type Scalar = string | number | bigint | boolean;
const isScalar = (value: Json): value is Scalar => typeof value !== 'object';

function typeText(schema: JsonSchema): string {
  const name = referredName(schema);
  if (name !== undefined) return schema.embedded ? `Embedded<${name}>` : name;
  if (schema.const !== undefined && isScalar(schema.const)) return literal(schema.const);
  if (schema.enum?.every(isScalar)) return unionOf(schema.enum.map(literal));
  if (schema.type !== undefined) return unionOf(schema.type.map((type) => ofType(type, schema)));
  const options = schema.anyOf ?? schema.oneOf ?? [];
  const texts = options.map(typeText);
  return texts.length === 0 || texts.includes('unknown') ? 'unknown' : unionOf(texts);
}

const unionOf = (texts: readonly string[]): string => [...new Set(texts)].join(' | ');

function ofType(type: JsonType, { items = {}, additionalProperties }: JsonSchema): string {
  switch (type) {
    case 'array': {
      const item = typeText(items);
      return item.includes(' | ') ? `(${item})[]` : `${item}[]`;
    }
    case 'object': {
      const value = additionalProperties === undefined || additionalProperties === true ? {} : additionalProperties;
      return `{ [key: string]: ${typeText(value)} }`;
    }
    case 'integer':
    case 'number':
      return 'number';
    default:
      return type;
  }
}
