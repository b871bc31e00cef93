/** OpenAPI v3 documents of extension API servers that have an OpenAPI v2 document only. */
import { definitionsPrefix, type OpenApiV2 } from '../../aggregation/index.ts';
import { parseAnyJsonInSteps } from '../../codec/index.ts';
import { isJsonObject, type Json, type JsonObject, Pace, type Steps, setKey } from '../../meta/index.ts';
import { objectsIn, type RemoteFields } from './openapi-remote.ts';

const methods: ReadonlySet<string> = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch']);

/** Maximum number of media types of an operation: the schema is repeated for each. */
const maxMediaTypes = 8;

/** The fields of an OpenAPI v3 document with the content of an OpenAPI v2 document. */
export function* convertedFields({ json }: OpenApiV2): Steps<RemoteFields> {
  const { value } = yield* parseAnyJsonInSteps(json);
  const { paths, definitions } = isJsonObject(value) ? value : {};
  const pace = new Pace();
  const convertedPaths: [string, JsonObject][] = [];
  for (const [path, item] of objectsIn(paths)) convertedPaths.push([path, yield* pathItem(item, pace)]);
  const schemas: [string, JsonObject][] = [];
  for (const [name, schema] of objectsIn(definitions)) schemas.push([name, yield* convertedSchema(schema, pace)]);
  return { paths: convertedPaths, schemas };
}

function* pathItem(item: JsonObject, pace: Pace): Steps<JsonObject> {
  const shared = objectsOf(item['parameters']);
  const converted: JsonObject = {};
  for (const [name, member] of Object.entries(item)) {
    if (methods.has(name) && isJsonObject(member)) setKey(converted, name, yield* operation(member, shared, pace));
    else if (name === 'parameters') setKey(converted, name, shared.flatMap(parameter));
    else if (name.startsWith('x-')) setKey(converted, name, member);
  }
  return converted;
}

/** `shared`: the parameters of all operations of the path. */
function* operation(value: JsonObject, shared: readonly JsonObject[], pace: Pace): Steps<JsonObject> {
  const { consumes, produces, schemes: _, security: __, parameters, responses, ...rest } = value;
  const own = objectsOf(parameters);
  const body = [...own, ...shared].find((one) => one['in'] === 'body');
  const converted: JsonObject = { ...rest };
  if (parameters !== undefined) converted['parameters'] = own.flatMap(parameter);
  if (body !== undefined) {
    const { description, required } = body;
    converted['requestBody'] = {
      ...(description === undefined ? {} : { description }),
      ...(yield* content(body, consumes, pace)),
      ...(required === undefined ? {} : { required }),
    };
  }
  const codes: JsonObject = {};
  for (const [code, response] of objectsIn(responses)) {
    const { schema: ___, headers: ____, examples: _____, ...about } = response;
    setKey(codes, code, { ...about, ...(yield* content(response, produces, pace)) });
  }
  converted['responses'] = codes;
  return converted;
}

/** The schema of a body for each of its media types; nothing without a schema. */
function* content({ schema }: JsonObject, types: Json | undefined, pace: Pace): Steps<JsonObject> {
  if (!isJsonObject(schema)) return {};
  const converted = yield* convertedSchema(schema, pace);
  const named = Array.isArray(types) ? types.filter((type) => typeof type === 'string').slice(0, maxMediaTypes) : [];
  const listed = named.length === 0 ? ['application/json'] : named;
  return { content: Object.fromEntries(listed.map((type) => [type, { schema: converted }])) };
}

/** A parameter whose type is in a schema; none for a body, a form or a reference. */
function parameter({ $ref, ...value }: JsonObject): JsonObject[] {
  const { name = '', in: place = '', description, required, collectionFormat: _, ...type } = value;
  if ($ref !== undefined || place === 'body' || place === 'formData') return [];
  const isExtension = ([key]: [string, Json]) => key.startsWith('x-');
  const about = Object.entries(type).filter(isExtension);
  const schema = Object.entries(type).filter((entry) => !isExtension(entry));
  return [
    {
      name,
      in: place,
      ...(description === undefined ? {} : { description }),
      ...(required === undefined ? {} : { required }),
      schema: Object.fromEntries(schema),
      ...Object.fromEntries(about),
    },
  ];
}

/** A schema whose references lead to components; one with other fields stands in `allOf` (OpenAPI 3.0, 4.7.23). */
function* convertedSchema(value: JsonObject, pace: Pace): Steps<JsonObject> {
  const members: JsonObject = {};
  for (const [name, member] of Object.entries(value)) setKey(members, name, yield* convertedValue(member, pace));
  const { $ref, ...others } = members;
  if (typeof $ref !== 'string' || !$ref.startsWith(definitionsPrefix)) return members;
  const target = { $ref: `#/components/schemas/${$ref.slice(definitionsPrefix.length)}` };
  return Object.keys(others).length === 0 ? target : { ...others, allOf: [target] };
}

function* convertedValue(value: Json, pace: Pace): Steps<Json> {
  if (pace.over()) yield;
  if (isJsonObject(value)) return yield* convertedSchema(value, pace);
  if (!Array.isArray(value)) return value;
  const items: Json[] = [];
  for (const item of value) items.push(yield* convertedValue(item, pace));
  return items;
}

const objectsOf = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
