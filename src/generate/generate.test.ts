import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { builtInTypes, DefinitionError, formats, modelOfDefinitions, type Source } from './index.ts';

const versionOf = (name: string, properties: object, more: object = {}) => ({
  name,
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: 'object', properties, ...more } },
});

function source(properties: object, { group = 'example.com', kind = 'Widget', ...more } = {}): Source {
  const spec = { group, names: { kind, plural: 'widgets' }, scope: 'Namespaced' };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: { ...spec, versions: [versionOf('v1', properties, more)] },
  };
  return { where: 'widgets.yaml', definition: JSON.parse(JSON.stringify(definition)) };
}

const write = (properties: object, format: keyof typeof formats = 'typescript', more: object = {}) =>
  formats[format](modelOfDefinitions([source(properties, more)]));

/** The members of the first interface, without comments. */
const members = (text: string) =>
  text
    .slice(text.indexOf('{') + 2, text.indexOf('\n}\n'))
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('/**') && !/^ {2,3}\*/.test(line))
    .map((line) => line.trim())
    .filter((line) => !/^(apiVersion|kind|metadata):/.test(line))
    .sort();

describe('TypeScript types', () => {
  it('of a kind say what it is', () => {
    const text = write({ spec: { type: 'object', properties: { size: { type: 'integer' } } } }, 'typescript', {
      required: ['spec'],
      description: 'A widget of the shop.',
    });
    expect(text.replace(/^ +(?:\/\*\*|\*).*\n/gm, '')).toContain(`/** A widget of the shop. */
export interface V1Widget {
  apiVersion: 'example.com/v1';
  kind: 'Widget';
  metadata: ObjectMeta;
  spec: V1WidgetSpec;
}

export interface V1WidgetSpec {
  size?: number;
}
`);
    expect(text).toContain('export interface ObjectMeta {');
    expect(text).toContain('  creationTimestamp?: string;');
  });

  it('have every form of a schema', () => {
    const ext = 'x-kubernetes-';
    const fields: readonly [schema: object, type: string][] = [
      [{ type: 'string', enum: ['a', "it's"] }, "'a' | 'it\\'s'"],
      [{ type: 'integer', enum: [1, 2] }, '1 | 2'],
      [{ type: 'number', nullable: true }, 'number | null'],
      [{ type: 'string', enum: ['a'], nullable: true }, "'a'"],
      [{ [`${ext}int-or-string`]: true, anyOf: [{ type: 'integer' }, { type: 'string' }] }, 'number | string'],
      [{ [`${ext}preserve-unknown-fields`]: true }, 'unknown'],
      [{ type: 'object', [`${ext}preserve-unknown-fields`]: true }, '{ [key: string]: unknown }'],
      [{ type: 'object' }, '{ [key: string]: unknown }'],
      [{ type: 'object', additionalProperties: { type: 'integer' } }, '{ [key: string]: number }'],
      [{ type: 'array', items: { type: 'string', enum: ['x', 'y'] } }, "('x' | 'y')[]"],
      [{ type: 'array', items: { type: 'array', items: { type: 'boolean' } } }, 'boolean[][]'],
      [{ type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } }, 'V1WidgetF11[]'],
      [{ type: 'object', nullable: true, properties: { a: { type: 'string' } } }, 'V1WidgetF12 | null'],
      [{ type: 'string', format: 'date-time' }, 'string'],
    ];
    const text = write(Object.fromEntries(fields.map(([schema], i) => [`f${i}`, schema])));
    expect(members(text)).toEqual(fields.map(([, type], i) => `f${i}?: ${type};`).sort());
    expect(text).toContain('/** @format date-time */');
  });

  it('quote names that are not identifiers, and end no comment early', () => {
    const text = write({
      'with-dash': { type: 'string', description: 'ends */ here' },
      "it's": { type: 'string' },
      ['__proto__']: { type: 'string' },
      $ref1: { type: 'string', description: 'several\n\nlines' },
    });
    expect(members(text)).toEqual([
      '$ref1?: string;',
      "'it\\'s'?: string;",
      "'with-dash'?: string;",
      '__proto__?: string;',
    ]);
    expect(text).toContain('  /** ends *\\/ here */\n');
    expect(text).toContain('  /**\n   * several\n   *\n   * lines\n   */\n');
  });

  it('let a field be absent that has a default', () => {
    const text = write({ a: { type: 'string', default: 'x' }, b: { type: 'string' } }, 'typescript', {
      required: ['a', 'b'],
    });
    expect(members(text)).toEqual(['a?: string;', 'b: string;']);
    expect(text).toContain('/** @default x */');
  });

  it('of embedded resources and of objects that keep unknown fields have these', () => {
    const text = write({
      template: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      },
    });
    const embedded = text.slice(text.indexOf('export interface V1WidgetTemplate'));
    expect(embedded).toMatch(/ {2}apiVersion: string;\n[^}]* {2}kind: string;\n[^}]* {2}metadata\?: ObjectMeta;\n/);
    expect(embedded.slice(0, embedded.indexOf('\n}\n'))).toContain('  [key: string]: unknown;');
  });

  it('have names that no other one has', () => {
    const spec = { spec: { type: 'object', properties: { a: { type: 'string' } } } };
    const of = (...sources: Source[]) =>
      [...formats.typescript(modelOfDefinitions(sources)).matchAll(/interface (\w+Widget\w*)/g)].map(
        ([, name]) => name,
      );
    expect(of(source({}), source({}, { group: 'other.org' }))).toEqual(['ExampleComV1Widget', 'OtherOrgV1Widget']);
    expect(of(source(spec), source({}, { kind: 'WidgetSpec' }))).toEqual(['V1Widget', 'V1WidgetSpec2', 'V1WidgetSpec']);
    expect(of(source({}, { kind: 'Widget-set' }))).toEqual(['V1WidgetSet']);
    const inner = { type: 'object', properties: { c: { type: 'string' } } };
    const twice = { fooBar: inner, foo: { type: 'object', properties: { bar: inner } } };
    expect(of(source(twice))).toEqual(['V1Widget', 'V1WidgetFoo', 'V1WidgetFooBar', 'V1WidgetFooBar2']);
  });

  it('do not depend on the order of the definitions', () => {
    const [a, b] = [source({}, { kind: 'Alpha' }), source({}, { kind: 'Beta' })];
    for (const writer of Object.values(formats)) {
      expect(writer(modelOfDefinitions([a, b]))).toBe(writer(modelOfDefinitions([b, a])));
    }
  });
});

describe('zod schemas', () => {
  it('have the constraints of fields', () => {
    const text = write(
      {
        size: { type: 'integer', format: 'int32', minimum: 1, maximum: 9, exclusiveMaximum: true, default: 3 },
        name: { type: 'string', pattern: '^[a-z/]+$', minLength: 1, maxLength: 5 },
        mode: { type: 'string', enum: ['a', 'b'] },
        some: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'number' } },
        flags: { type: 'string', pattern: '(?i)x' },
        ['__proto__']: { type: 'string' },
      },
      'zod',
      { required: ['mode'] },
    );
    expect(text).toContain('  size: z.int32().min(1).lt(9).default(3),\n');
    expect(text).toContain(
      "  name: z.string().min(1).regex(/^[a-z/]+$/u).refine(atMost(5), 'must have at most 5 characters').optional(),\n",
    );
    expect(text).toContain("  mode: z.literal(['a', 'b']),\n");
    expect(text).toContain('  some: z.array(z.number()).min(1).max(2).optional(),\n');
    expect(text).toContain('  flags: z.string().optional(),\n');
    expect(text).toContain("  ['__proto__']: z.string().optional(),\n");
  });

  it('have defaults with members of any name', () => {
    const values = JSON.parse('{"a":"__proto__","__proto__":"b"}');
    const text = write({ map: { type: 'object', additionalProperties: { type: 'string' }, default: values } }, 'zod');
    expect(text).toContain('.prefault({"a":"__proto__",["__proto__"]:"b"}),');
  });
});

describe('definitions', () => {
  const spoiled = (change: (definition: JsonObject) => void): Source => {
    const { where, definition } = source({});
    change(definition);
    return { where, definition };
  };
  it.each([
    [
      'another version',
      spoiled((d) => Object.assign(d, { apiVersion: 'apiextensions.k8s.io/v1beta1' })),
      /apiVersion.*in v1/,
    ],
    [
      'no group',
      spoiled((d) => Object.assign(d['spec'] as object, { group: '' })),
      /^widgets.yaml: spec\.group: Required/,
    ],
    ['a spec of another type', spoiled((d) => Object.assign(d, { spec: 7 })), /^widgets.yaml: .*spec/],
    ['properties of another type', source({ a: 7 }), /^widgets.yaml: .*properties/],
  ])('with %s are refused', (_, given, message) => {
    expect(() => modelOfDefinitions([given])).toThrow(DefinitionError);
    expect(() => modelOfDefinitions([given])).toThrow(message);
  });

  it('of the same kind are refused', () => {
    expect(() => modelOfDefinitions([source({}), source({})])).toThrow(/Widget of example\.com\/v1 is defined twice/);
  });

  it('have the types of their served versions', () => {
    const { where, definition } = source({});
    const versions = [versionOf('v1beta1', {}), { ...versionOf('v2', {}), served: false }];
    Object.assign(definition['spec'] as object, { versions });
    expect(modelOfDefinitions([{ where, definition }]).kinds).toEqual(['V1beta1Widget']);
  });
});

describe('types of built-in kinds', () => {
  it('have the names of the JavaScript client where groups share them', () => {
    const names = [...builtInTypes().matchAll(/^export interface (\w+)/gm)].map(([, name = '']) => name);
    const ends = (end: string) => names.filter((name) => name.endsWith(end)).sort();
    expect(ends('V1Event')).toEqual(['CoreV1Event', 'EventsV1Event']);
    expect(ends('V1EndpointPort')).toEqual(['CoreV1EndpointPort', 'DiscoveryV1EndpointPort']);
    expect(ends('V1Subject')).toEqual(['FlowcontrolV1Subject', 'RbacV1Subject']);
    expect(ends('V1TokenRequest')).toEqual(['AuthenticationV1TokenRequest', 'StorageV1TokenRequest']);
    expect(ends('WebhookClientConfig')).toEqual([
      'AdmissionregistrationV1WebhookClientConfig',
      'ApiextensionsV1WebhookClientConfig',
    ]);
    for (const name of ['V1Pod', 'V1ObjectMeta', 'V1Preconditions', 'V2HorizontalPodAutoscaler', 'V1beta1IPAddress'])
      expect(names).toContain(name);
  });

  it('are described', () => {
    const text = builtInTypes();
    for (const [, comment] of text.matchAll(/^(\/\*\*.*?\*\/)?\n?export interface \w+/gms))
      expect(comment).toBeDefined();
    expect(text).toContain('Minute, hour, day of month, month and day of week');
  });
});
