import { describe, expect, it } from 'vitest';
import {
  type ApiObject,
  atOnce,
  defaultFeatures,
  type FieldError,
  type JsonObject,
  namesFor,
} from '../../meta/index.ts';
import {
  AgeCell,
  type CustomStorage,
  type ProjectionSubresource,
  type ResourceDefinition,
  type ResourceVersion,
  type WriteContext,
} from '../../registry/index.ts';
import type { CustomResourceDefinition } from '../../types/apiextensions-v1.ts';
import { type CustomResourceOptions, customResources } from './custom-resource.ts';

const names = namesFor('k8s.io');
const published = (version: ResourceVersion | undefined, dialect: 'v2' | 'v3'): JsonObject =>
  version?.openApi === undefined ? {} : atOnce(version.openApi(dialect));
const options = { names, features: defaultFeatures };
const warnings = new Set<string>();
const context: WriteContext = {
  names,
  now: 0,
  requester: { username: 'u', groups: [] } as unknown as WriteContext['requester'],
  warn: (text) => void warnings.add(text),
};
const string = { type: 'string' };
const status = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const gadgetSpec = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer', minimum: 1, maximum: 10 },
    color: { ...string, enum: ['red', 'blue'], default: 'red' },
    name: { ...string, pattern: '^[a-z]+$', maxLength: 5 },
    when: { ...string, format: 'date-time' },
    tags: { type: 'array', items: string, 'x-kubernetes-list-type': 'set', maxItems: 3 },
    parts: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['id'],
      items: { type: 'object', required: ['id'], properties: { id: string, n: { type: 'number' } } },
    },
    ios: { 'x-kubernetes-int-or-string': true },
  },
};

function definitionOf(version: object, schema: object = { type: 'object', properties: { spec: gadgetSpec, status } }) {
  return {
    spec: {
      group: 'ref.example.com',
      scope: 'Namespaced',
      names: { plural: 'gadgets', kind: 'Gadget', singular: 'gadget', shortNames: ['gad'] },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version },
        { name: 'v1beta1', served: true, deprecated: true, schema: { openAPIV3Schema: schema } },
      ],
    },
  } as CustomResourceDefinition;
}

const scale = {
  specReplicasPath: '.spec.size',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
};
const full = definitionOf({
  subresources: { status: {}, scale },
  additionalPrinterColumns: [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Color', type: 'string', jsonPath: '.spec.color', priority: 1 },
    { name: 'When', type: 'date', jsonPath: '.spec.when' },
  ],
  selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.size' }],
});
const resourceOf = (definition = full, more: Partial<CustomResourceOptions> = {}) =>
  customResources(definition, { ...options, ...more }).get('v1') as ResourceDefinition;
const gadgets = resourceOf();

const gadget = (spec: JsonObject, more: JsonObject = {}): ApiObject => ({
  apiVersion: 'ref.example.com/v1',
  kind: 'Gadget',
  metadata: { name: 'g', namespace: 'ns' },
  spec,
  ...more,
});
const stored = (spec: JsonObject, more: JsonObject = {}): ApiObject => {
  const object = gadget(spec, more);
  return { ...object, metadata: { ...object.metadata, resourceVersion: '1', generation: 1 } };
};
const shown = (errors: readonly FieldError[] = []) => errors.map(({ field, message }) => `${field}: ${message}`).sort();
/** With the errors of the rules. */
const validated = (
  object: ApiObject,
  old: ApiObject | undefined,
  resource: ResourceDefinition,
  part: 'whole' | 'status' = 'whole',
) => {
  const steps = resource.strategy.validateInSteps?.(object, old, context, { found: [], part });
  return shown(steps && atOnce(steps));
};
const created = (object: ApiObject, resource = gadgets) => validated(object, undefined, resource);
const updated = (object: ApiObject, old: ApiObject, resource = gadgets) => validated(object, old, resource);

describe('validation of custom objects, as the reference server answers', () => {
  it('many errors', () => {
    const spec = { size: 0, color: 'green', name: 'TOOLONGNAME', when: 'yesterday', tags: ['a', 'a'], ios: true };
    expect(created(gadget(spec))).toEqual([
      'spec.color: Unsupported value: "green": supported values: "red", "blue"',
      'spec.ios: Invalid value: "boolean": spec.ios in body must be of type integer,string: "boolean"',
      'spec.name: Too long: may not be more than 5 bytes',
      'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
      'spec.tags[1]: Duplicate value: "a"',
      'spec.when: Invalid value: "yesterday": spec.when in body must be of type date-time: "yesterday"',
    ]);
  });

  it('wrong type, which the scale cannot read either', () => {
    expect(created(gadget({ size: '1' }))).toEqual([
      '.spec.size: Invalid value: 0: .spec.size accessor error: 1 is of the type string, expected int64',
      'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
    ]);
    expect(created(gadget({ size: 1.5 }))).toEqual([
      '.spec.size: Invalid value: 0: .spec.size accessor error: 1.5 is of the type float64, expected int64',
      '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.size',
      'spec.size: Invalid value: "number": spec.size in body must be of type integer: "number"',
    ]);
    const [scale] = created(gadget({ size: [{ b: null, a: 1 }, 'x'] }));
    const size = '[map[a:1 b:<nil>] x] is of the type []interface {}, expected int64';
    expect(scale).toBe(`.spec.size: Invalid value: 0: .spec.size accessor error: ${size}`);
  });

  it('required fields and keys of lists', () => {
    expect(created(gadget({}))).toEqual(['spec.size: Required value']);
    expect(created(gadget({ size: 1, parts: [{ id: 'a' }, { id: 'a' }] }))).toEqual([
      'spec.parts[1]: Duplicate value: {"id":"a"}',
    ]);
  });
});

describe('updates of custom objects', () => {
  it('an unchanged invalid value is accepted while CRDValidationRatcheting is on', () => {
    const old = stored({ size: 99, tags: ['a', 'a'] });
    const changed = stored({ size: 99, tags: ['a', 'a'], color: 'blue' });
    const strict = resourceOf(full, { features: { ...defaultFeatures, CRDValidationRatcheting: false } });
    expect(updated(changed, old)).toEqual([]);
    expect(updated(changed, old, strict)).toEqual([
      'spec.size: Invalid value: 99: spec.size in body should be less than or equal to 10',
    ]);
    expect(updated(stored({ size: 98 }), old)).toHaveLength(1);
  });

  it('a write of the status validates the status alone', () => {
    const typed = {
      type: 'object',
      properties: { spec: gadgetSpec, status: { type: 'object', properties: { replicas: { type: 'integer' } } } },
    };
    const resource = resourceOf(definitionOf({ subresources: { status: {}, scale } }, typed));
    const old = stored({ size: 99 });
    const written = (status: JsonObject) => validated(stored({ size: 99 }, { status }), old, resource, 'status');
    expect(written({ replicas: 'x' })).toEqual([
      '.status.replicas: Invalid value: 0: .status.replicas accessor error: x is of the type string, expected int64',
      'status.replicas: Invalid value: "string": replicas in body must be of type integer: "string"',
    ]);
    expect(written({ replicas: 1 })).toEqual([]);
  });

  it('the generation counts changes of the status only where it is not a subresource', () => {
    const plain = resourceOf(definitionOf({}));
    for (const [resource, generation] of [
      [gadgets, 1],
      [plain, 2],
    ] as const) {
      const object = stored({ size: 1 }, { status: { a: 1 } });
      resource.strategy.prepareUpdate?.(object, stored({ size: 1 }), context);
      expect(object.metadata.generation).toBe(generation);
    }
  });

  it('finalizers without a domain are warned about', () => {
    const object = gadget({ size: 1 });
    object.metadata.finalizers = ['orphan', 'mine', 'a.b', 'a.b/c'];
    expect(gadgets.strategy.warnings?.(object, undefined, context)).toEqual([
      'metadata.finalizers: "a.b": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers',
      'metadata.finalizers: "mine": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
    ]);
    expect(gadgets.strategy.warnings?.(object, object, context)).toEqual([]);
  });

  it('rules are not evaluated for objects with structural errors', () => {
    const rules = [{ rule: 'self.size > 1' }, { rule: 'self.size >= oldSelf.size', message: 'must not shrink' }];
    const ruled = { type: 'object', properties: { spec: { ...gadgetSpec, 'x-kubernetes-validations': rules } } };
    const resource = resourceOf(definitionOf({}, ruled));
    expect(created(gadget({ size: 2 }), resource)).toEqual([]);
    expect(created(gadget({ size: 1 }), resource)).toEqual(['spec: Invalid value: failed rule: self.size > 1']);
    expect(updated(stored({ size: 2 }), stored({ size: 3 }), resource)).toEqual([
      'spec: Invalid value: must not shrink',
    ]);
    expect(created(gadget({}), resource)).toEqual([
      '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
      'spec.size: Required value',
    ]);
    expect(updated(stored({ size: 1 }), stored({ size: 1 }), resource)).toEqual([]);
    expect([...warnings]).toEqual(['spec: Invalid value: failed rule: self.size > 1']);
  });
});

describe('the scale subresource', () => {
  const { projection } = gadgets.subresources.find(({ name }) => name === 'scale') as ProjectionSubresource;

  it('shows the replicas at the declared paths', () => {
    const object = stored({ size: 2 }, { status: { replicas: 4, selector: 'a=b' } });
    expect(projection.replicas).toEqual(['spec', 'size']);
    expect(projection.read(object)).toMatchObject({
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'g', namespace: 'ns', resourceVersion: '1' },
      spec: { replicas: 2 },
      status: { replicas: 4, selector: 'a=b' },
    });
  });

  it('writes the replicas', () => {
    const object = stored({ size: 2, color: 'red' });
    projection.write(object, { ...gadget({ replicas: 5 }) });
    expect(object['spec']).toEqual({ size: 5, color: 'red' });
  });

  it('is read only where the object has replicas', () => {
    expect(projection.read(stored({}))).toMatchObject({ status: { replicas: 0 } });
    expect(() => projection.write(stored({}), projection.read(stored({})))).toThrow(
      'the spec replicas field ".spec.size" cannot be empty',
    );
    expect(() => projection.checkRead?.(stored({}))).toThrow('the spec replicas field ".spec.size" does not exist');
    expect(() => projection.read(stored({ size: 'x' }))).toThrow(
      '.spec.size accessor error: x is of the type string, expected int64',
    );
  });

  it('replicas that an int32 cannot hold are refused', () => {
    const free = definitionOf(
      { subresources: { scale } },
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    );
    expect(created(gadget({ size: -1 }), resourceOf(free))).toEqual([
      '.spec.size: Invalid value: -1: should be a non-negative integer',
    ]);
    expect(created(gadget({ size: 2 ** 31 }), resourceOf(free))).toEqual([
      '.spec.size: Invalid value: 2147483648: should be less than or equal to 2147483647',
    ]);
  });
});

describe('tables and selectors of custom objects', () => {
  const cells = (object: ApiObject, resource = gadgets) =>
    resource.columns.map(({ cell }) => cell(object, { now: 0, names }));

  it('the declared columns follow the name', () => {
    expect(gadgets.columns.map(({ name, type, priority }) => [name, type, priority ?? 0])).toEqual([
      ['Name', 'string', 0],
      ['Size', 'integer', 0],
      ['Color', 'string', 1],
      ['When', 'date', 0],
    ]);
    expect(cells(gadget({ size: 1, color: 'red' }))).toEqual(['g', 1, 'red', null]);
    expect(cells(gadget({ size: 'x', color: { b: [{ d: '<', c: 2n ** 53n + 1n }], a: 1 }, when: 'never' }))).toEqual([
      'g',
      null,
      '{"a":1,"b":[{"c":9007199254740993,"d":"\\u003c"}]}',
      '<invalid>',
    ]);
    expect(cells(gadget({ size: 2.5, color: null, when: '2024-01-02T03:04:05Z' }))).toEqual([
      'g',
      2,
      '<no value>',
      new AgeCell('2024-01-02T03:04:05Z'),
    ]);
  });

  it('without columns the age is shown', () => {
    expect(resourceOf(definitionOf({})).columns.map(({ name, type }) => [name, type])).toEqual([
      ['Name', 'string'],
      ['Age', 'date'],
    ]);
  });

  it('selectable fields are texts', () => {
    const values = (object: ApiObject) => gadgets.selectableFields.map(({ path, value }) => [path, value(object)]);
    expect(values(gadget({ size: 3, color: 'red' }))).toEqual([
      ['spec.color', 'red'],
      ['spec.size', '3'],
    ]);
    expect(values(gadget({}))).toEqual([
      ['spec.color', ''],
      ['spec.size', ''],
    ]);
  });
});

describe('versions of custom resources', () => {
  it('a deprecated version warns', () => {
    expect(gadgets.versions.map(({ version, deprecationWarning }) => [version, deprecationWarning])).toEqual([
      ['v1', undefined],
      ['v1beta1', 'ref.example.com/v1beta1 Gadget is deprecated; use ref.example.com/v1 Gadget'],
    ]);
  });

  describe('with schemas of their own', () => {
    const spec = (own: string) => ({
      type: 'object',
      properties: {
        both: string,
        [own]: { ...string, default: own },
        list: { type: 'array', items: { type: 'object' } },
      },
    });
    const schemaOf = (own: string) => ({ openAPIV3Schema: { type: 'object', properties: { spec: spec(own) } } });
    const other = schemaOf('inV1beta1');
    Object.assign(other.openAPIV3Schema.properties.spec.properties, { inV1: string });
    const versions = [
      { name: 'v1', served: true, storage: true, schema: schemaOf('inV1') },
      { name: 'v1beta1', served: true, schema: other },
    ];
    const definition = { spec: { ...definitionOf({}).spec, versions } } as CustomResourceDefinition;
    const custom = customResources(definition, options).get('v1beta1')?.custom as CustomStorage;
    const inVersion = (version: string, given: JsonObject) =>
      ({ ...stored(given), apiVersion: `ref.example.com/${version}` }) as ApiObject;

    it('read objects have the defaults of the version in which they are stored, and the fields of that of the request', () => {
      const object = inVersion('v1', { both: 'a', inV1beta1: 'pruned', list: [{ x: 1 }] });
      expect(atOnce(custom.fromStored(object))).toBe(true);
      expect(object['spec']).toEqual({ both: 'a', inV1: 'inV1', list: [{}] });
      expect(object.apiVersion).toBe('ref.example.com/v1beta1');
      const own = inVersion('v1beta1', {});
      expect(atOnce(custom.fromStored(own))).toBe(true);
      expect(own['spec']).toEqual({ inV1beta1: 'inV1beta1' });
    });

    it('objects of another version are stored in the form of the storage version', () => {
      const object = inVersion('v1beta1', { both: 'a', inV1beta1: 'b' });
      expect(atOnce(custom.toStored(object))).toMatchObject({
        apiVersion: 'ref.example.com/v1',
        spec: { both: 'a', inV1: 'inV1' },
      });
      expect(object['spec']).toEqual({ both: 'a', inV1beta1: 'b' });
    });

    it('objects of a version that is no longer declared are read without defaults', () => {
      const object = inVersion('v1alpha1', { both: 'a', gone: 1 });
      expect(atOnce(custom.fromStored(object))).toBe(true);
      expect(object['spec']).toEqual({ both: 'a' });
    });
  });

  it('objects are stored in the storage version and read in that of the request', () => {
    const custom = customResources(full, options).get('v1beta1')?.custom as CustomStorage;
    const object = { ...stored({ size: 1, gone: 1 }), apiVersion: 'ref.example.com/v1' };
    expect(atOnce(custom.fromStored(object))).toBe(true);
    expect(object).toMatchObject({ apiVersion: 'ref.example.com/v1beta1', spec: { size: 1, color: 'red' } });
    expect(atOnce(custom.fromStored(object))).toBe(false);
    expect(atOnce(custom.toStored(object)).apiVersion).toBe('ref.example.com/v1');
    const current = stored({});
    expect(atOnce((gadgets.custom as CustomStorage).toStored(current))).toBe(current);
  });

  it('stored objects are brought to the form of the definition only after it has changed', () => {
    const normalizes = (generation: number) => resourceOf({ ...full, metadata: { generation } }).custom?.normalizes;
    expect([normalizes(1), normalizes(2), gadgets.custom?.normalizes]).toEqual([false, true, true]);
  });

  it('OpenAPI v3 publishes the schema as it is, with the fields that every object has', () => {
    const [version] = gadgets.versions;
    expect(published(version, 'v3')).toMatchObject({
      type: 'object',
      properties: { apiVersion: { type: 'string' }, metadata: { allOf: [{}] }, spec: gadgetSpec, status },
    });
  });

  it('OpenAPI v3 names both types of an integer or text', () => {
    const either = { 'x-kubernetes-int-or-string': true };
    const anyOf = [{ type: 'integer' }, { type: 'string' }];
    const properties = {
      a: either,
      b: { ...either, anyOf },
      c: { ...either, allOf: [{ anyOf }, { pattern: 'x' }] },
      d: { ...either, allOf: [{ pattern: 'x' }] },
    };
    const [version] = resourceOf(definitionOf({}, { type: 'object', properties })).versions;
    expect(published(version, 'v3')['properties']).toMatchObject({
      a: { ...either, anyOf },
      b: properties.b,
      c: properties.c,
      d: { ...properties.d, anyOf },
    });
    expect((published(version, 'v3')['properties'] as JsonObject)['c']).toEqual(properties.c);
    expect((published(version, 'v2')['properties'] as JsonObject)['a']).toEqual(either);
  });

  it('OpenAPI v2 has neither nullable values nor unknown fields nor defaults', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { ...string, nullable: true },
        b: { type: 'object', properties: { c: string }, 'x-kubernetes-preserve-unknown-fields': true },
        d: { ...string, anyOf: [{ minLength: 1 }], default: 'x' },
      },
      required: ['a', 'd'],
    };
    const [version] = resourceOf(definitionOf({}, schema)).versions;
    const { properties = {}, required } = published(version, 'v2') as {
      properties?: JsonObject;
      required?: string[];
    };
    expect(properties['a']).toEqual({});
    expect(properties['b']).toEqual({ 'x-kubernetes-preserve-unknown-fields': true });
    expect(properties['d']).toEqual(string);
    expect(required).toEqual(['d']);
    const [free] = resourceOf(
      definitionOf({}, { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }),
    ).versions;
    expect(published(free, 'v2')).toEqual({ type: 'object' });
  });
});

it('a large schema is read in steps before the first write, and then no more', () => {
  const properties = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`p${i}`, { type: 'string' }]));
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties } } };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }];
  const definition = { spec: { ...definitionOf({}).spec, versions } } as CustomResourceDefinition;
  const { prepare } = customResources(definition, options).get('v1') as ResourceDefinition;
  let steps = 0;
  for (const _ of prepare?.() ?? []) steps++;
  expect(steps).toBeGreaterThanOrEqual(2);
  expect(prepare?.()).toBeUndefined();
  expect(gadgets.prepare?.()).toBeUndefined();
});
