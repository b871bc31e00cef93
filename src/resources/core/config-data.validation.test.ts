import { describe, expect, test } from 'vitest';
import {
  type ApiObject,
  allErrors,
  errorsNow,
  inTurns,
  type JsonObject,
  namesFor,
  type Steps,
} from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import { keyPairs } from '../testing/key-pairs.ts';
import {
  cellsOf,
  created,
  type Fragment,
  onCreate,
  onUpdate,
  type Row,
  sorted,
  testContext,
  warningsOf,
} from '../testing/kind.ts';
import { duplicate, forbidden, immutable, invalid, missing, required, says } from '../testing/messages.ts';
import { configMaps } from './config-maps.ts';
import { limitRanges } from './limit-ranges.ts';
import { namespaces } from './namespaces.ts';
import { resourceQuotas } from './resource-quotas.ts';
import { secrets } from './secrets.ts';
import { serviceAccounts } from './service-accounts.ts';

const frozen = 'field is immutable when `immutable` is set';
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('config maps', () => {
  const rows: readonly Row[] = [
    ['no data', {}],
    ['a key', { data: { 'bad key': '' } }, ['data[bad key]', 'Invalid', invalid('bad key', says.configKey)]],
    ['a step up', { data: { '..': '' } }, ['data[..]', 'Invalid', invalid('..', "must not be '..'")]],
    ['a key of bytes', { binaryData: { 'a b': '' } }, ['binaryData[a b]', 'Invalid', invalid('a b', says.configKey)]],
    [
      'a key in data and binaryData',
      { data: { a: '' }, binaryData: { a: '' } },
      ['data[a]', 'Invalid', invalid('a', 'duplicate of key present in binaryData')],
    ],
    [
      'too large',
      { data: { a: 'x'.repeat(1024 * 1024 - 2) }, binaryData: { b: base64('xyz') } },
      ['[]', 'TooLong', 'Too long: may not be more than 1048576 bytes'],
    ],
    ['as large as allowed', { data: { a: 'x'.repeat(1024 * 1024 - 3) }, binaryData: { b: base64('xyz') } }],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(configMaps, fragment)).toEqual(sorted(expected));
  });

  test('an immutable config map keeps its data and stays immutable', () => {
    const before = { immutable: true, data: { a: '1' }, binaryData: { b: 'eA==' } };
    expect(onUpdate(configMaps, before, { data: { a: '2' } })).toEqual([
      ['binaryData', 'Forbidden', forbidden(frozen)],
      ['data', 'Forbidden', forbidden(frozen)],
      ['immutable', 'Forbidden', forbidden(frozen)],
    ]);
    expect(onUpdate(configMaps, { data: { a: '1' } }, { data: { a: '2' }, immutable: true })).toEqual([]);
  });
});

describe('secrets', () => {
  test('stringData is merged into data, in the order of the keys', () => {
    const secret = created(secrets, { data: { b: base64('1'), c: base64('2') }, stringData: { c: '3', a: 'ü' } });
    expect(Object.entries(secret['data'] as JsonObject)).toEqual([
      ['a', base64('ü')],
      ['b', base64('1')],
      ['c', base64('3')],
    ]);
    expect(secret).not.toHaveProperty('stringData');
  });

  test('stringData is merged in steps in proportion to its size', async () => {
    const pauses = async (count: number) => {
      const stringData = Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
      const turns = new EveryStep();
      const secret = { metadata: { name: 'a' }, data: { ...stringData }, stringData } as unknown as ApiObject;
      await inTurns(secrets.strategy.defaults?.(secret, testContext) as Steps<void>, turns);
      return turns.count;
    };
    const [one, two] = [await pauses(10_000), await pauses(20_000)];
    expect(one).toBeGreaterThanOrEqual(10);
    expect(two).toBeGreaterThanOrEqual(1.5 * one);
  });

  test('the JSON of a secret is read in steps in proportion to its members', async () => {
    const pauses = async (count: number) => {
      const text = JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, {}])));
      const data = { '.dockerconfigjson': base64(text) };
      const secret = { metadata: { name: 'a' }, type: 'kubernetes.io/dockerconfigjson', data } as unknown as ApiObject;
      const turns = new EveryStep();
      const errors = await inTurns(
        allErrors(() => secrets.strategy.validate?.(secret, testContext) ?? []),
        turns,
      );
      expect(errors).toEqual([]);
      return turns.count;
    };
    const [one, two] = [await pauses(20_000), await pauses(40_000)];
    expect(one).toBeGreaterThanOrEqual(10);
    expect(two).toBeGreaterThanOrEqual(1.5 * one);
  });

  const account = 'metadata.annotations[kubernetes.io/service-account.name]';
  const json = (why: string) => invalid('<secret contents redacted>', why);
  const rows: readonly Row[] = [
    ['no data', {}],
    ['a key', { data: { 'bad key': 'eg==' } }, ['data[bad key]', 'Invalid', invalid('bad key', says.configKey)]],
    [
      'too large',
      { data: { a: base64('x'.repeat(1024 * 1024 + 1)) } },
      ['data', 'TooLong', 'Too long: may not be more than 1048576 bytes'],
    ],
    [
      'a service account token without the annotation',
      { type: 'kubernetes.io/service-account-token' },
      [account, 'Required', missing],
    ],
    [
      'a service account token',
      {
        type: 'kubernetes.io/service-account-token',
        metadata: { annotations: { 'kubernetes.io/service-account.name': 'a' } },
      },
    ],
    ['no dockercfg', { type: 'kubernetes.io/dockercfg' }, ['data[.dockercfg]', 'Required', missing]],
    [
      'an invalid dockercfg',
      { type: 'kubernetes.io/dockercfg', data: { '.dockercfg': base64('{') } },
      ['data[.dockercfg]', 'Invalid', json('unexpected end of JSON input')],
    ],
    ...(
      [
        ['', 'unexpected end of JSON input'],
        ['bogus', "invalid character 'b' looking for beginning of value"],
        ['not json', "invalid character 'o' in literal null (expecting 'u')"],
        ['nul', 'unexpected end of JSON input'],
        ['true x', "invalid character 'x' after top-level value"],
        ['{a', "invalid character 'a' looking for beginning of object key string"],
        ['{"a":', 'unexpected end of JSON input'],
        ['1', 'json: cannot unmarshal number into Go value of type map[string]interface {}'],
        ['"a"', 'json: cannot unmarshal string into Go value of type map[string]interface {}'],
      ] as const
    ).map(
      ([text, why]): Row => [
        `a dockercfg of ${JSON.stringify(text)}`,
        { type: 'kubernetes.io/dockercfg', data: { '.dockercfg': base64(text) } },
        ['data[.dockercfg]', 'Invalid', json(why)],
      ],
    ),
    [
      'a dockerconfigjson that nests deep',
      { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': base64('['.repeat(10_001)) } },
      ['data[.dockerconfigjson]', 'Invalid', json('exceeded max depth')],
    ],
    [
      'a dockerconfigjson with a list',
      { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': base64('[]') } },
      [
        'data[.dockerconfigjson]',
        'Invalid',
        json('json: cannot unmarshal array into Go value of type map[string]interface {}'),
      ],
    ],
    [
      'neither username nor password',
      { type: 'kubernetes.io/basic-auth' },
      ['data[username]', 'Required', missing],
      ['data[password]', 'Required', missing],
    ],
    ['a username alone', { type: 'kubernetes.io/basic-auth', stringData: { username: 'u' } }],
    ['no SSH key', { type: 'kubernetes.io/ssh-auth' }, ['data[ssh-privatekey]', 'Required', missing]],
    [
      'no certificate and key',
      { type: 'kubernetes.io/tls', data: {} },
      ['data[tls.crt]', 'Required', missing],
      ['data[tls.key]', 'Required', missing],
    ],
    ['an empty certificate', { type: 'kubernetes.io/tls', data: { 'tls.crt': '', 'tls.key': '' } }],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(secrets, fragment)).toEqual(sorted(expected));
  });

  const [pair, other] = keyPairs;
  test.each([
    ['a matching pair', pair.certificate, pair.key, []],
    ['no PEM data', 'x', 'x', ['tls: failed to find any PEM data in certificate input']],
    ['no key', pair.certificate, 'x', ['tls: failed to find any PEM data in key input']],
    [
      'certificate and key swapped',
      pair.key,
      pair.certificate,
      [
        'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
      ],
    ],
    [
      'two certificates',
      pair.certificate,
      pair.certificate,
      ['tls: found a certificate rather than a key in the PEM for the private key'],
    ],
    ['the key of another certificate', pair.certificate, other.key, ['tls: private key does not match public key']],
  ])('warnings for a certificate and key: %s', (_, certificate, key, expected) => {
    const data = { 'tls.crt': base64(certificate), 'tls.key': base64(key) };
    expect(warningsOf(secrets, { type: 'kubernetes.io/tls', data })).toEqual(expected);
  });

  test('the type is immutable, and so is the data of an immutable secret', () => {
    expect(onUpdate(secrets, {}, { type: 'other' })).toEqual([['type', 'Invalid', immutable('other')]]);
    expect(onUpdate(secrets, { immutable: true }, { immutable: true, stringData: { a: 'b' } })).toEqual([
      ['data', 'Forbidden', forbidden(frozen)],
    ]);
  });
});

test('the annotation that enforces mountable secrets has a warning', () => {
  const key = 'kubernetes.io/enforce-mountable-secrets';
  expect(warningsOf(serviceAccounts, { metadata: { annotations: { [key]: 'true' } } })).toEqual([
    `metadata.annotations[${key}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
  ]);
});

test('a service account keeps only the names of its secrets', () => {
  const account = created(serviceAccounts, { secrets: [{ name: 's', kind: 'Secret', namespace: 'n' }] });
  expect(account['secrets']).toEqual([{ name: 's' }]);
});

describe('namespaces', () => {
  test('finalizers are standard or qualified names', () => {
    expect(onCreate(namespaces, { spec: { finalizers: ['example.com/f', 'odd'] } })).toEqual([
      [
        'spec.finalizers',
        'Invalid',
        invalid('odd', 'name is neither a standard finalizer name nor is it fully qualified'),
      ],
    ]);
    expect(created(namespaces, { spec: { finalizers: ['a/b'] } })['spec']).toEqual({
      finalizers: ['a/b', 'kubernetes'],
    });
    expect(created(namespaces, { spec: { finalizers: ['kubernetes', 'a/b', 'kubernetes'] } })['spec']).toEqual({
      finalizers: ['kubernetes', 'a/b', 'kubernetes'],
    });
  });
  test('errors through finalize have indexes in their paths', () => {
    const finalize = namespaces.subresources.find(({ name }) => name === 'finalize');
    if (finalize?.type !== 'partialUpdate') throw new Error('finalize writes no part of a namespace');
    const namespace = created(namespaces, { spec: { finalizers: ['example.com/f', 'odd'] } });
    expect(
      errorsNow(finalize.partialUpdate.validate(namespace, namespace, { names: namesFor('k8s.io'), now: 0 })),
    ).toMatchObject([{ field: 'spec.finalizers[1]' }]);
  });
  test('the phase of a namespace is Active unless it is being deleted', () => {
    expect(onUpdate(namespaces, {}, {}, 'status')).toEqual([]);
    expect(onUpdate(namespaces, {}, { status: { phase: 'Terminating' } }, 'status')).toEqual([
      ['status.Phase', 'Invalid', invalid('Terminating', "may only be 'Active' if `deletionTimestamp` is empty")],
    ]);
  });
});

describe('limit ranges', () => {
  const at = 'spec.limits[0]';
  const item = (more: Fragment): Fragment => ({ spec: { limits: [{ type: 'Container', ...more }] } });
  const rows: readonly Row[] = [
    ['no limits', { spec: { limits: [] } }],
    [
      'min above max, with defaults from them',
      item({ min: { cpu: '2' }, max: { cpu: '1' } }),
      [`${at}.min[cpu]`, 'Invalid', invalid('2', 'min value 2 is greater than max value 1')],
      [`${at}.default[cpu]`, 'Invalid', invalid('2', 'min value 2 is greater than default value 1')],
      [`${at}.defaultRequest[cpu]`, 'Invalid', invalid('1', 'min value 2 is greater than default request value 1')],
    ],
    [
      'an unknown type',
      { spec: { limits: [{ type: 'Odd' }] } },
      [`${at}.type`, 'Invalid', invalid('Odd', 'must be a standard limit type or fully qualified')],
    ],
    ['a type with a domain', { spec: { limits: [{ type: 'example.com/x' }] } }],
    [
      'a duplicate type',
      { spec: { limits: [{ type: 'Pod' }, { type: 'Pod' }] } },
      ['spec.limits[1].type', 'Duplicate', duplicate('Pod')],
    ],
    [
      'defaults for pods',
      { spec: { limits: [{ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '1' } }] } },
      [`${at}.default`, 'Forbidden', forbidden("may not be specified when `type` is 'Pod'")],
      [`${at}.defaultRequest`, 'Forbidden', forbidden("may not be specified when `type` is 'Pod'")],
    ],
    [
      'claims without min or max',
      { spec: { limits: [{ type: 'PersistentVolumeClaim' }] } },
      [
        `${at}.limits`,
        'Required',
        required('either minimum or maximum storage value is required, but neither was provided'),
      ],
    ],
    ['claims with max', { spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage: '1Gi' } }] } }],
    [
      'a resource that containers cannot request',
      { spec: { limits: [{ type: 'Pod', max: { storage: '1' } }] } },
      [`${at}.max[storage]`, 'Invalid', invalid('storage', 'must be a standard resource for containers')],
    ],
    [
      'a request above the limit',
      item({ default: { cpu: '1' }, defaultRequest: { cpu: '2' } }),
      [
        `${at}.defaultRequest[cpu]`,
        'Invalid',
        invalid('2', 'default request value 2 is greater than default limit value 1'),
      ],
    ],
    [
      'a limit above the maximum',
      item({ max: { cpu: '1' }, default: { cpu: '2' }, defaultRequest: { cpu: '1' } }),
      [`${at}.default[cpu]`, 'Invalid', invalid('1', 'default value 2 is greater than max value 1')],
    ],
    [
      'a ratio below 1',
      item({ maxLimitRequestRatio: { cpu: '500m' } }),
      [`${at}.maxLimitRequestRatio[cpu]`, 'Invalid', invalid('500m', 'ratio 500m is less than 1')],
    ],
    [
      'a ratio that min and max rule out',
      item({ min: { cpu: '1' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '3' } }),
      [`${at}.maxLimitRequestRatio[cpu]`, 'Invalid', invalid('3', 'ratio 3 is greater than max/min = 2.000000')],
    ],
    [
      'a limit of a resource that cannot be overcommitted',
      item({ default: { 'example.com/gpu': '2' }, defaultRequest: { 'example.com/gpu': '1' } }),
      [
        `${at}.defaultRequest[example.com/gpu]`,
        'Invalid',
        invalid('1', 'default value 2 must equal to defaultRequest value 1 in example.com/gpu'),
      ],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(limitRanges, fragment)).toEqual(sorted(expected));
  });
  test('a limit range without a name gets its UID as the name', () => {
    const range = { ...item({}), metadata: { name: '', uid: 'u' } };
    expect(created(limitRanges, range).metadata.name).toBe('u');
  });
  test('defaults follow from max and min', () => {
    expect(created(limitRanges, item({ default: { cpu: '500m' }, max: { cpu: '1' } }))['spec']).toEqual({
      limits: [{ type: 'Container', max: { cpu: '1' }, default: { cpu: '500m' }, defaultRequest: { cpu: '500m' } }],
    });
  });
});

describe('resource quotas', () => {
  const expressions = (...matchExpressions: Fragment[]): Fragment => ({
    spec: { scopeSelector: { matchExpressions } },
  });
  const selectorPath = 'spec.scopeSelector.matchExpressions';
  const rows: readonly Row[] = [
    ['valid quotas', { spec: { hard: { pods: '10', 'count/jobs.batch': '1', 'requests.example.com/gpu': '1' } } }],
    [
      'an invalid name',
      { spec: { hard: { bogus: '1' } } },
      ['spec.hard[bogus]', 'Invalid', invalid('bogus', 'must be a standard resource type or fully qualified')],
      ['spec.hard[bogus]', 'Invalid', invalid('bogus', 'must be a standard resource for quota')],
    ],
    [
      'storage without a prefix',
      { spec: { hard: { storage: '1' } } },
      ['spec.hard[storage]', 'Invalid', invalid('storage', 'must be a standard resource for quota')],
    ],
    [
      'a negative quantity',
      { spec: { hard: { cpu: '-1' } } },
      ['spec.hard[cpu]', 'Invalid', invalid('-1', 'must be greater than or equal to 0')],
    ],
    [
      'a fractional number of pods',
      { spec: { hard: { pods: '500m' } } },
      ['spec.hard[pods]', 'Invalid', invalid('500m', 'must be an integer')],
    ],
    ['a scope', { spec: { scopes: ['Odd'] } }, ['spec.scopes', 'Invalid', invalid(['Odd'], 'unsupported scope')]],
    [
      'a scope that does not support services',
      { spec: { hard: { services: '1' }, scopes: ['BestEffort'] } },
      ['spec.scopes', 'Invalid', invalid(['BestEffort'], 'unsupported scope applied to resource')],
    ],
    [
      'scopes that exclude each other',
      { spec: { scopes: ['Terminating', 'NotTerminating'] } },
      ['spec.scopes', 'Invalid', invalid(['Terminating', 'NotTerminating'], 'conflicting scopes')],
    ],
    [
      'an unknown operator',
      expressions({ scopeName: 'PriorityClass', operator: 'Odd' }),
      [`${selectorPath}.operator`, 'Invalid', invalid('Odd', 'not a valid selector operator')],
    ],
    [
      'In without values',
      expressions({ scopeName: 'PriorityClass', operator: 'In' }),
      [
        `${selectorPath}.values`,
        'Required',
        required("must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"),
      ],
    ],
    [
      'Exists with values',
      expressions({ scopeName: 'PriorityClass', operator: 'Exists', values: ['x'] }),
      [
        `${selectorPath}.values`,
        'Invalid',
        invalid(['x'], "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"),
      ],
    ],
    [
      'a resource that the scope does not support',
      {
        spec: {
          hard: { services: '1' },
          scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'Exists' }] },
        },
      },
      [
        selectorPath,
        'Invalid',
        invalid(
          { MatchExpressions: [{ ScopeName: 'PriorityClass', Operator: 'Exists', Values: null }] },
          'unsupported scope applied to resource',
        ),
      ],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(resourceQuotas, fragment)).toEqual(sorted(expected));
  });
  test('a row shows used and hard quantities, sorted', () => {
    const hard = { pods: '2', 'limits.cpu': '1', cpu: '3' };
    expect(cellsOf(resourceQuotas, { status: { hard, used: { pods: '1' } } })).toMatchObject({
      Request: 'cpu: 0/3, pods: 1/2',
      Limit: 'limits.cpu: 0/1',
    });
  });
  test('scopes are immutable; the status is validated', () => {
    expect(onUpdate(resourceQuotas, { spec: {} }, { spec: { scopes: ['BestEffort'] } })).toEqual([
      ['spec.scopes', 'Invalid', immutable(['BestEffort'])],
    ]);
    expect(onUpdate(resourceQuotas, {}, { status: { used: { pods: '-1' } } }, 'status')).toEqual([
      ['status.used[pods]', 'Invalid', invalid('-1', 'must be greater than or equal to 0')],
    ]);
  });
});
