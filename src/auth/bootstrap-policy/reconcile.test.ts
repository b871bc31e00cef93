import { describe, expect, it } from 'vitest';
import { defaultFeatures, namesFor } from '../../meta/index.ts';
import { missingRules } from './missing-rules.ts';
import { type BindingObject, isBinding, type PolicyObject, type RoleObject } from './objects.ts';
import { bootstrapPolicy } from './policy.ts';
import { type PolicyStep, reconcilePolicy } from './reconcile.ts';

const names = namesFor('k8s.io');
const policy = bootstrapPolicy(names, defaultFeatures);
const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate';

const find = (kind: string, name: string): PolicyObject => {
  const found = policy.find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
};
const role = (name: string) => find('ClusterRole', name) as RoleObject;
const binding = (name: string) => find('ClusterRoleBinding', name) as BindingObject;

/** The steps when one of the stored objects is this one, the others being as they should. */
const stepsWith = (object: PolicyObject): PolicyStep[] => {
  const { kind, metadata } = object;
  const others = policy.filter((other) => other.kind !== kind || other.metadata.name !== metadata.name);
  return reconcilePolicy(policy, [...others, object], names);
};
const stepsWithout = (...gone: PolicyObject[]) =>
  reconcilePolicy(
    policy,
    policy.filter((object) => !gone.includes(object)),
    names,
  );

describe('reconciliation of the default policy', () => {
  it('creates what is missing, and does nothing when nothing is', () => {
    expect(reconcilePolicy(policy, [], names)).toEqual(policy.map((object) => ({ verb: 'create', object })));
    expect(reconcilePolicy(policy, structuredClone(policy), names)).toEqual([]);
  });

  it('appends missing permissions one by one, and keeps those of users', () => {
    const basic = role('system:basic-user');
    const own = { verbs: ['get'], apiGroups: ['example.org'], resources: ['things'] };
    const held = { ...basic, rules: [own, { verbs: ['create'], apiGroups: ['*'], resources: ['selfsubjectreviews'] }] };
    const missing = ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'].map((resource) => ({
      verbs: ['create'],
      apiGroups: ['authorization.k8s.io'],
      resources: [resource],
    }));
    expect(stepsWith(held)).toEqual([{ verb: 'update', object: { ...held, rules: [...held.rules, ...missing] } }]);
  });

  it('treats a role without rules as one without permissions', () => {
    const single = (resource: string, verb: string) => ({ verbs: [verb], apiGroups: [''], resources: [resource] });
    const dns = role('system:kube-dns');
    const rules = ['endpoints', 'services'].flatMap((resource) => [
      single(resource, 'list'),
      single(resource, 'watch'),
    ]);
    expect(stepsWith({ ...dns, rules: null })).toEqual([{ verb: 'update', object: { ...dns, rules } }]);
  });

  it('adds missing subjects and keeps others', () => {
    const viewer = binding('system:public-info-viewer');
    const other = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' };
    const [authenticated, unauthenticated] = viewer.subjects ?? [];
    if (authenticated === undefined || unauthenticated === undefined) throw new Error('two subjects');
    const held = { ...viewer, subjects: [unauthenticated, other] };
    const object = { ...held, subjects: [unauthenticated, other, authenticated] };
    expect(stepsWith(held)).toEqual([{ verb: 'update', object }]);
  });

  it('adds missing labels and annotations, and keeps values that users have set', () => {
    const { metadata, ...rest } = role('edit');
    const labels = { 'kubernetes.io/bootstrapping': 'mine', team: 'a' };
    const held = { ...rest, metadata: { name: metadata.name, resourceVersion: '7', labels } };
    expect(stepsWith(held)).toEqual([
      {
        verb: 'update',
        object: {
          ...rest,
          metadata: {
            name: 'edit',
            resourceVersion: '7',
            labels: { ...labels, 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' },
            annotations: { [autoUpdate]: 'true' },
          },
        },
      },
    ]);
  });

  it('leaves objects alone whose autoupdate annotation is false', () => {
    const off = { annotations: { [autoUpdate]: 'false' } };
    const discovery = role('system:discovery');
    expect(stepsWith({ ...discovery, metadata: { ...discovery.metadata, ...off }, rules: [] })).toEqual([]);
    const bound = binding('system:discovery');
    const other = { ...bound.roleRef, name: 'view' };
    expect(stepsWith({ ...bound, metadata: { ...bound.metadata, ...off }, roleRef: other })).toEqual([]);
  });

  it('deletes a binding to another role, so that it is recreated', () => {
    const bound = binding('system:discovery');
    const held = { ...bound, roleRef: { ...bound.roleRef, name: 'cluster-admin' } };
    expect(stepsWith(held)).toEqual([{ verb: 'delete', object: held }]);
  });

  it('leaves the rules of aggregated roles alone', () => {
    const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }];
    expect(stepsWith({ ...role('view'), rules })).toEqual([]);
  });

  it('restores the aggregation rule of an aggregated role, and removes that of another', () => {
    const { aggregationRule, ...view } = role('view');
    expect(stepsWith(view)).toEqual([{ verb: 'update', object: { ...view, aggregationRule } }]);
    const own = { clusterRoleSelectors: [{ matchLabels: { team: 'a' } }] };
    const selectors = [...own.clusterRoleSelectors, ...(aggregationRule?.clusterRoleSelectors ?? [])];
    const both = { ...view, aggregationRule: { clusterRoleSelectors: selectors } };
    expect(stepsWith({ ...view, aggregationRule: own })).toEqual([{ verb: 'update', object: both }]);
    const dns = role('system:kube-dns');
    expect(stepsWith({ ...dns, ...(aggregationRule && { aggregationRule }) })).toEqual([
      { verb: 'update', object: dns },
    ]);
  });
});

describe('a default object that was split off', () => {
  it('takes over the rules of a user-facing role that is not aggregated', () => {
    const { aggregationRule: _, ...old } = role('view');
    const own = { verbs: ['get'], apiGroups: ['example.org'], resources: ['things'] };
    const gone = role('system:aggregate-to-view');
    const stored = policy.filter((object) => object !== gone && object !== role('view'));
    const steps = reconcilePolicy(policy, [...stored, { ...old, rules: [own] }], names);
    const created = steps.find(({ verb }) => verb === 'create')?.object as RoleObject;
    expect(created.metadata.name).toBe('system:aggregate-to-view');
    expect(created.metadata.labels).toMatchObject(gone.metadata.labels ?? {});
    expect(created.rules?.[0]).toEqual(own);
    expect(missingRules(created.rules ?? [], gone.rules ?? [])).toEqual([]);
    expect(steps.find(({ verb }) => verb === 'update')?.object.metadata.name).toBe('view');
  });

  it('is created as it is when the user-facing role is aggregated', () => {
    const gone = role('system:aggregate-to-edit');
    expect(stepsWithout(gone)).toEqual([{ verb: 'create', object: gone }]);
  });

  it('takes over subjects and annotations of the discovery binding', () => {
    const [gone, discovery] = [binding('system:public-info-viewer'), binding('system:discovery')];
    const locked = {
      ...discovery,
      metadata: { ...discovery.metadata, annotations: { [autoUpdate]: 'false' } },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }],
    };
    const others = policy.filter((object) => object !== gone && object !== discovery);
    const [step] = reconcilePolicy(policy, [...others, locked], names);
    if (step === undefined || !isBinding(step.object)) throw new Error('a binding');
    expect(step.object.metadata).toEqual({ ...locked.metadata, name: 'system:public-info-viewer' });
    expect(step.object.subjects).toEqual(locked.subjects);
    expect(step.object.roleRef).toEqual(gone.roleRef);
  });
});

describe('missing rules', () => {
  const pods = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };

  it.each([
    ['a verb', { ...pods, verbs: ['*'] }],
    ['a group', { ...pods, apiGroups: ['*'] }],
    ['a resource', { ...pods, resources: ['*'] }],
    ['several', { verbs: ['get', 'list'], apiGroups: ['', 'apps'], resources: ['nodes', 'pods'] }],
  ])('are none where a wider rule has %s', (_, held) => {
    expect(missingRules([held], [pods])).toEqual([]);
  });

  it('are single permissions', () => {
    const wanted = { verbs: ['get', 'list'], apiGroups: ['', 'a'], resources: ['pods'] };
    expect(missingRules([pods], [wanted])).toEqual([
      { ...pods, verbs: ['list'] },
      { ...pods, apiGroups: ['a'] },
      { ...pods, apiGroups: ['a'], verbs: ['list'] },
    ]);
  });

  it('are those that no one rule allows as a whole', () => {
    const held = [pods, { ...pods, apiGroups: ['a'], resources: ['nodes'] }];
    const crossed = { ...pods, resources: ['nodes'] };
    expect(missingRules(held, [crossed])).toEqual([crossed]);
  });

  it('count names: a rule with names does not allow all, one without allows any', () => {
    const one = { ...pods, resourceNames: ['x'] };
    expect(missingRules([one], [pods])).toEqual([pods]);
    expect(missingRules([pods], [one])).toEqual([]);
    expect(missingRules([{ ...pods, resourceNames: ['x', 'y'] }], [one])).toEqual([]);
    expect(missingRules([{ ...pods, resourceNames: ['y'] }], [one])).toEqual([one]);
  });

  it('know the subresource of all resources', () => {
    const scale = { ...pods, resources: ['deployments/scale'] };
    expect(missingRules([{ ...pods, resources: ['*/scale'] }], [scale])).toEqual([]);
    expect(missingRules([{ ...pods, resources: ['deployments'] }], [scale])).toEqual([scale]);
    expect(missingRules([{ ...pods, resources: ['*/scale'] }], [pods])).toEqual([pods]);
  });

  it('know URLs by prefix', () => {
    const url = (path: string) => ({ verbs: ['get'], nonResourceURLs: [path] });
    expect(missingRules([url('/healthz/*')], [url('/healthz/ping')])).toEqual([]);
    expect(missingRules([url('*')], [url('/healthz/*')])).toEqual([]);
    expect(missingRules([url('/healthz')], [url('/healthz/ping')])).toEqual([url('/healthz/ping')]);
    expect(missingRules([url('/healthz'), pods], [url('/healthz')])).toEqual([]);
  });
});
