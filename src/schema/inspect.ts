import {
  isJsonObject,
  type Json,
  maxShown,
  type Names,
  type StatusError,
  shorten,
  statusError,
} from '../meta/index.ts';
import { fieldsOf, resolve } from './access.ts';
import type { Schema, StructSchema } from './declare.ts';
import { suits } from './decode.ts';
import { MAX_DEPTH, MAX_FINDINGS } from './limits.ts';
import { scalarOf, scalars } from './scalars.ts';

/** Where a walk stands. */
interface Place {
  /** With indexes and map keys: `spec.containers[0].ports`. */
  readonly path: string;
  /** Field names alone: `spec.containers.ports`. */
  readonly fields: string;
  /** The struct around it. */
  readonly struct: string;
  readonly depth: number;
}

interface Findings {
  readonly names: Names;
  readonly unknown: string[];
}

/**
 * Paths of the fields that no struct declares, in the order of the value, at most 100. Slow: to be asked once decoding
 * has said that there is something to tell. Throws a bad request for the first value that is not of its type.
 */
export function inspect(schema: StructSchema, value: Json, names: Names): string[] {
  const findings: Findings = { names, unknown: [] };
  walkStruct(schema, value, { path: '', fields: '', struct: '', depth: 0 }, findings);
  return findings.unknown;
}

function walk(schema: Schema, value: Json, at: Place, findings: Findings): void {
  if (value === null) return;
  switch (schema.type) {
    case 'struct':
      walkStruct(schema, value, at, findings);
      break;
    case 'list':
      if (!Array.isArray(value)) throw wrongType(schema, value, at);
      for (const [i, item] of value.entries())
        walk(schema.element, item, { ...at, path: `${at.path}[${i}]` }, findings);
      break;
    case 'map':
      if (!isJsonObject(value)) throw wrongType(schema, value, at);
      for (const [key, item] of Object.entries(value)) {
        walk(schema.value, item, { ...at, path: join(at.path, key) }, findings);
      }
      break;
    case 'either': {
      const option = schema.options.find((candidate) => suits(candidate, value));
      if (option === undefined) throw wrongType(schema, value, at);
      walk(option, value, at, findings);
      break;
    }
    case 'lazy':
      if (at.depth === MAX_DEPTH) throw statusError.badRequest('exceeded max depth');
      walk(resolve(schema), value, { ...at, depth: at.depth + 1 }, findings);
      break;
    default: {
      const { read, fault } = scalars[schema.type];
      if (read(value) !== undefined) return;
      const message = fault?.(value);
      throw message === undefined ? wrongType(schema, value, at) : statusError.badRequest(message);
    }
  }
}

function walkStruct(schema: StructSchema, value: Json, at: Place, findings: Findings): void {
  if (!isJsonObject(value)) throw wrongType(schema, value, at);
  const struct = shortName(schema.name);
  const declared = fieldsOf(schema, findings.names);
  for (const [name, item] of Object.entries(value)) {
    const path = join(at.path, name);
    const field = declared.get(name);
    if (field !== undefined) {
      walk(field.schema, item, { path, fields: join(at.fields, name), struct, depth: at.depth }, findings);
    } else if (findings.unknown.length < MAX_FINDINGS) {
      findings.unknown.push(path);
    }
  }
}

/** A path one name further, as far as messages show it. */
const join = (path: string, name: string): string =>
  path.length > maxShown ? path : shorten(path === '' ? name : `${path}.${name}`);

function wrongType(schema: Schema, value: Json, at: Place): StatusError {
  const scalar = scalarOf(schema);
  const number = typeof value === 'number' || typeof value === 'bigint';
  const given = number && scalar?.numeric === true ? `number ${value}` : typeKind(value);
  const target =
    at.struct === '' ? 'Go value' : `Go struct field ${at.struct.slice(at.struct.lastIndexOf('.') + 1)}.${at.fields}`;
  return statusError.badRequest(
    `json: cannot unmarshal ${given} into ${target} of type ${scalar?.readAs ?? spelling(schema)}`,
  );
}

function typeKind(value: Json): string {
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'bigint':
    case 'number':
      return 'number';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    default:
      return value === null ? 'null' : 'object';
  }
}

/** A type as messages spell it: `map[string][]v1.Container`. */
function spelling(schema: Schema): string {
  switch (schema.type) {
    case 'list':
      return `[]${spelling(schema.element)}`;
    case 'map':
      return `map[string]${spelling(schema.value)}`;
    case 'lazy':
      return spelling(resolve(schema));
    case 'struct':
    case 'either':
      return shortName(schema.name);
    default:
      return scalars[schema.type].spelling;
  }
}

/** `v1.Container` of `core/v1.Container`. */
function shortName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
