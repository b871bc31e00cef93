import {
  atOnce,
  isJsonObject,
  type Json,
  type Names,
  Pace,
  type Path,
  type StatusError,
  type Steps,
  shorten,
  statusError,
} from '../meta/index.ts';
import { fieldsOf, resolve } from './access.ts';
import type { Schema, StructSchema } from './declare.ts';
import { suits } from './decode.ts';
import { MAX_DEPTH, MAX_ERRORS } from './limits.ts';
import { scalarOf, scalars } from './scalars.ts';

/** A path as a linked list, last step first. */
interface Trail {
  readonly step: string | number;
  readonly before: Trail | undefined;
}

/** The position of a value. */
interface Position {
  /** With indexes and map keys; undefined at the root. */
  readonly trail: Trail | undefined;
  /** Field names alone: `spec.containers.ports`. */
  readonly fields: string;
  /** The name of the struct that contains it. */
  readonly struct: string;
  readonly depth: number;
}

interface Context {
  readonly names: Names;
  readonly unknown: Path[];
  readonly pace: Pace;
}

/**
 * The paths of the undeclared fields of a value, in its order, at most 100. Slow: called only when decoding has found
 * an undeclared field or a value of the wrong type.
 * @throws StatusError 400 for the first value of the wrong type
 */
export const inspect = (schema: StructSchema, value: Json, names: Names): Path[] =>
  atOnce(inspectInSteps(schema, value, names));

/** The same in steps. */
export function* inspectInSteps(schema: StructSchema, value: Json, names: Names): Steps<Path[]> {
  const context: Context = { names, unknown: [], pace: new Pace() };
  yield* walkStruct(schema, value, { trail: undefined, fields: '', struct: '', depth: 0 }, context);
  return context.unknown;
}

function* walk(schema: Schema, value: Json, position: Position, context: Context): Steps<void> {
  if (context.pace.over()) yield;
  if (value === null) return;
  switch (schema.type) {
    case 'struct':
      yield* walkStruct(schema, value, position, context);
      break;
    case 'list':
      if (!Array.isArray(value)) throw wrongType(schema, value, position);
      for (const [i, item] of value.entries()) yield* walk(schema.element, item, below(position, i), context);
      break;
    case 'map':
      if (!isJsonObject(value)) throw wrongType(schema, value, position);
      for (const key of Object.keys(value)) {
        yield* walk(schema.value, value[key] as Json, below(position, key), context);
      }
      break;
    case 'either': {
      const option = schema.options.find((candidate) => suits(candidate, value));
      if (option === undefined) throw wrongType(schema, value, position);
      yield* walk(option, value, position, context);
      break;
    }
    case 'lazy':
      if (position.depth === MAX_DEPTH) throw statusError.badRequest('exceeded max depth');
      yield* walk(resolve(schema), value, { ...position, depth: position.depth + 1 }, context);
      break;
    default: {
      const { read, describeError } = scalars[schema.type];
      if (read(value) !== undefined) return;
      const message = describeError?.(value);
      throw message === undefined ? wrongType(schema, value, position) : statusError.badRequest(shorten(message));
    }
  }
}

function* walkStruct(schema: StructSchema, value: Json, position: Position, context: Context): Steps<void> {
  if (!isJsonObject(value)) throw wrongType(schema, value, position);
  const struct = shortName(schema.name);
  const declared = fieldsOf(schema, context.names);
  for (const name of Object.keys(value)) {
    if (context.pace.over()) yield;
    const trail = { step: name, before: position.trail };
    const field = declared.get(name);
    if (field !== undefined) {
      const fields = position.fields === '' ? name : `${position.fields}.${name}`;
      yield* walk(field.schema, value[name] as Json, { trail, fields, struct, depth: position.depth }, context);
    } else if (context.unknown.length < MAX_ERRORS) {
      context.unknown.push(pathOf(trail));
    }
  }
}

const below = (position: Position, step: string | number): Position => ({
  ...position,
  trail: { step, before: position.trail },
});

function pathOf(trail: Trail | undefined): Path {
  const path: (string | number)[] = [];
  for (let last = trail; last !== undefined; last = last.before) path.push(last.step);
  return path.reverse();
}

function wrongType(schema: Schema, value: Json, position: Position): StatusError {
  const scalar = scalarOf(schema);
  const number = typeof value === 'number' || typeof value === 'bigint';
  const actualType = number && scalar?.numeric === true ? `number ${value}` : typeKind(value);
  const target =
    position.struct === ''
      ? 'Go value'
      : `Go struct field ${position.struct.slice(position.struct.lastIndexOf('.') + 1)}.${position.fields}`;
  return statusError.badRequest(
    `json: cannot unmarshal ${actualType} into ${target} of type ${scalar?.wrongTypeName ?? typeName(schema)}`,
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

/** A Go type as shown in messages: `map[string][]v1.Container`. */
function typeName(schema: Schema): string {
  switch (schema.type) {
    case 'list':
      return `[]${typeName(schema.element)}`;
    case 'map':
      return `map[string]${typeName(schema.value)}`;
    case 'lazy':
      return typeName(resolve(schema));
    case 'struct':
    case 'either':
      return shortName(schema.name);
    default:
      return scalars[schema.type].typeName;
  }
}

/** `v1.Container` of `core/v1.Container`. */
function shortName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
