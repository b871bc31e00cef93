import { describe, expect, it } from 'vitest';
import { namesFor } from '../../meta/index.ts';
import type { Attributes } from '../types.ts';
import { abacAuthorizer } from './abac-authorizer.ts';
import { parsePolicyFile } from './policy-file.ts';

const names = namesFor('k8s.io');
const policy = (spec: object) =>
  JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec });

/** The authorizer of the lines of a policy file. */
const authorizerOf = (...lines: readonly string[]) => abacAuthorizer(parsePolicyFile(lines.join('\n'), names));

interface Asked {
  readonly verb?: string;
  readonly namespace?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly path?: string;
}

function attributesOf(
  { verb = 'get', namespace = '', group = '', resource = '', subresource = '', path = '' }: Asked,
  name = 'ada',
  groups: readonly string[] = [],
): Attributes {
  const place = { group, version: 'v1', resource, subresource, namespace, name: '' };
  return { user: { name, groups }, verb, resource: path === '' ? place : undefined, path };
}

const authenticated = ['system:authenticated'];
const pods = { resource: 'pods', namespace: 'a' };

describe('a policy', () => {
  it.each<[string, object, Asked, boolean]>([
    ['for a resource of a namespace', { resource: 'pods', namespace: 'a' }, pods, true],
    ['for another resource', { resource: 'secrets', namespace: 'a' }, pods, false],
    ['for another namespace', { resource: 'pods', namespace: 'b' }, pods, false],
    ['without a namespace: not one of a namespace', { resource: 'pods' }, pods, false],
    ['without a namespace: one of the cluster', { resource: 'nodes' }, { resource: 'nodes' }, true],
    ['for all namespaces', { resource: 'pods', namespace: '*' }, pods, true],
    ['for all resources', { resource: '*', namespace: 'a' }, pods, true],
    ['without an API group: not another group', { resource: '*', namespace: 'a' }, { ...pods, group: 'apps' }, false],
    ['for an API group', { resource: 'pods', namespace: 'a', apiGroup: 'apps' }, { ...pods, group: 'apps' }, true],
    ['for all API groups', { resource: 'pods', namespace: 'a', apiGroup: '*' }, { ...pods, group: 'apps' }, true],
    ['includes subresources', { resource: 'pods', namespace: 'a' }, { ...pods, subresource: 'log' }, true],
    ['names no subresources', { resource: 'pods/log', namespace: 'a' }, { ...pods, subresource: 'log' }, false],
    [
      'that is read-only: watch',
      { resource: 'pods', namespace: 'a', readonly: true },
      { ...pods, verb: 'watch' },
      true,
    ],
    [
      'that is read-only: create',
      { resource: 'pods', namespace: 'a', readonly: true },
      { ...pods, verb: 'create' },
      false,
    ],
    ['for a path', { nonResourcePath: '/version' }, { path: '/version' }, true],
    ['for a path, and what is below', { nonResourcePath: '/version' }, { path: '/version/x' }, false],
    ['for what paths begin with', { nonResourcePath: '/logs/*' }, { path: '/logs/a' }, true],
    ['for what paths begin with: the folder', { nonResourcePath: '/logs/*' }, { path: '/logs' }, false],
    ['for all paths', { nonResourcePath: '*' }, { path: '/x', verb: 'post' }, true],
    ['for all paths: a resource', { nonResourcePath: '*' }, pods, false],
    ['for all resources: a path', { resource: '*', namespace: '*', apiGroup: '*' }, { path: '/x' }, false],
    ['for paths that is read-only', { nonResourcePath: '*', readonly: true }, { path: '/x', verb: 'post' }, false],
    ['of nothing', {}, pods, false],
  ])('%s', (_, spec, asked, expected) => {
    const { allowed, reason } = authorizerOf(policy({ user: 'ada', ...spec }))(attributesOf(asked)) as {
      allowed: boolean;
      reason: string;
    };
    expect({ allowed, reason }).toEqual({ allowed: expected, reason: expected ? '' : 'No policy matched.' });
  });

  it.each<[string, object, string, readonly string[], boolean]>([
    ['for a user', { user: 'ada' }, 'ada', [], true],
    ['for another user', { user: 'bob' }, 'ada', [], false],
    ['for a group', { group: 'staff' }, 'ada', ['x', 'staff'], true],
    ['for a user as a member of a group', { user: 'ada', group: 'staff' }, 'ada', ['staff'], true],
    ['for a user, who is not a member of the group', { user: 'ada', group: 'staff' }, 'ada', [], false],
    ['for a group, of which another user is a member', { user: 'bob', group: 'staff' }, 'ada', ['staff'], false],
    ['for all users', { user: '*' }, 'ada', authenticated, true],
    ['for all users: somebody anonymous', { user: '*' }, 'system:anonymous', ['system:unauthenticated'], false],
    ['for all groups', { group: '*' }, 'ada', authenticated, true],
    ['for a user in any group', { user: 'bob', group: '*' }, 'ada', authenticated, true],
    ['for nobody', {}, 'ada', authenticated, false],
    ['for nobody: a user without a name', {}, '', [], false],
  ])('%s', (_, subject, name, groups, expected) => {
    const authorize = authorizerOf(policy({ resource: 'pods', namespace: 'a', ...subject }));
    expect(authorize(attributesOf(pods, name, groups))).toMatchObject({ allowed: expected });
  });
});

describe('a policy of the former form', () => {
  it.each<[object, Asked, boolean]>([
    [{ user: 'ada' }, { ...pods, group: 'apps' }, true],
    [{ user: 'ada' }, { path: '/x' }, true],
    [{ user: 'ada', resource: 'pods' }, { ...pods, group: 'apps' }, true],
    [{ user: 'ada', resource: 'pods' }, { path: '/x' }, false],
    [{ user: 'ada', namespace: 'a' }, { ...pods, namespace: 'b' }, false],
    [{ user: 'ada', readonly: true }, { ...pods, verb: 'delete' }, false],
    [{ resource: 'pods' }, pods, true],
    [{ user: '*' }, pods, true],
    [{ user: 'bob' }, pods, false],
    [{ kind: 'Policy', spec: { user: 'bob' } }, pods, true],
  ])('%j allows %j: %s', (line, asked, expected) => {
    const authorize = authorizerOf(JSON.stringify(line));
    expect(authorize(attributesOf(asked, 'ada', authenticated))).toMatchObject({ allowed: expected });
  });

  it('without a user and a group is for those who are authenticated', () => {
    const authorize = authorizerOf('{}');
    expect(authorize(attributesOf(pods, 'ada', authenticated))).toMatchObject({ allowed: true });
    expect(authorize(attributesOf(pods, 'ada', []))).toMatchObject({ allowed: false });
  });
});

it('lists the rules of a user in a namespace', () => {
  const authorize = authorizerOf(
    policy({ user: 'ada', namespace: '*', resource: '*', apiGroup: '*' }),
    policy({ group: 'staff', namespace: 'a', resource: 'secrets', readonly: true }),
    policy({ user: 'ada', namespace: 'b', resource: 'pods' }),
    policy({ user: 'ada', namespace: 'a', nonResourcePath: '/logs' }),
    policy({ user: 'ada', nonResourcePath: '/version' }),
  );
  expect(authorize.rulesFor?.({ name: 'ada', groups: ['staff'] }, 'a')).toEqual({
    resourceRules: [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['secrets'] },
    ],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/logs'] }],
    incomplete: false,
  });
});

describe('parsePolicyFile', () => {
  it('ignores empty lines, comments and unknown fields', () => {
    const lines = ['# a', '', '  ', '  # b', policy({ user: 'ada', colour: 'red' }), '{"user":"bob"}\r', ''];
    expect(parsePolicyFile(lines.join('\n'), names).map(({ user }) => user)).toEqual(['ada', 'bob']);
    expect(parsePolicyFile('', names)).toEqual([]);
  });

  it.each<[string, string]>([
    ['nonsense', 'must be one JSON object'],
    ['[]', 'must be one JSON object'],
    [`${policy({ user: 'a' })} # x`, 'must be one JSON object'],
    [`${policy({ user: 'a' })} ${policy({ user: 'b' })}`, 'must be one JSON object'],
    ['{"apiVersion":"abac.authorization.kubernetes.io/v1beta1",', 'must be one JSON object'],
    [policy({ user: 5 }), 'has a user that is not a string'],
    [policy({ user: 'a', readonly: 'yes' }), 'has a readonly that is neither true nor false'],
    ['{"user":"a","namespace":[]}', 'has a namespace that is not a string'],
    [
      '{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":[]}',
      'has a spec that is not an object',
    ],
    [
      '{"apiVersion":"abac.authorization.kubernetes.io/v1","kind":"Policy","spec":{"user":"a"}}',
      'has the kind "Policy" of "abac.authorization.kubernetes.io/v1": it must be "Policy" of "abac.authorization.kubernetes.io/v1beta1"',
    ],
    [
      '{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Rule","spec":{"user":"a"}}',
      'has the kind "Rule" of "abac.authorization.kubernetes.io/v1beta1": it must be "Policy" of "abac.authorization.kubernetes.io/v1beta1"',
    ],
    [
      '{"apiVersion":"abac.authorization.kubernetes.io/v1beta1","spec":{"user":"a"}}',
      'has the kind "" of "abac.authorization.kubernetes.io/v1beta1": it must be "Policy" of "abac.authorization.kubernetes.io/v1beta1"',
    ],
    [Buffer.from('{"user":"j\xf6rg"}', 'latin1').toString(), 'has a NUL or bytes that are not UTF-8'],
  ])('names the line of %s', (line, problem) => {
    expect(() => parsePolicyFile(`${policy({ user: 'a' })}\n# b\n${line}\n`, names)).toThrow(`line 3 ${problem}`);
  });
});
