import { isJsonObject, type JsonObject, type Names, Pace, type Steps, setKey } from '../../meta/index.ts';
import { openApiName } from '../../schema/index.ts';
import { describe } from '../../types/descriptions.ts';
import { ObjectMeta } from '../../types/meta-v1.ts';
import type { Structural } from '../structural.ts';

type Dialect = 'v2' | 'v3';

/** The schema of a version as OpenAPI documents publish it, without the extension that names its kind. */
export function* openApiOf(structural: Structural, dialect: Dialect, names: Names): Steps<JsonObject> {
  // Clients would refuse what a root that keeps unknown fields does not declare.
  if (dialect === 'v2' && structural.preserveUnknownFields) return { type: 'object' };
  const schema = yield* publish(structural, { dialect, names, pace: new Pace() });
  addTypeFields(schema, dialect, names);
  return schema;
}

interface Publisher {
  readonly dialect: Dialect;
  readonly names: Names;
  readonly pace: Pace;
}

/** The result shares what lies below the keywords with the definition. */
function* publish(structural: Structural, publisher: Publisher): Steps<JsonObject> {
  const { dialect, names, pace } = publisher;
  if (pace.over()) yield;
  const { properties, items, additionalProperties: values, embeddedResource, preserveUnknownFields } = structural;
  const { properties: _, items: __, additionalProperties: ___, ...schema } = structural.schema;
  // Version 2 has no nullable values, and clients reject unknown fields next to declared ones.
  const nullable = dialect === 'v2' && structural.nullable;
  const unknown = dialect === 'v2' && preserveUnknownFields;
  if (dialect === 'v2') reduce(schema, structural);
  else if (structural.intOrString && !namesBothTypes(schema))
    schema['anyOf'] = [{ type: 'integer' }, { type: 'string' }];
  if (properties.size > 0 && !nullable && !unknown) {
    const published: JsonObject = {};
    for (const [name, property] of properties) setKey(published, name, yield* publish(property, publisher));
    schema['properties'] = published;
  }
  if (items !== undefined && !nullable && !unknown) schema['items'] = yield* publish(items, publisher);
  if (values !== undefined) schema['additionalProperties'] = values === true ? true : yield* publish(values, publisher);
  if (embeddedResource && !unknown) {
    addTypeFields(schema, dialect, names);
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    schema['required'] = [...new Set([...required, 'kind', 'apiVersion'])];
  }
  return schema;
}

/** Whether the definition of an integer or text names both types itself, in either of the two places. */
const namesBothTypes = ({ anyOf, allOf }: JsonObject): boolean =>
  anyOf !== undefined ||
  (Array.isArray(allOf) && allOf.some((part) => isJsonObject(part) && part['anyOf'] !== undefined));

/** Removes what version 2 or its clients cannot express; the server sets defaults. */
function reduce(schema: JsonObject, structural: Structural): void {
  const { nullable, preserveUnknownFields, items, properties, additionalProperties: values } = structural;
  for (const key of ['allOf', 'anyOf', 'oneOf', 'not', 'nullable', 'default']) delete schema[key];
  const untyped = schema['type'] === 'array' ? items === undefined || preserveUnknownFields : preserveUnknownFields;
  if (nullable || (untyped && (schema['type'] === 'array' || schema['type'] === 'object'))) delete schema['type'];
  const { required } = schema;
  if (!Array.isArray(required)) return;
  const valuesAreNullable = typeof values === 'object' && values.nullable;
  const requiredNames = valuesAreNullable
    ? []
    : required.filter((name) => properties.get(name as string)?.nullable !== true);
  if (requiredNames.length === 0) delete schema['required'];
  else schema['required'] = requiredNames;
}

function addTypeFields(schema: JsonObject, dialect: Dialect, names: Names): void {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const name = openApiName(ObjectMeta.name, names);
  const $ref = `#/${dialect === 'v2' ? 'definitions' : 'components/schemas'}/${name}`;
  const description = (field: string) => describe('meta/v1.TypeMeta', field) ?? '';
  schema['properties'] = {
    ...properties,
    apiVersion: { description: description('apiVersion'), type: 'string' },
    kind: { description: description('kind'), type: 'string' },
    metadata: { description: description('metadata'), ...(dialect === 'v2' ? { $ref } : { allOf: [{ $ref }] }) },
  };
}
