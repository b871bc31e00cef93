import { describe, expect, it } from 'vitest';
import { namesFor } from '../meta/index.ts';
import { defaultPolicy } from './default-policy.ts';
import { policyRuleEvaluator } from './policy.ts';
import { parsePolicy } from './policy-file.ts';
import type { AuditAttributes, Level, Policy, PolicyRule, Stage } from './types.ts';

const tim = { name: 'tim', groups: ['humans', 'developers'] };
const place = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'default', name: 'busybox' };
const edit = { ...place, group: 'rbac.example', resource: 'clusterroles', namespace: '', name: 'edit' };
const requests = {
  pod: { user: tim, verb: 'get', resource: place, path: '/api/v1/namespaces/default/pods/busybox' },
  log: { user: tim, verb: 'get', resource: { ...place, subresource: 'log' }, path: '/api/v1/…/log' },
  role: { user: tim, verb: 'get', resource: edit, path: '/apis/rbac.example/v1/clusterroles/edit' },
  logs: { user: tim, verb: 'get', resource: undefined, path: '/logs/kubelet.log' },
  nobody: { user: undefined, verb: 'get', resource: place, path: '/api/v1/namespaces/default/pods/busybox' },
} satisfies { [name: string]: AuditAttributes };
type RequestName = keyof typeof requests;
const configOf = (policy: Policy, request: RequestName) => policyRuleEvaluator(policy)(requests[request]);

const cluster = [{ group: 'rbac.example', resources: ['clusterroles'] }];
const named = [{ ...cluster[0], resourceNames: ['edit'] }];

describe('a rule applies when each of its fields allows the request', () => {
  const all: readonly RequestName[] = ['pod', 'log', 'role', 'logs', 'nobody'];
  it.each<[string, Omit<PolicyRule, 'level'>, readonly RequestName[]]>([
    ['no field', {}, all],
    ['empty lists', { users: [], verbs: [], resources: [], namespaces: [], nonResourceURLs: [] }, all],
    ['another verb', { verbs: ['create'] }, []],
    ['a user', { users: ['tim'] }, ['pod', 'log', 'role', 'logs']],
    ['one of the groups', { userGroups: ['nobody', 'humans'] }, ['pod', 'log', 'role', 'logs']],
    ['another group', { userGroups: ['system:serviceaccounts'] }, []],
    ['a resource', { resources: [{ resources: ['pods'] }] }, ['pod', 'nobody']],
    ['a subresource', { resources: [{ resources: ['pods/log'] }] }, ['log']],
    ['all of a resource', { resources: [{ resources: ['pods/*'] }] }, ['pod', 'log', 'nobody']],
    ['a subresource of any resource', { resources: [{ resources: ['*/log'] }] }, ['log']],
    ['every resource of a group', { resources: [{ resources: ['*'] }] }, ['pod', 'log', 'nobody']],
    ['a group without resources', { resources: [{ group: '' }] }, ['pod', 'log', 'nobody']],
    ['another group of the API', { resources: cluster }, ['role']],
    ['any group', { resources: [{ group: '*', resources: ['pods', 'clusterroles'] }] }, ['pod', 'role', 'nobody']],
    ['any group without resources', { resources: [{ group: '*' }] }, ['pod', 'log', 'role', 'nobody']],
    ['a resource name', { resources: named }, ['role']],
    ['another resource name', { resources: [{ ...cluster[0], resourceNames: ['view'] }] }, []],
    ['the cluster scope', { namespaces: [''] }, ['role']],
    ['a namespace', { namespaces: ['default'] }, ['pod', 'log', 'nobody']],
    ['another namespace', { namespaces: ['other'], resources: [{ resources: ['pods'] }] }, []],
    ['a prefix of paths', { nonResourceURLs: ['/logs*'] }, ['logs']],
    ['every path', { nonResourceURLs: ['*'] }, ['logs']],
    ['a path', { nonResourceURLs: ['/logs'] }, []],
  ])('%s', (_, rule, expected) => {
    const policy: Policy = { rules: [{ level: 'Request', ...rule }] };
    expect(all.filter((request) => configOf(policy, request).level === 'Request')).toEqual(expected);
  });

  it('takes the first rule that applies, and None without one', () => {
    const rules: readonly PolicyRule[] = [
      { level: 'Request', resources: [{ resources: ['pods/log'] }] },
      { level: 'None', users: ['tim'] },
      { level: 'Metadata' },
    ];
    const levelsOf = (policy: Policy) =>
      ['log', 'pod', 'nobody'].map((name) => configOf(policy, name as RequestName).level);
    expect(levelsOf({ rules })).toEqual(['Request', 'None', 'Metadata']);
    expect(levelsOf({ rules: rules.slice(0, 1) })).toEqual(['Request', 'None', 'None']);
  });

  it('omits the stages of the policy and of the rule; the managed fields as the rule says, otherwise the policy', () => {
    const policy: Policy = {
      omitStages: ['RequestReceived'],
      omitManagedFields: true,
      rules: [
        { level: 'Request', verbs: ['list'], omitManagedFields: false },
        { level: 'Request', omitStages: ['Panic', 'RequestReceived'] },
      ],
    };
    const { omitStages, omitManagedFields } = configOf(policy, 'pod');
    expect([[...omitStages], omitManagedFields]).toEqual([['RequestReceived', 'Panic'] satisfies Stage[], true]);
    expect(policyRuleEvaluator(policy)({ ...requests.pod, verb: 'list' }).omitManagedFields).toBe(false);
  });
});

describe('the default policy', () => {
  const names = namesFor('k8s.io');
  const evaluate = policyRuleEvaluator(defaultPolicy(names));
  const reviews = { ...place, group: 'authentication.k8s.io', resource: 'tokenreviews', namespace: '' };
  const token = { ...place, resource: 'serviceaccounts', subresource: 'token' };
  it.each<[string, Level, Partial<AuditAttributes>]>([
    ['secrets', 'Metadata', { verb: 'create', resource: { ...place, resource: 'secrets' } }],
    ['config maps', 'Metadata', { verb: 'update', resource: { ...place, resource: 'configmaps' } }],
    ['token reviews', 'Metadata', { verb: 'create', resource: reviews }],
    ['token requests', 'Metadata', { verb: 'create', resource: token }],
    ['writes of pods', 'Request', { verb: 'create' }],
    ['patches of pods', 'Request', { verb: 'patch' }],
    ['reads of pods', 'Metadata', { verb: 'list' }],
    ['health checks', 'None', { resource: undefined, path: '/readyz' }],
    ['discovery', 'None', { resource: undefined, path: '/apis/apps/v1' }],
    ['metrics', 'Metadata', { resource: undefined, path: '/metrics' }],
  ])('%s: %s', (_, level, attributes) => {
    expect(evaluate({ ...requests.pod, ...attributes }).level).toBe(level);
  });
});

const head = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';
const parse = (text: string) => parsePolicy(text, namesFor('k8s.io'));

describe('parsePolicy', () => {
  it('reads YAML and JSON', () => {
    const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata', users: ['a'] }] };
    expect(parse(`${head}rules:\n- level: Metadata\n  users: [a]\n  verbs:\n`)).toEqual({ policy });
    expect(parse(JSON.stringify(policy))).toEqual({ policy });
  });

  it.each<[string, string, readonly string[]]>([
    ['not YAML', 'a: [', ['yaml: line 1: did not find expected node content']],
    ['an empty file', '', ['the policy must be an object']],
    ['no rules', head, ['line 1: rules: must have at least one rule']],
    [
      'another version',
      'apiVersion: audit.k8s.io/v1beta1\nkind: Policies\nrules: [{level: None}]',
      ['line 1: apiVersion: must be audit.k8s.io/v1', 'line 2: kind: must be Policy'],
    ],
    [
      'an unknown field',
      `${head}rules:\n- level: None\n- level: None\n  verb: [get]\n  __proto__: 1\n`,
      ['line 6: unknown field "rules[1].verb"', 'line 7: unknown field "rules[1].__proto__"'],
    ],
    ['a duplicate field', `${head}rules:\n- level: None\n  level: None\n`, ['line 5: key "level" already set in map']],
    [
      'another type',
      `${head}rules:\n- level: None\n  users: tim\n  verbs:\n  - get\n  - 1\n  omitManagedFields: "no"\n`,
      [
        'line 5: rules[0].users: must be a list',
        'line 8: rules[0].verbs[1]: must be a string',
        'line 9: rules[0].omitManagedFields: must be a boolean',
      ],
    ],
    [
      'an unknown level',
      `${head}rules:\n- verbs: [get]\n- verbs: [get]\n  level: Meta\n`,
      [
        'line 4: rules[0].level: is required',
        'line 6: rules[1].level: "Meta" must be one of None, Metadata, Request, RequestResponse',
      ],
    ],
    [
      'an unknown stage',
      `${head}omitStages:\n- Received\nrules:\n- level: None\n`,
      ['line 4: omitStages[0]: "Received" must be one of RequestReceived, ResponseStarted, ResponseComplete, Panic'],
    ],
    [
      'resources and paths in one rule',
      `${head}rules:\n- level: None\n  namespaces: [a]\n  nonResourceURLs: [/a]\n`,
      ['line 6: rules[0].nonResourceURLs: a rule cannot apply to both resources and non-resource URLs'],
    ],
    [
      'paths',
      `${head}rules:\n- level: None\n  nonResourceURLs:\n  - a\n  - /a*/b\n  - "*"\n  - /c*\n`,
      [
        `line 6: rules[0].nonResourceURLs[0]: "a" must begin with '/'`,
        `line 7: rules[0].nonResourceURLs[1]: "/a*/b" may have '*' only as its last character`,
      ],
    ],
    [
      'names without resources',
      `${head}rules:\n- level: None\n  resources:\n  - group: apps\n    resourceNames: [a]\n`,
      ['line 7: rules[0].resources[0].resourceNames: needs at least one resource in resources'],
    ],
  ])('names the line and the field: %s', (_, text, expected) => {
    const result = parse(text);
    const problems = 'problems' in result ? result.problems : [];
    expect(problems).toHaveLength(expected.length);
    for (const [i, problem] of expected.entries()) expect(problems[i]).toContain(problem);
  });

  it('reads the group * for all groups', () => {
    const resources = [{ group: '*', resources: ['pods'] }];
    const text = JSON.stringify({ rules: [{ level: 'None', resources }] }).slice(1, -1);
    const result = parse(`{apiVersion: audit.k8s.io/v1, kind: Policy, ${text}}`);
    expect(result).toMatchObject({ policy: { rules: [{ resources }] } });
  });

  it('refuses a version in the name of a group', () => {
    const result = parse(`${head}rules:\n- level: None\n  resources:\n  - group: apps/v1\n`);
    expect(result).toEqual({
      problems: [expect.stringContaining('line 6: rules[0].resources[0].group: "apps/v1" is not an API group')],
    });
  });
});
