import { describe, expect, test } from 'vitest';
import { namesFor } from '../../meta/index.ts';
import { created, type Fragment, onCreate, type Row, sorted } from '../testing/kind.ts';
import { forbidden, invalid, missing, required, says, unsupported } from '../testing/messages.ts';
import { bootstrapFlowObjects } from './bootstrap-objects.ts';
import { flowSchemas } from './flow-schemas.ts';
import { priorityLevelConfigurations } from './priority-level-configurations.ts';

describe('flow schemas', () => {
  const flow = (more: Fragment): Fragment => ({ spec: { priorityLevelConfiguration: { name: 'p' }, ...more } });
  const user = { kind: 'User', user: { name: 'u' } };
  const resources = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] };
  const rule = (more: Fragment): Fragment =>
    flow({ rules: [{ subjects: [user], resourceRules: [resources], ...more }] });
  const at = 'spec.rules[0]';
  const path = (nonResourceURLs: string[]) => rule({ nonResourceRules: [{ verbs: ['get'], nonResourceURLs }] });
  const url = `${at}.nonResourceRules[0].nonResourceURLs[0]`;
  const rows: readonly Row[] = [
    ['a priority level', flow({})],
    [
      'no priority level',
      { spec: { matchingPrecedence: 0, priorityLevelConfiguration: {} } },
      ['spec.priorityLevelConfiguration.name', 'Required', required('must reference a priority level')],
    ],
    [
      'precedence below the minimum',
      flow({ matchingPrecedence: 1 }),
      [
        'spec.matchingPrecedence',
        'Invalid',
        invalid(1, "only the schema named 'exempt' may have matchingPrecedence 1"),
      ],
    ],
    [
      'precedence above the maximum',
      flow({ matchingPrecedence: 10001 }),
      ['spec.matchingPrecedence', 'Invalid', invalid(10001, 'must not be greater than 10000')],
    ],
    [
      'an unknown distinguisher method',
      flow({ distinguisherMethod: { type: 'Odd' } }),
      ['spec.distinguisherMethod.type', 'NotSupported', unsupported({ Type: 'Odd' }, 'ByNamespace', 'ByUser')],
    ],
    ['a rule', rule({})],
    [
      'an empty rule',
      flow({ rules: [{}] }),
      [at, 'Required', required('at least one of resourceRules and nonResourceRules has to be non-empty')],
      [`${at}.subjects`, 'Required', required('subjects must contain at least one value')],
    ],
    [
      'an unknown subject kind',
      rule({ subjects: [{ kind: 'Odd', serviceAccount: { namespace: 'n' }, user: {} }] }),
      [`${at}.subjects[0].kind`, 'NotSupported', unsupported('Odd', 'Group', 'ServiceAccount', 'User')],
    ],
    [
      'a subject that does not match its kind',
      rule({ subjects: [{ kind: 'Group', user: { name: 'u' } }] }),
      [`${at}.subjects[0].group`, 'Required', required("group is required when subject kind is 'Group'")],
      [`${at}.subjects[0].user`, 'Forbidden', forbidden("user is forbidden when subject kind is not 'User'")],
    ],
    [
      'a service account without a namespace',
      rule({ subjects: [{ kind: 'ServiceAccount', serviceAccount: { name: '' } }] }),
      [`${at}.subjects[0].serviceAccount.name`, 'Required', missing],
      [
        `${at}.subjects[0].serviceAccount.namespace`,
        'Required',
        required('must specify namespace for service account'),
      ],
    ],
    [
      'invalid verbs and namespaces',
      rule({ resourceRules: [{ ...resources, verbs: ['odd'], namespaces: ['A'] }] }),
      [
        `${at}.resourceRules[0].namespaces[0]`,
        'Invalid',
        invalid('A', `each member of this list must be '*' or a DNS-1123 label; ${says.label}`),
      ],
      [
        `${at}.resourceRules[0].verbs`,
        'NotSupported',
        unsupported(
          ['odd'],
          ...['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'],
        ),
      ],
    ],
    [
      '* with other entries',
      rule({ resourceRules: [{ ...resources, verbs: ['*', 'get'], apiGroups: ['*', 'a'] }] }),
      [
        `${at}.resourceRules[0].apiGroups`,
        'Invalid',
        invalid(['*', 'a'], "if '*' is present, must not specify other api groups"),
      ],
      [
        `${at}.resourceRules[0].verbs`,
        'Invalid',
        invalid(['*', 'get'], "if '*' is present, must not specify other verbs"),
      ],
    ],
    ['non-resource URLs', path(['/', '/x/*'])],
    ['a relative path', path(['x']), [url, 'Invalid', invalid('x', 'must start with slash')]],
    ['an empty step', path(['//']), [url, 'Invalid', invalid('//', 'must not contain double slash')]],
    ['a wildcard inside', path(['/*/x']), [url, 'Invalid', invalid('/*/x', 'wildcard can only do suffix matching')]],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(flowSchemas, fragment)).toEqual(sorted(expected));
  });
  test('defaults', () => {
    expect(created(flowSchemas, flow({}))['spec']).toMatchObject({ matchingPrecedence: 1000 });
  });
});

describe('priority levels', () => {
  const limited = (limitResponse: Fragment, more: Fragment = {}): Fragment => ({
    spec: { type: 'Limited', limited: { limitResponse, ...more } },
  });
  const queue = (queuing: Fragment) => limited({ type: 'Queue', queuing });
  const at = 'spec.limited.limitResponse';
  const rows: readonly Row[] = [
    ['Reject', limited({ type: 'Reject' })],
    ['a type', { spec: { type: 'Odd' } }, ['spec.type', 'NotSupported', unsupported('Odd', 'Exempt', 'Limited')]],
    [
      'type Exempt of another level',
      { spec: { type: 'Exempt' } },
      ['spec.type', 'Invalid', invalid('Exempt', "must be 'Exempt' if and only if `name` is 'exempt'")],
    ],
    [
      'an exempt level with lendable shares',
      { metadata: { name: 'exempt' }, spec: { type: 'Exempt', exempt: { lendablePercent: 50 } } },
    ],
    [
      'no limited configuration',
      { spec: { type: 'Limited' } },
      ['spec.limited', 'Required', required('must not be empty when type is Limited')],
    ],
    [
      'a limited configuration of an exempt level',
      {
        metadata: { name: 'exempt' },
        spec: { type: 'Exempt', limited: { limitResponse: { type: 'Reject' } }, exempt: { lendablePercent: 101 } },
      },
      [
        'spec',
        'Invalid',
        invalid(
          {
            Type: 'Exempt',
            Limited: {
              NominalConcurrencyShares: 30,
              LimitResponse: { Type: 'Reject', Queuing: null },
              LendablePercent: 0,
              BorrowingLimitPercent: null,
            },
            Exempt: { NominalConcurrencyShares: 0, LendablePercent: 101 },
          },
          "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value",
        ),
      ],
      ['spec.exempt.lendablePercent', 'Invalid', invalid(101, 'must be between 0 and 100, inclusive')],
      ['spec.limited', 'Forbidden', forbidden('must be nil if the type is not Limited')],
    ],
    [
      'invalid shares',
      limited({ type: 'Reject' }, { nominalConcurrencyShares: -1, borrowingLimitPercent: -1 }),
      ['spec.limited.borrowingLimitPercent', 'Invalid', invalid(-1, 'if specified, must be a non-negative integer')],
      ['spec.limited.nominalConcurrencyShares', 'Invalid', invalid(-1, 'must be a non-negative integer')],
    ],
    [
      'queuing with Reject',
      limited({ type: 'Reject', queuing: {} }),
      [`${at}.queuing`, 'Forbidden', forbidden('must be nil if limited.limitResponse.type is not Limited')],
    ],
    [
      'no queuing',
      limited({ type: 'Queue' }),
      [`${at}.queuing`, 'Required', required('must not be empty if limited.limitResponse.type is Limited')],
    ],
    ['an answer', limited({}), [`${at}.type`, 'NotSupported', unsupported('', 'Queue', 'Reject')]],
    [
      'handSize larger than queues',
      queue({ queues: 4, handSize: 5, queueLengthLimit: -1 }),
      [`${at}.queuing.handSize`, 'Invalid', invalid(5, 'should not be greater than queues (4)')],
      [`${at}.queuing.queueLengthLimit`, 'Invalid', invalid(-1, 'must be positive')],
    ],
    [
      'more queues than the hash bits allow',
      queue({ queues: 1024, handSize: 7 }),
      [
        `${at}.queuing.handSize`,
        'Invalid',
        invalid(7, 'required entropy bits of deckSize 1024 and handSize 7 should not be greater than 60'),
      ],
    ],
  ];
  test.each(rows)('%s', (_, fragment, ...expected) => {
    expect(onCreate(priorityLevelConfigurations, fragment)).toEqual(sorted(expected));
  });
  test('defaults', () => {
    expect(created(priorityLevelConfigurations, queue({}))['spec']).toEqual({
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: 30,
        lendablePercent: 0,
        limitResponse: { type: 'Queue', queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
      },
    });
  });
});

describe('bootstrap objects', () => {
  const all = bootstrapFlowObjects(namesFor('k8s.io')).map(({ kind, metadata, fields }) => ({
    kind,
    metadata,
    ...fields,
  }));
  const levels = all.filter(({ kind }) => kind === 'PriorityLevelConfiguration');
  const flows = all.filter(({ kind }) => kind === 'FlowSchema');
  const of = (wanted: string, name: string) =>
    all.find(({ kind, metadata }) => kind === wanted && metadata.name === name);
  const mandatory = [
    [flowSchemas, 'exempt'],
    [flowSchemas, 'catch-all'],
    [priorityLevelConfigurations, 'exempt'],
    [priorityLevelConfigurations, 'catch-all'],
  ] as const;
  test('are valid', () => {
    expect(levels.flatMap((level) => onCreate(priorityLevelConfigurations, level))).toEqual([]);
    expect(flows.flatMap((flow) => onCreate(flowSchemas, flow))).toEqual([]);
    expect(levels).toHaveLength(8);
    expect(flows).toHaveLength(11);
    expect(JSON.stringify(flows)).toContain('"coordination.k8s.io"');
  });
  test('suggested objects may be changed', () => {
    const { metadata, spec } = of('FlowSchema', 'probes') as Fragment & { spec: Fragment };
    expect(onCreate(flowSchemas, { metadata: metadata ?? {}, spec: { ...spec, matchingPrecedence: 7 } })).toEqual([]);
  });
  test.each(mandatory)('mandatory objects may not be changed: %o %s', (definition, name) => {
    const { metadata, spec } = of(definition.kind, name) as Fragment & { spec: Fragment };
    const changed = { ...spec, ...(definition === flowSchemas ? { rules: [] } : { type: 'Limited' }) };
    const limited =
      name === 'exempt' ? {} : { limited: { nominalConcurrencyShares: 6, limitResponse: { type: 'Reject' } } };
    const errors = onCreate(definition, { metadata: metadata ?? {}, spec: { ...changed, ...limited } });
    expect(errors.filter(([field]) => field === 'spec')).toEqual([
      [
        'spec',
        'Invalid',
        expect.stringMatching(`spec of '${name}' (except the 'spec.exempt' field )?must equal the fixed value$`),
      ],
    ]);
  });
});
