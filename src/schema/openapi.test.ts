import { describe, expect, it } from 'vitest';
import { at, namesFor } from '../meta/index.ts';
import {
  anyObject,
  anyValue,
  bool,
  bytes,
  double,
  either,
  type FieldOptions,
  field,
  int32,
  int64,
  intOrString,
  type LazySchema,
  lazy,
  list,
  map,
  named,
  openApiName,
  openApiSchemas,
  quantity,
  type Schema,
  type StructSchema,
  string,
  struct,
  time,
} from './index.ts';

const k8s = namesFor('k8s.io');

const Port = struct('core/v1.ContainerPort', {
  containerPort: field(3, int32, { required: true, always: true }),
  protocol: field(4, string, { default: 'TCP', known: ['TCP', 'UDP', 'SCTP'] }),
});

/** How a field of the schema is shown. */
const shown = (dialect: 'v2' | 'v3', schema: Schema, options: FieldOptions = {}, text?: string) => {
  const One = struct('core/v1.One', { it: field(1, schema, options) });
  const one = openApiSchemas([One], {
    names: k8s,
    dialect,
    describe: (_, field) => (field === 'it' ? text : undefined),
  })['io.k8s.api.core.v1.One'];
  return at(one, 'properties', 'it');
};

describe('names of types', () => {
  it.each([
    ['core/v1.Pod', 'io.k8s.api.core.v1.Pod'],
    ['rbac/v1.Role', 'io.k8s.api.rbac.v1.Role'],
    ['meta/v1.ObjectMeta', 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'],
    ['apiextensions/v1.JSONSchemaProps', 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps'],
    ['apiregistration/v1.APIService', 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService'],
    ['stable.example.com/v1.CronTab', 'com.example.stable.v1.CronTab'],
  ])('%s is %s', (type, name) => {
    expect(openApiName(type, k8s)).toBe(name);
  });

  it('start with the configured domain', () => {
    expect(openApiName('core/v1.Pod', namesFor('orch.io'))).toBe('io.orch.api.core.v1.Pod');
  });
});

describe('a field', () => {
  it.each<[Schema, object, object]>([
    [string, { type: 'string' }, { type: 'string' }],
    [bool, { type: 'boolean' }, { type: 'boolean' }],
    [int32, { type: 'integer', format: 'int32' }, { type: 'integer', format: 'int32' }],
    [int64, { type: 'integer', format: 'int64' }, { type: 'integer', format: 'int64' }],
    [double, { type: 'number', format: 'double' }, { type: 'number', format: 'double' }],
    [bytes, { type: 'string', format: 'byte' }, { type: 'string', format: 'byte' }],
    [anyValue, { description: 'Any value.' }, { description: 'Any value.' }],
    [
      anyObject,
      { $ref: '#/definitions/io.k8s.apimachinery.pkg.runtime.RawExtension' },
      { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.runtime.RawExtension' },
    ],
    [
      named('meta/v1.FieldsV1', anyObject),
      { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1' },
      { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1' },
    ],
    [
      map(string),
      { type: 'object', additionalProperties: { type: 'string' } },
      { type: 'object', additionalProperties: { type: 'string', default: '' } },
    ],
    [
      time,
      { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Time' },
      { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Time' },
    ],
  ])('has its type (%#)', (schema, v2, v3) => {
    expect(shown('v2', schema)).toEqual(v2);
    expect(shown('v3', schema)).toEqual(v3);
  });

  it('has the merge extensions, as recorded', () => {
    expect(
      shown('v3', list(Port), {
        listType: 'map',
        listMapKeys: ['containerPort', 'protocol'],
        patchStrategy: 'merge',
        patchMergeKey: 'containerPort',
      }),
    ).toEqual({
      items: { $ref: '#/components/schemas/io.k8s.api.core.v1.ContainerPort' },
      type: 'array',
      'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'containerPort',
      'x-kubernetes-patch-strategy': 'merge',
    });
  });

  it('wraps a reference with siblings in allOf, in v3 alone', () => {
    expect(shown('v3', Port, {}, 'The port.')).toEqual({
      allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.ContainerPort' }],
      default: {},
      description: 'The port.',
    });
    expect(shown('v3', Port, { nullable: true })).toEqual({
      $ref: '#/components/schemas/io.k8s.api.core.v1.ContainerPort',
    });
    expect(shown('v2', Port, {}, 'The port.')).toEqual({
      $ref: '#/definitions/io.k8s.api.core.v1.ContainerPort',
      description: 'The port.',
    });
  });

  it('lists its supported values, and none when it is open', () => {
    expect(shown('v3', string, { known: ['b', 'a'] })).toEqual({ type: 'string', enum: ['a', 'b'] });
    expect(shown('v3', list(string), { known: ['b', 'a'] })).toEqual({
      type: 'array',
      items: { type: 'string', default: '', enum: ['a', 'b'] },
    });
    expect(shown('v2', map(string), { known: ['b', 'a'] })).toEqual({
      type: 'object',
      additionalProperties: { type: 'string', enum: ['a', 'b'] },
    });
    expect(shown('v3', string, { known: ['a'], open: true })).toEqual({ type: 'string' });
  });

  it('says whether it lists them', () => {
    expect(shown('v3', string, { known: ['a'], open: true, enum: true })).toEqual({ type: 'string', enum: ['a'] });
    expect(shown('v3', string, { known: ['a'], enum: false })).toEqual({ type: 'string' });
  });

  it('has the zero value of plain items of a list and plain values of a map in version 3', () => {
    const port = 'io.k8s.api.core.v1.ContainerPort';
    expect(shown('v3', list(Port))).toEqual({
      type: 'array',
      items: { $ref: `#/components/schemas/${port}` },
    });
    expect(shown('v3', map(int32))).toEqual({
      type: 'object',
      additionalProperties: { type: 'integer', format: 'int32', default: 0 },
    });
    expect(shown('v3', list(quantity))).toEqual({
      type: 'array',
      items: { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity' },
    });
    expect(shown('v2', list(Port))).toEqual({ type: 'array', items: { $ref: `#/definitions/${port}` } });
  });
});

describe('a struct', () => {
  const Pod = struct('core/v1.Pod', {
    kind: field(0, string),
    spec: field(2, struct('core/v1.PodSpec', { ports: field(1, list(Port)), cpu: field(2, quantity) })),
  });

  it('includes all referenced schemas', () => {
    expect(Object.keys(openApiSchemas([Pod], { names: k8s, dialect: 'v3' }))).toEqual([
      'io.k8s.api.core.v1.ContainerPort',
      'io.k8s.api.core.v1.Pod',
      'io.k8s.api.core.v1.PodSpec',
      'io.k8s.apimachinery.pkg.api.resource.Quantity',
    ]);
  });

  it('has required fields, defaults and the kinds that it is served as', () => {
    const kinds = [{ group: '', version: 'v1', kind: 'Pod' }];
    const describe = (type: string, field = '') => `${type}.${field} of {domain}`;
    const schemas = openApiSchemas([Pod], {
      names: k8s,
      dialect: 'v3',
      kindsOf: (schema) => (schema === Pod ? kinds : []),
      describe,
    });
    expect(schemas['io.k8s.api.core.v1.Pod']).toMatchObject({ 'x-kubernetes-group-version-kind': kinds });
    expect(schemas['io.k8s.api.core.v1.PodSpec']).not.toHaveProperty(['x-kubernetes-group-version-kind']);
    expect(schemas['io.k8s.api.core.v1.ContainerPort']).toEqual({
      description: 'core/v1.ContainerPort. of k8s.io',
      type: 'object',
      required: ['containerPort'],
      properties: {
        containerPort: {
          description: 'core/v1.ContainerPort.containerPort of k8s.io',
          type: 'integer',
          format: 'int32',
          default: 0,
        },
        protocol: {
          description: 'core/v1.ContainerPort.protocol of k8s.io',
          type: 'string',
          default: 'TCP',
          enum: ['SCTP', 'TCP', 'UDP'],
        },
      },
    });
  });

  it('says which field names the one of its others that is set', () => {
    const Profile = struct(
      'core/v1.Profile',
      { type: field(1, string), localhostProfile: field(2, string) },
      { union: { discriminator: 'type', members: ['localhostProfile'] } },
    );
    expect(openApiSchemas([Profile], { names: k8s, dialect: 'v2' })['io.k8s.api.core.v1.Profile']).toMatchObject({
      'x-kubernetes-unions': [
        { discriminator: 'type', 'fields-to-discriminateBy': { localhostProfile: 'LocalhostProfile' } },
      ],
    });
  });

  it('may be recursive and have alternatives', () => {
    const self: LazySchema = lazy(() => Props);
    const Props: StructSchema = struct(
      'apiextensions/v1.JSONSchemaProps',
      {
        not: field(1, self, { nullable: true }),
        items: field(2, either<Schema>('apiextensions/v1.OrArray', self, list(self)), { nullable: true }),
        'x-{product}-int-or-string': field(3, intOrString, { nullable: true }),
      },
      { structType: 'atomic' },
    );
    const prefix = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.';
    const describe = (_: string, field = '') => (field.startsWith('x-') ? `Declared as ${field}.` : undefined);
    const schemas = openApiSchemas([Props], { names: k8s, dialect: 'v2', describe });
    expect(schemas[`${prefix}JSONSchemaProps`]).toMatchObject({
      'x-kubernetes-map-type': 'atomic',
      properties: {
        not: { $ref: `#/definitions/${prefix}JSONSchemaProps` },
        items: { $ref: `#/definitions/${prefix}OrArray` },
        'x-kubernetes-int-or-string': {
          $ref: '#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString',
          description: 'Declared as x-kubernetes-int-or-string.',
        },
      },
    });
    expect(schemas[`${prefix}OrArray`]).toEqual({});
  });
});
