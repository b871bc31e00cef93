import { describe, expect, it } from 'vitest';
import { type ApiObject, jsonCopy } from '../meta/index.ts';
import { compileMatch, type MatchCriteria, matchRequest, namespaceOf } from './matching.ts';
import { fakeInitializer, old, requestFor, stored } from './testing/initializer.ts';
import type { AdmissionRequest, ServedKind } from './types.ts';

const { objects } = fakeInitializer([
  stored('namespaces', 'n', { metadata: { labels: { env: 'test' } } }),
  stored('namespaces', 'm', { metadata: { labels: { env: 'prod' } } }),
]);
const everything = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] };
const rule = (part: object = {}) => ({ ...everything, ...part });
const criteria = (part: MatchCriteria = {}): MatchCriteria => ({
  rules: [rule()],
  namespaceSelector: {},
  objectSelector: {},
  matchPolicy: 'Equivalent',
  ...part,
});
const matches = async (part: MatchCriteria, request: AdmissionRequest) =>
  (await matchRequest(compileMatch(criteria(part)), request, objects)) !== undefined;
const pod = (part: Partial<AdmissionRequest> = {}, labels = {}) => requestFor('pods', { metadata: { labels } }, part);

describe('rules', () => {
  it.each([
    ['pods', '', true],
    ['pods', 'status', false],
    ['pods/*', '', true],
    ['pods/*', 'status', true],
    ['pods/status', 'status', true],
    ['pods/status', 'scale', false],
    ['*', '', true],
    ['*', 'status', false],
    ['*/status', 'status', true],
    ['*/status', '', false],
    ['*/*', 'status', true],
    ['nodes/*', 'status', false],
  ])('%s with subresource "%s": %s', async (resource, subresource, expected) => {
    expect(await matches({ rules: [rule({ resources: [resource] })] }, pod({ subresource }))).toBe(expected);
  });

  it('name operations, groups, versions, scopes and objects', async () => {
    const request = pod();
    for (const [part, expected] of [
      [{ operations: ['UPDATE'] }, false],
      [{ operations: ['UPDATE', 'CREATE'] }, true],
      [{ apiGroups: ['apps'] }, false],
      [{ apiGroups: [''] }, true],
      [{ apiVersions: ['v2'] }, false],
      [{ scope: 'Cluster' }, false],
      [{ scope: 'Namespaced' }, true],
      [{ scope: '*' }, true],
      [{ resourceNames: ['y'] }, false],
      [{ resourceNames: ['y', 'x'] }, true],
    ] as const) {
      expect([part, await matches({ rules: [rule(part)] }, request)]).toEqual([part, expected]);
    }
    expect(await matches({ rules: [] }, request)).toBe(false);
    expect(await matches({ rules: undefined }, request)).toBe(true);
    expect(await matches({ excludeResourceRules: [rule({ resources: ['pods'] })] }, request)).toBe(false);
  });

  it('take a namespace for cluster-scoped', async () => {
    const request = requestFor('namespaces', {}, { name: 'n', namespace: '' });
    expect(namespaceOf(request)).toBe('n');
    expect(await matches({ rules: [rule({ scope: 'Cluster' })] }, request)).toBe(true);
    expect(await matches({ rules: [rule({ scope: 'Namespaced' })] }, request)).toBe(false);
  });
});

describe('matchPolicy', () => {
  const inVersion = (version: string): ServedKind => ({
    kind: { group: '', version, kind: 'Any' },
    resource: { group: '', version, resource: 'pods' },
  });
  const equivalents = [inVersion('v1'), inVersion('v2'), inVersion('v3')];
  const request = pod();
  const served = { ...request, versions: { ...request.versions, equivalents } };
  const match = (part: MatchCriteria) => matchRequest(compileMatch(criteria(part)), served, objects);

  it('finds the resource in another version, by the first rule that names one', () => {
    const rules = [rule({ apiVersions: ['v9'] }), rule({ apiVersions: ['v3'] }), rule({ apiVersions: ['v2'] })];
    expect(match({ rules })).toBe(equivalents[2]);
    expect(match({ rules: [...rules, rule({ apiVersions: ['v1'] })] })).toMatchObject(inVersion('v1'));
    expect(match({ rules, matchPolicy: 'Exact' })).toBeUndefined();
  });

  it('holds for excluded resources', () => {
    const excludeResourceRules = [rule({ apiVersions: ['v2'] })];
    expect(match({ excludeResourceRules })).toBeUndefined();
    expect(match({ excludeResourceRules, matchPolicy: 'Exact' })).toMatchObject(inVersion('v1'));
  });
});

describe('selectors', () => {
  const labelled = (env: string) => ({ matchLabels: { env } });

  it('select by the labels of the object or those that it had', async () => {
    const updated = pod({ oldObject: old({ metadata: { labels: { env: 'test' } } }) }, { env: 'prod' });
    const selected = ['prod', 'test', 'dev'].map((env) => matches({ objectSelector: labelled(env) }, updated));
    expect(await Promise.all(selected)).toEqual([true, true, false]);
    const without = { matchExpressions: [{ key: 'env', operator: 'DoesNotExist' }] };
    expect(await matches({ objectSelector: without }, pod())).toBe(true);
    expect(await matches({ objectSelector: without }, pod({ object: undefined }))).toBe(false);
    const options = { kind: 'PodExecOptions' } as unknown as ApiObject;
    expect(await matches({ objectSelector: without }, pod({ operation: 'CONNECT', object: options }))).toBe(false);
  });

  it('select by the labels of the namespace, or of the namespace that is written', async () => {
    expect(await matches({ namespaceSelector: labelled('test') }, pod())).toBe(true);
    expect(await matches({ namespaceSelector: labelled('test') }, pod({ namespace: 'm' }))).toBe(false);
    const namespace = (part: Partial<AdmissionRequest>, env: string) =>
      requestFor('namespaces', { metadata: { name: 'm', labels: { env } } }, { name: 'm', namespace: '', ...part });
    expect(await matches({ namespaceSelector: labelled('test') }, namespace({}, 'test'))).toBe(true);
    expect(
      await matches({ namespaceSelector: labelled('test') }, namespace({ operation: 'DELETE', object: undefined }, '')),
    ).toBe(false);
    expect(
      await matches({ namespaceSelector: labelled('prod') }, namespace({ operation: 'DELETE', object: undefined }, '')),
    ).toBe(true);
  });

  it('do not exempt cluster-scoped objects by namespace', async () => {
    expect(await matches({ namespaceSelector: labelled('test') }, requestFor('nodes', {}, { namespace: '' }))).toBe(
      true,
    );
  });

  it('fail for a namespace that does not exist, of a request that would match', async () => {
    const lost = pod({ namespace: 'lost' });
    await expect(matches({ namespaceSelector: labelled('test') }, lost)).rejects.toThrow('namespaces "lost" not found');
    expect(await matches({ namespaceSelector: labelled('test'), rules: [] }, lost)).toBe(false);
    expect(await matches({ namespaceSelector: labelled('test'), objectSelector: labelled('x') }, lost)).toBe(false);
    expect(await matches({}, lost)).toBe(true);
  });

  it('select nothing when they are absent', async () => {
    expect(await matches(jsonCopy({}) as MatchCriteria, pod())).toBe(true);
    expect(matchRequest(compileMatch({ rules: [rule()] }), pod(), objects)).toBeUndefined();
  });
});
