import { describe, expect, test } from 'vitest';
import { type JsonObject, namesFor } from '../../meta/index.ts';
import type { StrategyContext } from '../../registry/index.ts';
import { created, type Fragment, fieldErrors, inOrder, onCreate, type Row, replaced, sorted } from '../testing/kind.ts';
import { duplicate, forbidden, immutable, invalid, missing, required, says } from '../testing/messages.ts';
import { customResourceDefinitions, definitionValidation } from './custom-resource-definitions.ts';

const openAPIV3Schema = { type: 'object' };
const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } };
const names = { plural: 'alphas', kind: 'Alpha' };
const definition = (more: Fragment, name = 'alphas.a.b'): Fragment => ({
  metadata: { name },
  spec: { group: 'a.b', scope: 'Namespaced', names, versions: [version], ...more },
});
const fields = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties: { spec: { type: 'object', properties } },
});
const withVersion = (more: Fragment) => definition({ versions: [{ ...version, ...more }] });
const webhook = (more: Fragment) => definition({ conversion: { strategy: 'Webhook', webhook: more } });
const unapproved = 'metadata.annotations[api-approved.kubernetes.io]';
const shown = (name: string, storage: boolean) => ({
  Name: name,
  Served: true,
  Storage: storage,
  Deprecated: false,
  DeprecationWarning: null,
  Schema: null,
  Subresources: null,
  AdditionalPrinterColumns: null,
  SelectableFields: null,
});

const rows: readonly Row[] = [
  ['a definition', definition({})],
  [
    'a name that does not match plural and group',
    definition({}, 'wrong'),
    ['metadata.name', 'Invalid', invalid('wrong', 'must be spec.names.plural+"."+spec.group')],
  ],
  [
    'generateName',
    { ...definition({}), metadata: { name: 'alphas.a.b', generateName: 'alphas' } },
    ['metadata.generateName', 'Invalid', invalid('alphas', 'must be spec.names.plural+"."+spec.group')],
  ],
  [
    'no versions',
    definition({ versions: [] }),
    ['spec.versions', 'Invalid', invalid([], 'must have exactly one version marked as storage version')],
    ['status.storedVersions', 'Invalid', invalid(null, 'must have at least one stored version')],
  ],
  [
    'absent versions',
    definition({ versions: null }),
    ['spec.versions', 'Invalid', invalid(null, 'must have exactly one version marked as storage version')],
    ['status.storedVersions', 'Invalid', invalid(null, 'must have at least one stored version')],
  ],
  [
    'duplicate versions, each the storage version',
    definition({ versions: [version, version] }),
    ['spec.versions', 'Invalid', invalid([shown('v1', true), shown('v1', true)], 'must contain unique version names')],
    [
      'spec.versions',
      'Invalid',
      invalid([shown('v1', true), shown('v1', true)], 'must have exactly one version marked as storage version'),
    ],
  ],
  [
    'two storage versions',
    definition({ versions: [version, { ...version, name: 'v2' }] }),
    [
      'spec.versions',
      'Invalid',
      invalid([shown('v1', true), shown('v2', true)], 'must have exactly one version marked as storage version'),
    ],
    ['status.storedVersions', 'Invalid', invalid(['v1'], 'must have the storage version v2')],
  ],
  [
    'too many versions',
    definition({
      versions: Array.from({ length: 101 }, (_, i) => ({ ...version, name: `v${i + 1}`, storage: i === 0 })),
    }),
    ['spec.versions', 'TooMany', 'Too many: 101: must have at most 100 items'],
  ],
  [
    'an invalid version name',
    withVersion({ name: '1' }),
    ['spec.versions[0].name', 'Invalid', invalid('1', says.label1035)],
    ['spec.version', 'Invalid', invalid('1', says.label1035)],
  ],
  ['no schema', withVersion({ schema: null }), ['spec.versions[0].schema.openAPIV3Schema', 'Required', missing]],
  [
    'a deprecation warning without deprecated',
    withVersion({ deprecationWarning: '' }),
    ['spec.versions[0].deprecationWarning', 'Invalid', invalid('', 'can only be set for deprecated versions')],
  ],
  [
    'a group without a dot',
    definition({ group: 'a' }, 'alphas.a'),
    ['spec.group', 'Invalid', invalid('a', 'should be a domain with at least one dot')],
  ],
  [
    'a protected group',
    definition({ group: 'x.k8s.io' }, 'alphas.x.k8s.io'),
    [
      unapproved,
      'Required',
      required(
        'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ),
    ],
  ],
  [
    'invalid names',
    definition({ names: { plural: 'alphas', kind: 'A_', listKind: 'A_', shortNames: ['B'], categories: ['C'] } }),
    ['spec.names.categories[0]', 'Invalid', invalid('C', says.label1035)],
    ['spec.names.kind', 'Invalid', invalid('A_', `may have mixed case, but should otherwise match: ${says.label1035}`)],
    [
      'spec.names.listKind',
      'Invalid',
      invalid('A_', `may have mixed case, but should otherwise match: ${says.label1035}`),
    ],
    ['spec.names.listKind', 'Invalid', invalid('A_', 'kind and listKind may not be the same')],
    ['spec.names.shortNames[0]', 'Invalid', invalid('B', says.label1035)],
    ['spec.names.singular', 'Invalid', invalid('a_', says.label1035)],
  ],
  [
    'no names',
    definition({ names: { plural: 'alphas' } }),
    ['spec.names.kind', 'Required', missing],
    ['spec.names.listKind', 'Required', missing],
    ['spec.names.singular', 'Required', missing],
  ],
  [
    'invalid columns',
    withVersion({ additionalPrinterColumns: [{ name: 'a', type: 'odd', format: 'odd' }, {}] }),
    [
      'spec.additionalPrinterColumns[0].type',
      'Invalid',
      invalid('odd', 'must be one of boolean,date,integer,number,string'),
    ],
    [
      'spec.additionalPrinterColumns[0].format',
      'Invalid',
      invalid('odd', 'must be one of byte,date,date-time,double,float,int32,int64,password'),
    ],
    ['spec.additionalPrinterColumns[0].JSONPath', 'Required', missing],
    ['spec.additionalPrinterColumns[1].name', 'Required', missing],
    [
      'spec.additionalPrinterColumns[1].type',
      'Required',
      required('must be one of boolean,date,integer,number,string'),
    ],
    ['spec.additionalPrinterColumns[1].JSONPath', 'Required', missing],
  ],
  [
    'too many columns',
    withVersion({ additionalPrinterColumns: Array(101).fill({ name: 'a', type: 'string', jsonPath: '.a' }) }),
    ['spec.additionalPrinterColumns', 'TooMany', 'Too many: 101: must have at most 100 items'],
  ],
  [
    'invalid scale paths',
    withVersion({ subresources: { scale: { specReplicasPath: '.status.r', labelSelectorPath: '.metadata.x' } } }),
    [
      'spec.subresources.scale.labelSelectorPath',
      'Invalid',
      invalid('.metadata.x', 'should be a json path under either .spec or .status'),
    ],
    ['spec.subresources.scale.specReplicasPath', 'Invalid', invalid('.status.r', 'should be a json path under .spec')],
    ['spec.subresources.scale.statusReplicasPath', 'Required', missing],
  ],
  [
    'invalid selectable fields',
    withVersion({
      schema: { openAPIV3Schema: fields({ a: { type: 'string' }, b: { type: 'number' } }) },
      selectableFields: ['.spec.a', '.spec.a', '.spec.b', '.spec.c', 'spec.a'].map((jsonPath) => ({ jsonPath })),
    }),
    ['spec.selectableFields[1].jsonPath', 'Duplicate', duplicate('.spec.a')],
    [
      'spec.selectableFields[2].jsonPath',
      'Invalid',
      invalid(
        '.spec.b',
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      ),
    ],
    [
      'spec.selectableFields[3].jsonPath',
      'Invalid',
      invalid('.spec.c', 'is an invalid path: does not refer to a valid field'),
    ],
    [
      'spec.selectableFields[4].jsonPath',
      'Invalid',
      invalid('spec.a', 'is an invalid path: expected [ or . but got: spec'),
    ],
  ],
  [
    'selectable fields that are no fields, and one in a map',
    withVersion({
      schema: { openAPIV3Schema: fields({ m: { type: 'object', additionalProperties: { type: 'string' } } }) },
      selectableFields: ['.', ".spec['m']", '.spec.m.a'].map((jsonPath) => ({ jsonPath })),
    }),
    ['spec.selectableFields[0].jsonPath', 'Invalid', invalid('.', 'is an invalid path: unexpected end of JSON path')],
    [
      'spec.selectableFields[1].jsonPath',
      'Invalid',
      invalid(".spec['m']", 'is an invalid path: array notation is not allowed'),
    ],
  ],
  [
    'the meta-schema of a schema',
    withVersion({ schema: { openAPIV3Schema: { $schema: 'x', type: 'object' } } }),
    ['spec.validation.openAPIV3Schema', 'Invalid', invalid('', "OpenAPIV3Schema 'schema' is not supported")],
  ],
  [
    'a deprecation warning with a control character',
    withVersion({ deprecated: true, deprecationWarning: 'é\n' }),
    [
      'spec.versions[0].deprecationWarning',
      'Invalid',
      invalid('é\n', 'must only contain printable UTF-8 characters; non-printable character found at index 2'),
    ],
  ],
  [
    'a webhook conversion without a client config',
    webhook({ conversionReviewVersions: ['v2'] }),
    [
      'spec.conversion.conversionReviewVersions',
      'Invalid',
      invalid(['v2'], 'must include at least one of v1, v1beta1'),
    ],
    ['spec.conversion.webhookClientConfig', 'Required', required('required when strategy is set to Webhook')],
  ],
  [
    'a webhook conversion without review versions',
    webhook({ clientConfig: {} }),
    ['spec.conversion.conversionReviewVersions', 'Required', missing],
    ['spec.conversion.webhookClientConfig', 'Required', required('exactly one of url or service is required')],
  ],
  [
    'a webhook config without the webhook strategy',
    definition({ conversion: { strategy: 'None', webhook: { clientConfig: {}, conversionReviewVersions: ['v1'] } } }),
    [
      'spec.conversion.conversionReviewVersions',
      'Forbidden',
      forbidden('should not be set when strategy is not set to Webhook'),
    ],
    [
      'spec.conversion.webhookClientConfig',
      'Forbidden',
      forbidden('should not be set when strategy is not set to Webhook'),
    ],
  ],
  [
    'preserveUnknownFields',
    definition({
      preserveUnknownFields: true,
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: { url: 'https://a.b' }, conversionReviewVersions: ['v1'] },
      },
    }),
    ['spec.conversion.strategy', 'Invalid', invalid('Webhook', 'must be None if spec.preserveUnknownFields is true')],
    [
      'spec.preserveUnknownFields',
      'Invalid',
      invalid(
        true,
        'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ),
    ],
  ],
];

describe('custom resource definitions', () => {
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(customResourceDefinitions, fragment)).toEqual(sorted(expected));
  });
  test('names its many invalid short names', () => {
    const shortNames = Array<string>(120).fill('!');
    const found = onCreate(customResourceDefinitions, definition({ names: { ...names, shortNames } }));
    expect(found.map(([field]) => field)).toContain('spec.names.shortNames[119]');
    expect(found).toHaveLength(120);
  });
  test('missing schemas come before all faults of versions, and the name of the first version after them', () => {
    const faulty = { ...version, name: 'A', schema: null, deprecationWarning: '' };
    const fragment = definition({ versions: [faulty, { ...faulty, name: 'B' }] });
    const found = inOrder(customResourceDefinitions, created(customResourceDefinitions, fragment));
    expect(found.map(([field]) => field)).toEqual([
      'spec.versions[0].schema.openAPIV3Schema',
      'spec.versions[1].schema.openAPIV3Schema',
      'spec.versions[0].name',
      'spec.versions[0].deprecationWarning',
      'spec.versions[1].name',
      'spec.versions[1].deprecationWarning',
      'spec.versions',
      'spec.version',
      'status.storedVersions',
    ]);
  });
  test('defaults; storedVersions includes the storage version', () => {
    const { spec, status } = created(customResourceDefinitions, definition({}));
    expect(spec).toMatchObject({
      names: { singular: 'alpha', listKind: 'AlphaList' },
      conversion: { strategy: 'None' },
    });
    expect(status).toMatchObject({ storedVersions: ['v1'] });
  });
  test('group and plural are immutable, scope and kind once established', () => {
    const old = created(customResourceDefinitions, definition({}));
    const established = {
      ...old,
      status: { ...(old['status'] as object), conditions: [{ type: 'Established', status: 'True' }] },
    };
    const moved = (before: typeof old) =>
      fieldErrors(
        customResourceDefinitions,
        replaced(customResourceDefinitions, before, definition({ group: 'c.d', scope: 'Cluster' })),
        before,
      );
    expect(moved(old)).toEqual([['spec.group', 'Invalid', immutable('c.d')]]);
    expect(moved(established)).toEqual([
      ['spec.group', 'Invalid', immutable('c.d')],
      ['spec.scope', 'Invalid', immutable('Cluster')],
    ]);
  });
  test('the approval of a protected group is a URL or says that there is none', () => {
    const of = (...annotation: string[]) => {
      const annotations = Object.fromEntries(annotation.map((value) => ['api-approved.kubernetes.io', value]));
      const name = 'alphas.x.k8s.io';
      return { ...definition({ group: 'x.k8s.io' }, name), metadata: { name, annotations } };
    };
    const invalid = (value: string) => [
      [
        unapproved,
        'Invalid',
        `Invalid value: "${value}": protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`,
      ],
    ];
    const faults = (annotation: string) => {
      const fresh = created(customResourceDefinitions, of(annotation));
      return fieldErrors(customResourceDefinitions, fresh);
    };
    expect(faults('https://example.com/pull/1')).toEqual([]);
    expect(faults('unapproved, an experiment')).toEqual([]);
    expect(faults('yes')).toEqual(invalid('yes'));
    expect(faults('mailto:a@example.com')).toEqual(invalid('mailto:a@example.com'));
    const changed = (before: string, after: string[]) => {
      const old = created(customResourceDefinitions, of(before));
      return fieldErrors(customResourceDefinitions, replaced(customResourceDefinitions, old, of(...after)), old);
    };
    expect(changed('yes', ['no'])).toEqual([]);
    expect(changed('unapproved', ['yes'])).toEqual(invalid('yes'));
    expect(changed('unapproved', []).map(([field, reason]) => [field, reason])).toEqual([[unapproved, 'Required']]);
  });
  test('preserveUnknownFields may stay true but not become true', () => {
    const strict = created(customResourceDefinitions, definition({}));
    const lax = { ...strict, spec: { ...(strict['spec'] as object), preserveUnknownFields: true } };
    const turned = (before: typeof strict) =>
      fieldErrors(
        customResourceDefinitions,
        replaced(customResourceDefinitions, before, definition({ preserveUnknownFields: true })),
        before,
      ).map(([field]) => field);
    expect(turned(strict)).toEqual(['spec.preserveUnknownFields']);
    expect(turned(lax)).toEqual([]);
  });
});

test('the end of a large definition pauses in proportion to its size', () => {
  const pausesFor = (count: number): number => {
    const properties = Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { type: 'string' }]));
    const schema = { openAPIV3Schema: { type: 'object', properties } };
    const made = () => ({
      ...structuredClone(withVersion({ schema })),
      metadata: { name: 'alphas.a.b', deletionTimestamp: '2026-01-01T00:00:00Z' },
      status: { storedVersions: ['v1'] },
    });
    const context = { names: namesFor('k8s.io') } as StrategyContext;
    const steps = definitionValidation({})(made() as never, made() as never, context, { found: [], part: '' } as never);
    for (let pauses = 0; ; pauses++) if (steps.next().done === true) return pauses;
  };
  const [one, two] = [pausesFor(10_000), pausesFor(20_000)];
  expect(one).toBeGreaterThanOrEqual(10);
  expect(two).toBeGreaterThanOrEqual(1.5 * one);
});
