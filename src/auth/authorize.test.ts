import { describe, expect, it } from 'vitest';
import { defaultFeatures, type Features, namesFor } from '../meta/index.ts';
import { alwaysAllowAuthorizer, mastersAuthorizer, observedAuthorizer, unionAuthorizer } from './authorize.ts';
import { nodeAuthorizer } from './node/node-authorizer.ts';
import { NodeGraph } from './node/node-graph.ts';
import { rbacAuthorizer } from './rbac/rbac-authorizer.ts';
import { RbacIndex } from './rbac/rbac-index.ts';
import { loadDefaultRoles } from './testing/default-roles.ts';
import type { Attributes, Authorizer } from './types.ts';

const names = namesFor('example.org');
const index = new RbacIndex();
loadDefaultRoles(index, names, {} as Features);
const authorize = unionAuthorizer([mastersAuthorizer, rbacAuthorizer(index, names)]);
const pods = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'a', name: 'b' };

async function may(group: string, verb: string, path: string, resource?: Attributes['resource']) {
  return (await authorize({ user: { name: 'u', groups: [group] }, verb, resource, path })).allowed;
}

describe('authorizers', () => {
  it('allow system:masters everything', async () => {
    expect(await may('system:masters', 'delete', '/api/v1/namespaces/a/pods/b', pods)).toBe(true);
    expect(await may('system:masters', 'get', '/metrics')).toBe(true);
  });

  // The rules of the roles system:discovery and system:public-info-viewer, as recorded from the reference server.
  const open = ['/healthz', '/livez', '/readyz', '/version', '/version/'];
  const discovery = ['/api', '/api/', '/api/v1', '/apis', '/apis/apps/v1', '/openapi', '/openapi/v3/api/v1'];
  const closed = ['/', '/metrics', '/apix', '/healthz/ping', '/versions', '/openapix', '/api2/v1'];

  it.each([...open, ...discovery])('allow authenticated users to read %s', async (path) => {
    expect(await may('system:authenticated', 'get', path)).toBe(true);
    expect(await may('system:authenticated', 'post', path)).toBe(false);
  });

  it('allow anonymous users to read version and health only', async () => {
    for (const path of open) expect(await may('system:unauthenticated', 'get', path)).toBe(true);
    for (const path of [...discovery, ...closed]) expect(await may('system:unauthenticated', 'get', path)).toBe(false);
  });

  it.each(closed)('deny %s', async (path) => {
    expect(await may('system:authenticated', 'get', path)).toBe(false);
  });

  it('deny resource requests of other users, also below discovery paths', async () => {
    expect(await may('system:authenticated', 'get', '/api/v1/namespaces/a/pods/b', pods)).toBe(false);
    expect(await may('ops', 'get', '/version')).toBe(false);
  });

  it('join the reasons of all that did not allow', async () => {
    const no =
      (reason: string): Authorizer =>
      () => ({ allowed: false, reason });
    const attributes = { user: { name: 'u', groups: [] }, verb: 'get', resource: undefined, path: '/' };
    expect(await unionAuthorizer([no('a'), no(''), no('b')])(attributes)).toEqual({ allowed: false, reason: 'a\nb' });
    const later = unionAuthorizer([async () => no('a')(attributes), no('b'), async () => no('')(attributes)]);
    expect(await later(attributes)).toEqual({ allowed: false, reason: 'a\nb' });
  });
});

describe('authorizers that fail', () => {
  const attributes = { user: { name: 'u', groups: [] }, verb: 'get', resource: undefined, path: '/' };
  const failing =
    (error: string, denied = false): Authorizer =>
    () => ({ allowed: false, ...(denied ? { denied } : {}), reason: '', error });
  const yes: Authorizer = () => ({ allowed: true, reason: 'yes' });
  const no: Authorizer = async () => ({ allowed: false, denied: true, reason: 'no' });

  it('leave the decision to later ones', async () => {
    expect(unionAuthorizer([failing('a'), yes])(attributes)).toEqual({ allowed: true, reason: 'yes' });
    expect(await unionAuthorizer([failing('a'), no])(attributes)).toEqual(await no(attributes));
    expect(await unionAuthorizer([async () => failing('a')(attributes), yes])(attributes)).toEqual({
      allowed: true,
      reason: 'yes',
    });
  });

  it('are told when nobody decides, each once', async () => {
    const of = (...authorizers: Authorizer[]) => unionAuthorizer(authorizers)(attributes);
    expect(of(failing('a'))).toEqual({ allowed: false, reason: '', error: 'a' });
    expect(of(failing('a'), failing('b'), failing('a'))).toEqual({ allowed: false, reason: '', error: '[a, b]' });
    expect(await of(failing('a'), async () => failing('b')(attributes))).toMatchObject({ error: '[a, b]' });
  });

  it('deny where they are to', () => {
    expect(unionAuthorizer([failing('a', true), yes])(attributes)).toEqual({
      allowed: false,
      denied: true,
      reason: '',
      error: 'a',
    });
  });

  it('are not counted as decisions', async () => {
    const decided: string[] = [];
    const observed = (authorizer: Authorizer) =>
      observedAuthorizer(authorizer, { decided: (decision) => decided.push(decision) });
    for (const one of [failing('a'), yes, no, failing('a', true)]) await observed(one)(attributes);
    expect(decided).toEqual(['allowed', 'denied', 'denied']);
    expect(observed(yes)(attributes)).not.toBeInstanceOf(Promise);
  });
});

describe('self reviews', () => {
  const may = async (group: string, resource: string, changed = {}, groups = ['system:authenticated']) => {
    const asked = { ...pods, group, resource, namespace: '', name: '', ...changed };
    return (await authorize({ user: { name: 'u', groups }, verb: 'create', path: '', resource: asked })).allowed;
  };

  // The rules of the role system:basic-user, as recorded from the reference server.
  it('allows authenticated users to create self reviews', async () => {
    expect(await may('authentication.example.org', 'selfsubjectreviews')).toBe(true);
    expect(await may('authorization.example.org', 'selfsubjectaccessreviews')).toBe(true);
    expect(await may('authorization.example.org', 'selfsubjectrulesreviews')).toBe(true);
  });

  it('allows no other reviews, and none to anonymous users', async () => {
    expect(await may('authentication.example.org', 'tokenreviews')).toBe(false);
    expect(await may('authorization.example.org', 'subjectaccessreviews')).toBe(false);
    expect(await may('authorization.example.org', 'selfsubjectreviews')).toBe(false);
    expect(await may('authentication.example.org', 'selfsubjectreviews', { subresource: 'x' })).toBe(false);
    expect(await may('authentication.example.org', 'selfsubjectreviews', {}, ['system:unauthenticated'])).toBe(false);
  });
});

describe('rulesFor', () => {
  const rules = (group: string, authorizer = authorize) => authorizer.rulesFor?.({ name: 'u', groups: [group] }, 'ns');

  it('agrees with the decisions', async () => {
    for (const group of ['system:authenticated', 'system:unauthenticated', 'ops']) {
      const listed = (await rules(group))?.nonResourceRules.flatMap(({ nonResourceURLs }) => nonResourceURLs) ?? [];
      for (const path of [...listed, '/', '/metrics', '/api', '/version']) {
        expect(await may(group, 'get', path)).toBe(listed.includes(path));
      }
    }
    expect((await rules('system:masters'))?.resourceRules).toEqual([
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    ]);
  });

  it('is incomplete if one authorizer cannot enumerate its rules', async () => {
    expect(await rules('system:masters')).toMatchObject({ incomplete: false });
    const nodes = nodeAuthorizer({ graph: new NodeGraph(), names, features: defaultFeatures });
    const withNodes = unionAuthorizer([alwaysAllowAuthorizer, nodes]);
    const rulesOfUser = (name: string, group: string) => withNodes.rulesFor?.({ name, groups: [group] }, '');
    for (const name of ['system:node:a', 'system:node:']) {
      expect(await rulesOfUser(name, 'system:nodes')).toMatchObject({
        incomplete: true,
        evaluationError: 'node authorizer does not support user rule resolution',
      });
    }
    // The mode has nothing to say about other users.
    for (const [name, group] of [
      ['jane', 'ops'],
      ['system:node:a', 'ops'],
      ['jane', 'system:nodes'],
      ['jane', 'system:masters'],
    ] as const) {
      const found = await rulesOfUser(name, group);
      expect(found).toMatchObject({ incomplete: false });
      expect(found).not.toHaveProperty('evaluationError');
    }
    const silent: Authorizer = () => ({ allowed: false, reason: '' });
    expect(await rules('system:masters', unionAuthorizer([alwaysAllowAuthorizer, silent]))).toEqual({
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      incomplete: true,
    });
  });

  it('has every error once', async () => {
    const failing = (evaluationError: string): Authorizer =>
      Object.assign(() => ({ allowed: false, reason: '' }), {
        rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: true, evaluationError }),
      });
    const errorOf = async (...errors: string[]) =>
      (await rules('ops', unionAuthorizer(errors.map(failing))))?.evaluationError;
    expect(await errorOf('a', 'a')).toBe('a');
    expect(await errorOf('a', 'b', 'a')).toBe('[a, b]');
  });
});
