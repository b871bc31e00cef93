import { describe, expect, it } from 'vitest';
import { atOnce, type Json, type JsonObject, setKey } from '../meta/index.ts';
import { encodeOpenApi, encodeOpenApi3, encodeOpenApi3Part, encodeOpenApiPart, parseYaml } from './index.ts';
import { type FieldType, type MessageName, messages as messagesV2 } from './openapi-messages.ts';
import { messagesV3 } from './openapi3-messages.ts';
import { FIXED64, Input, SIZED, VARINT } from './protobuf-wire.ts';

const none = { paths: [], definitions: [] };
const inAll = (buffers: readonly Buffer[]): number => Buffer.concat(buffers).length;

const partV2 = (...field: Parameters<typeof encodeOpenApiPart>): Buffer =>
  Buffer.concat(atOnce(encodeOpenApiPart(...field)));

const partV3 = (...field: Parameters<typeof encodeOpenApi3Part>): Buffer =>
  Buffer.concat(atOnce(encodeOpenApi3Part(...field)));

/** A document with its parts. */
function documentV2(rest: JsonObject, { paths, definitions }: { paths: Buffer[]; definitions: Buffer[] }): Buffer {
  const sizes = { paths: inAll(paths), definitions: inAll(definitions) };
  const [before, between, after] = encodeOpenApi(rest, sizes);
  return Buffer.concat([before, ...paths, between, ...definitions, after]);
}

function documentV3(
  rest: Parameters<typeof encodeOpenApi3>[0],
  components: JsonObject,
  { paths, schemas }: { paths: Buffer[]; schemas: Buffer[] },
): Buffer {
  const sizes = { paths: inAll(paths), schemas: inAll(schemas) };
  const [before, between, after] = encodeOpenApi3(rest, components, sizes);
  return Buffer.concat([before, ...paths, between, ...schemas, after]);
}

const messages = { ...messagesV2, ...messagesV3 };

/** A length-delimited field. */
const sized = (number: number, ...parts: (string | Buffer)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  // A length below 128 takes one byte, one below 16384 two.
  const length = body.length < 128 ? [body.length] : [(body.length & 127) | 128, body.length >> 7];
  const tag = number * 8 + 2;
  return Buffer.concat([Buffer.from([...(tag < 128 ? [tag] : [(tag & 127) | 128, tag >> 7]), ...length]), body]);
};
const bytes = (...values: number[]) => Buffer.from(values);

describe('an OpenAPI 2.0 document in protobuf', () => {
  it('has the field numbers of openapi.v2.Document', () => {
    const path = partV2('paths', '/a', {
      get: {
        operationId: 'readA',
        parameters: [
          { name: 'n', in: 'path', required: true, type: 'string', uniqueItems: true },
          { name: 'q', in: 'query', type: 'integer' },
          { name: 'body', in: 'body', schema: { $ref: '#/definitions/A' } },
        ],
        responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/A' } } },
        'x-action': 'get',
      },
    });
    const definition = partV2('definitions', 'A', {
      type: 'object',
      required: ['m'],
      properties: { m: { type: 'array', items: { type: 'string' }, default: ['x'], maxItems: 300 } },
      additionalProperties: false,
    });
    const document = documentV2(
      { security: [{ B: [] }], info: { title: 'T' }, swagger: '2.0' },
      { paths: [path], definitions: [definition] },
    );
    const ref = sized(1, '#/definitions/A');
    const parameters = [
      // ParametersItem.parameter, Parameter.non_body_parameter, NonBodyParameter.path_parameter_sub_schema;
      // required = 1, in = 2, name = 4, type = 5, unique_items = 19 (a varint: 19 << 3 is 152, two bytes).
      sized(
        8,
        sized(
          1,
          sized(2, sized(4, bytes(8, 1), sized(2, 'path'), sized(4, 'n'), sized(5, 'string'), bytes(0x98, 1, 1))),
        ),
      ),
      // NonBodyParameter.query_parameter_sub_schema: in = 2, name = 4, type = 6.
      sized(8, sized(1, sized(2, sized(3, sized(2, 'query'), sized(4, 'q'), sized(6, 'integer'))))),
      // Parameter.body_parameter: name = 2, in = 3, schema = 5.
      sized(8, sized(1, sized(1, sized(2, 'body'), sized(3, 'body'), sized(5, ref)))),
    ];
    // Operation.responses = 9, Responses.response_code = 1, ResponseValue.response = 1: description = 1, schema = 2.
    const answer = sized(1, sized(1, '200'), sized(2, sized(1, sized(1, 'OK'), sized(2, sized(1, ref)))));
    // Operation.vendor_extension = 13: a NamedAny, whose value is YAML (Any.yaml = 2).
    const action = sized(13, sized(1, 'x-action'), sized(2, sized(2, 'get\n')));
    const get = sized(2, sized(5, 'readA'), ...parameters, sized(9, answer), action);
    const m = [
      sized(5, sized(2, '- x\n')), // default
      bytes(14 * 8, 0xac, 2), // max_items: 300 is 0x12c, so 0x2c with more to come, then 2
      sized(22, sized(1, 'array')), // type
      sized(23, sized(1, sized(22, sized(1, 'string')))), // items
    ];
    const A = [
      sized(19, 'm'), // required
      sized(21, bytes(2 * 8, 0)), // additional_properties: one of its fields is set, so that false is written
      sized(22, sized(1, 'object')),
      sized(25, sized(1, sized(1, 'm'), sized(2, ...m))), // properties
    ];
    const expected = Buffer.concat([
      sized(1, '2.0'), // swagger
      sized(2, sized(1, 'T')), // info
      sized(8, sized(2, sized(1, '/a'), sized(2, get))), // paths
      sized(9, sized(1, sized(1, 'A'), sized(2, ...A))), // definitions
      sized(12, sized(1, sized(1, 'B'), sized(2, ''))), // security
    ]);
    expect(document.toString('hex')).toBe(expected.toString('hex'));
  });

  it('concatenates the pieces of a part', () => {
    const [a, b] = ['a', 'b'].map((name) => partV2('definitions', name, { title: name })) as [Buffer, Buffer];
    const document = documentV2({}, { ...none, definitions: [a, b] });
    expect(document).toEqual(Buffer.concat([sized(8), sized(9, a, b)]));
  });

  it('decodes to the encoded document', () => {
    const rest = {
      swagger: '2.0',
      info: { title: 'Tö', version: '1', contact: { email: 'a@b' }, license: { name: 'L', 'x-l': null } },
      host: 'h',
      basePath: '/b',
      schemes: ['https', ''],
      parameters: { p: { name: 'p', in: 'header', type: 'number', maximum: -1.5, enum: [1, 0, 'x', false] } },
      responses: { r: { description: 'R', headers: { h: { type: 'string' } }, examples: { 'a/b': { c: [1, 2] } } } },
      security: [{ b: [], o: ['s', 't'] }, {}],
      securityDefinitions: {
        a: { type: 'basic' },
        b: { type: 'apiKey', name: 'n', in: 'header' },
        c: { type: 'oauth2', flow: 'implicit', scopes: { s: 'S' }, authorizationUrl: 'u' },
        d: { type: 'oauth2', flow: 'password', tokenUrl: 't' },
        e: { type: 'oauth2', flow: 'application', tokenUrl: 't' },
        f: { type: 'oauth2', flow: 'accessCode', authorizationUrl: 'u', tokenUrl: 't' },
      },
      tags: [{ name: 't', externalDocs: { url: 'u' } }],
      'x-any': { text: 'true', lines: 'a\nb\n', odd: 'null\u0085', list: [[], {}, 1.5, -2, null] },
    };
    const path = {
      parameters: [{ $ref: '#/parameters/p' }, { name: 'f', in: 'formData', type: 'array', items: { type: 'string' } }],
      delete: {
        deprecated: true,
        tags: ['t'],
        responses: {
          default: { $ref: '#/responses/r' },
          200: { description: 'f', schema: { type: 'file' } },
          'x-r': 1,
        },
      },
      'x-path': false,
    };
    const schema: JsonObject = {
      description: 'd'.repeat(70_000),
      type: ['string', 'null'],
      allOf: [{ format: 'f' }, {}],
      additionalProperties: { pattern: '^a', minLength: 1, maxLength: 2 ** 40 },
      multipleOf: 0.5,
      readOnly: true,
      xml: { name: 'x', wrapped: true },
      example: '',
    };
    const properties = {};
    for (const name of ['__proto__', 'constructor', 'x-own', '']) setKey(properties, name, { title: name || 'none' });
    schema['properties'] = properties;
    const document = documentV2(rest, {
      paths: [partV2('paths', '/p', path)],
      definitions: [partV2('definitions', '__proto__', schema), partV2('definitions', 'S', {})],
    });
    const definitions = { S: {} };
    setKey(definitions, '__proto__', schema);
    expect(read(new Input(document), 'Document')).toEqual({ ...rest, paths: { '/p': path }, definitions });
  });

  it('omits scalars of zero value', () => {
    const zeros = { required: false, in: 'query', name: '', allowEmptyValue: false, minimum: 0, minLength: 0 };
    const document = documentV2({ parameters: { '': zeros } }, none);
    const query = sized(3, sized(2, 'query'));
    expect(document).toEqual(Buffer.concat([sized(8), sized(9), sized(10, sized(1, sized(2, sized(2, query))))]));
  });
});

it('is the same in steps, each of which is short, for a field of many values', () => {
  const text = { type: 'string', description: 'some text' };
  const many = (count: number, value: Json) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, value]));
  const large: JsonObject = {
    type: 'object',
    properties: { ...many(400, text), deep: { type: 'object', properties: many(350, text) } },
    required: Object.keys(many(1_200, '')),
    enum: [many(1_100, 1), '', 0],
    allOf: [{ properties: many(350, text) }, {}, { $ref: 'x' }],
    additionalProperties: { properties: many(350, text) },
    'x-any': many(1_100, 1),
  };
  for (const [steps, message] of [
    [encodeOpenApiPart('definitions', 'L', large), 'Definitions'],
    [encodeOpenApi3Part('schemas', 'L', large), 'v3.SchemasOrReferences'],
  ] as const) {
    let count = 0;
    const counted = (function* () {
      for (;;) {
        const step = steps.next();
        if (step.done === true) return step.value;
        count++;
        yield;
      }
    })();
    const bytes = Buffer.concat(atOnce(counted));
    expect(read(new Input(bytes), message)).toEqual({ L: large });
    expect(count).toBeGreaterThan(1_500);
  }
});

describe('an OpenAPI 3.0 document in protobuf', () => {
  const reference = { $ref: '#/components/schemas/A' };
  const A: JsonObject = {
    type: 'object',
    required: ['m'],
    properties: {
      m: { type: 'array', items: { allOf: [reference], default: 'x' }, maxItems: 300 },
      n: { type: 'integer', format: 'int32', default: 0, minimum: 1.5 },
      o: { oneOf: [{ type: 'integer' }, { type: 'string' }], nullable: true, default: false },
      p: { additionalProperties: reference, enum: ['a', 1] },
    },
    additionalProperties: false,
    'x-group-version-kind': [{ group: '', kind: 'A', version: 'v1' }],
  };
  const content = { 'application/json': { schema: reference } };
  const path: JsonObject = {
    parameters: [{ name: 'n', in: 'path', required: true, schema: { type: 'string', uniqueItems: true } }],
    post: {
      tags: ['t'],
      operationId: 'createA',
      requestBody: { required: true, content },
      responses: { 201: { description: 'Created', content }, 401: { description: 'Unauthorized' } },
      'x-action': 'post',
    },
  };
  const rest = { openapi: '3.0.0', info: { title: 'T', version: '1' } };
  const securitySchemes = { B: { type: 'apiKey', name: 'authorization', in: 'header' } };

  it('has the field numbers of openapi.v3.Document', () => {
    const parts = { paths: [partV3('paths', '/a', { get: { operationId: 'readA' } })], schemas: [] };
    const document = documentV3({ ...rest, info: { title: 'T' } }, {}, parts);
    const expected = Buffer.concat([
      sized(1, '3.0.0'), // openapi
      sized(2, sized(1, 'T')), // info
      // paths: Paths.path = 1, PathItem.get = 4, Operation.operation_id = 5
      sized(4, sized(1, sized(1, '/a'), sized(2, sized(4, sized(5, 'readA'))))),
      sized(5, sized(1)), // components: schemas = 1
    ]);
    expect(document.toString('hex')).toBe(expected.toString('hex'));
    // SchemasOrReferences.additional_properties = 1, SchemaOrReference.reference = 2; Schema.type = 25, .default = 33
    const schema = sized(1, sized(1, 'B'), sized(2, sized(1, sized(25, 'string'), sized(33, sized(3, 'x')))));
    expect(partV3('schemas', 'B', { type: 'string', default: 'x' })).toEqual(schema);
    expect(partV3('schemas', 'R', { $ref: 'r' })).toEqual(sized(1, sized(1, 'R'), sized(2, sized(2, sized(1, 'r')))));
  });

  it('decodes to the encoded document', () => {
    const document = documentV3(
      rest,
      { securitySchemes },
      { paths: [partV3('paths', '/a', path)], schemas: [partV3('schemas', 'A', A)] },
    );
    const components = { schemas: { A }, securitySchemes };
    expect(read(new Input(document), 'v3.Document')).toEqual({ ...rest, paths: { '/a': path }, components });
  });

  it('omits a default that is an object', () => {
    const [plain, other] = [{ type: 'object' }, { type: 'object', default: {} }].map((schema) =>
      read(new Input(partV3('schemas', 'A', schema)), 'v3.SchemasOrReferences'),
    );
    expect(plain).toEqual({ A: { type: 'object' } });
    expect(other).toEqual({ A: { type: 'object', default: undefined } });
  });
});

/** Decodes a message to the names of its fields. */
function read(input: Input, name: MessageName): Json {
  const message = messages[name];
  if (typeof message === 'function') return readChoice(input, name);
  const value: JsonObject = {};
  while (input.at < input.end) {
    const key = input.key();
    const number = key >>> 3;
    const [field, [, shape]] = Object.entries(message.fields).find(([, [n]]) => n === number) ?? ['', [0, '']];
    if (field === '') {
      const [n, type] = message.entries ?? [0, 'Any' as const];
      const outer = input.enter();
      const [pairName, inner] = readPair(input, n === number ? type : 'Any');
      expect([n, message.extensions]).toContain(number);
      input.leave(outer);
      setKey(value, pairName, inner);
    } else if (shape.endsWith('[]')) {
      value[field] = [...((value[field] as Json[]) ?? []), readOne(input, key, shape.slice(0, -2) as FieldType)];
    } else value[field] = readOne(input, key, shape as FieldType);
  }
  return value;
}

/** Decodes a message of which one field is set (oneof), or a list. */
function readChoice(input: Input, name: MessageName): Json {
  const found: Json[] = [];
  while (input.at < input.end) {
    const key = input.key();
    found.push(readOne(input, key, choices[`${name} ${key >>> 3}`] as FieldType));
  }
  const [first] = found;
  return name.endsWith('StringArray') || (name === 'TypeItem' && found.length > 1) ? found : (first as Json);
}

const choices: { readonly [messageAndNumber: string]: FieldType } = {
  'AdditionalPropertiesItem 1': 'Schema',
  'AdditionalPropertiesItem 2': 'bool',
  'ItemsItem 1': 'Schema',
  'NonBodyParameter 1': 'HeaderParameterSubSchema',
  'NonBodyParameter 2': 'FormDataParameterSubSchema',
  'NonBodyParameter 3': 'QueryParameterSubSchema',
  'NonBodyParameter 4': 'PathParameterSubSchema',
  'Parameter 1': 'BodyParameter',
  'Parameter 2': 'NonBodyParameter',
  'ParametersItem 1': 'Parameter',
  'ParametersItem 2': 'JsonReference',
  'ResponseValue 1': 'Response',
  'ResponseValue 2': 'JsonReference',
  'SchemaItem 1': 'Schema',
  'SchemaItem 2': 'FileSchema',
  'SecurityDefinitionsItem 1': 'BasicAuthenticationSecurity',
  'SecurityDefinitionsItem 2': 'ApiKeySecurity',
  'SecurityDefinitionsItem 3': 'Oauth2ImplicitSecurity',
  'SecurityDefinitionsItem 4': 'Oauth2PasswordSecurity',
  'SecurityDefinitionsItem 5': 'Oauth2ApplicationSecurity',
  'SecurityDefinitionsItem 6': 'Oauth2AccessCodeSecurity',
  'StringArray 1': 'string',
  'TypeItem 1': 'string',
  'v3.AdditionalPropertiesItem 1': 'v3.SchemaOrReference',
  'v3.AdditionalPropertiesItem 2': 'bool',
  'v3.DefaultType 1': 'double',
  'v3.DefaultType 2': 'bool',
  'v3.DefaultType 3': 'string',
  'v3.ItemsItem 1': 'v3.SchemaOrReference',
  'v3.ParameterOrReference 1': 'v3.Parameter',
  'v3.ParameterOrReference 2': 'v3.Reference',
  'v3.RequestBodyOrReference 1': 'v3.RequestBody',
  'v3.RequestBodyOrReference 2': 'v3.Reference',
  'v3.ResponseOrReference 1': 'v3.Response',
  'v3.ResponseOrReference 2': 'v3.Reference',
  'v3.SchemaOrReference 1': 'v3.Schema',
  'v3.SchemaOrReference 2': 'v3.Reference',
  'v3.SecuritySchemeOrReference 1': 'v3.SecurityScheme',
  'v3.SecuritySchemeOrReference 2': 'v3.Reference',
  'v3.StringArray 1': 'string',
};

function readPair(input: Input, type: FieldType): [name: string, value: Json] {
  let [name, value]: [string, Json] = ['', null];
  while (input.at < input.end) {
    const key = input.key();
    if (key >>> 3 === 1) name = readOne(input, key, 'string') as string;
    else value = readOne(input, key, type);
  }
  return [name, value];
}

function readOne(input: Input, key: number, type: FieldType): Json {
  const wire = type === 'bool' || type === 'int64' ? VARINT : type === 'double' ? FIXED64 : SIZED;
  expect(key & 7).toBe(wire);
  if (type === 'bool') return input.bool();
  if (type === 'int64') return input.int64();
  if (type === 'double') return input.double();
  const outer = input.enter();
  const value = type === 'string' ? input.text() : type === 'Any' ? readAny(input) : read(input, type);
  input.leave(outer);
  return value;
}

function readAny(input: Input): Json {
  expect(input.key()).toBe(2 * 8 + SIZED);
  return parseYaml(Buffer.from(readText(input))).value;
}

function readText(input: Input): string {
  const outer = input.enter();
  const text = input.text();
  input.leave(outer);
  return text;
}
