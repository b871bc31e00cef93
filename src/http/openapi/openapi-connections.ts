/** Operations of subresources that pass requests on to a node or to what runs on it. */
import type { Names } from '../../meta/index.ts';
import type { ConnectSubresource } from '../../registry/index.ts';
import { type Describe, fieldName, resolve, type StructSchema } from '../../schema/index.ts';
import {
  capital,
  type Dialect,
  type Operation,
  type Parameter,
  type QueryType,
  typedParameter,
} from './openapi-operations.ts';

/** The parts that the operations of a resource's connections share. */
export interface ConnectedResource {
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  /** The group, version and scope in operation ids: `CoreV1`, `Namespaced`. */
  readonly word: string;
  readonly namespaced: string;
  readonly produces: readonly string[];
}

const methodsOf = {
  text: ['get'],
  upgrade: ['get', 'post'],
  proxy: ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'],
} as const;

/** `suffix`: the last word of the operation ids of a path. */
export function connectOperations(
  { kind, word, namespaced, produces }: ConnectedResource,
  { name, kind: options, connect: { answers } }: ConnectSubresource,
  suffix = '',
): Operation[] {
  const subject = `${namespaced}${kind.kind}${capital(name)}${suffix}`;
  const isText = answers === 'text';
  return methodsOf[answers].map((method) => ({
    method,
    id: isText ? `read${word}${subject}` : `connect${word}${capital(method)}${subject}`,
    action: isText ? 'get' : 'connect',
    description: isText
      ? `read ${name} of the specified ${kind.kind}`
      : `connect ${method.toUpperCase()} requests to ${name} of ${kind.kind}`,
    kind: { ...kind, kind: options },
    query: [],
    consumes: ['*/*'],
    produces: isText ? ['text/plain', ...produces] : ['*/*'],
    codes: [200],
  }));
}

/** The query parameters that the fields of an options type are. */
export function optionParameters(
  schema: StructSchema,
  { names, describe, dialect }: { readonly names: Names; readonly describe: Describe; readonly dialect: Dialect },
): Parameter[] {
  const fields = Object.entries(schema.fields).filter(([declared]) => declared !== 'apiVersion' && declared !== 'kind');
  return fields.map(([declared, field]) =>
    typedParameter(fieldName(schema, declared, names), queryType(resolve(field.schema)), dialect, {
      description: describe(schema.name, declared) ?? declared,
    }),
  );
}

/** A list is a parameter that may be repeated. */
function queryType(schema: ReturnType<typeof resolve>): QueryType {
  if (schema.type === 'list') return queryType(resolve(schema.element));
  if (schema.type === 'bool') return 'boolean';
  return schema.type === 'int32' || schema.type === 'int64' ? 'integer' : 'string';
}
