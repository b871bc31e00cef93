import {
  type ApiObject,
  canonicalTime,
  type Json,
  type JsonObject,
  type Names,
  statusError,
} from '../../meta/index.ts';
import { fieldsOf, resolve, type Schema, type StructSchema } from '../../schema/index.ts';
import { readFlag } from '../read/parameters.ts';
import type { Connecting } from '../types.ts';

/** Query parameters as an object of an options type; unknown ones are ignored. @throws StatusError 400 */
export function readConnectOptions(
  query: Connecting['query'],
  schema: StructSchema,
  names: Names,
): Omit<ApiObject, 'metadata'> {
  const options: JsonObject = { kind: schema.name.slice(schema.name.indexOf('.') + 1), apiVersion: 'v1' };
  for (const [name, field] of fieldsOf(schema, names)) {
    if (!query.has(name) || name in options) continue;
    const value = read(field.schema, query.getAll(name));
    if (value !== undefined) options[name] = value;
  }
  return options as Omit<ApiObject, 'metadata'>;
}

/** The value of a field from its query parameters; undefined for none. */
function read(schema: Schema, texts: readonly string[]): Json | undefined {
  const resolved = resolve(schema);
  const [text = ''] = texts;
  switch (resolved.type) {
    case 'bool':
      return readFlag(text);
    case 'int64':
      return readInt64(text);
    case 'time':
      return text === '' || text === 'null' ? undefined : canonicalTime(text);
    case 'list':
      return resolve(resolved.element).type === 'string' ? [...texts] : texts.flatMap(readPorts);
    default:
      return text;
  }
}

function readInt64(text: string): Json {
  const fault = (what: string) => statusError.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${what}`);
  if (!/^[+-]?\d+$/.test(text)) throw fault('invalid syntax');
  if (text.length > 20 || BigInt.asIntN(64, bigOf(text)) !== bigOf(text)) throw fault('value out of range');
  const near = Number(text);
  return Number.isSafeInteger(near) ? near : bigOf(text);
}

const bigOf = (text: string): bigint => BigInt(text.replace('+', ''));

/** Comma-separated port numbers. */
function readPorts(text: string): number[] {
  return text.split(',').map((part) => {
    const fault = (what: string) =>
      statusError.badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(part)}: ${what}`);
    if (!/^\d+$/.test(part)) throw fault('invalid syntax');
    if (Number(part) > 65_535) throw fault('value out of range');
    return Number(part);
  });
}
