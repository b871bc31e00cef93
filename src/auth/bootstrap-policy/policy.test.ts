import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defaultFeatures, namesFor } from '../../meta/index.ts';
import { builtinResources } from '../../resources/index.ts';
import type { PolicyRule } from '../../types/rbac-v1.ts';
import { isBinding, type PolicyObject } from './objects.ts';
import { bootstrapPolicy } from './policy.ts';

const compatible = bootstrapPolicy(namesFor('k8s.io'), defaultFeatures);
const ofKind = (policy: readonly PolicyObject[], kind: string) => policy.filter((object) => object.kind === kind);
const named = (policy: readonly PolicyObject[], kind: string) => ofKind(policy, kind).map((o) => o.metadata.name);

interface Exchange {
  readonly step: string;
  readonly body: unknown;
}
const path = join(import.meta.dirname, '../../../test/reference/expected/access.defaults.json');
const recorded = JSON.parse(readFileSync(path, 'utf8')) as Exchange[];

describe('the default cluster roles', () => {
  it.each(recorded.slice(0, 24))('are those of the recording: $step', ({ step, body }) => {
    const [role] = ofKind(compatible, 'ClusterRole').filter(({ metadata }) => metadata.name === step);
    if (role === undefined || isBinding(role)) throw new Error(`no cluster role ${step}`);
    const { labels, annotations } = role.metadata;
    const { rules, aggregationRule: agg } = role;
    expect({ labels, annotations, ...(agg && { agg }), ...(rules && { rules }) }).toEqual(body);
  });

  it('have the names of the recording', () => {
    expect(named(compatible, 'ClusterRole').sort()).toEqual(recorded[25]?.body);
  });

  it('are bound as in the recording', () => {
    const bindings = ofKind(compatible, 'ClusterRoleBinding').filter(isBinding);
    const shown = bindings.map(({ metadata, roleRef, subjects = [] }) => [
      metadata.name,
      roleRef.name,
      subjects.map(({ kind, namespace = '', name }) => `${kind}/${namespace}/${name}`),
    ]);
    expect(shown.sort((a, b) => (String(a) < String(b) ? -1 : 1))).toEqual(recorded[24]?.body);
  });

  it('of features that are off are absent', () => {
    const features = { ...defaultFeatures, ClusterTrustBundle: true, StorageVersionMigrator: true };
    const more = named(bootstrapPolicy(namesFor('k8s.io'), features), 'ClusterRole');
    expect(more.filter((name) => !named(compatible, 'ClusterRole').includes(name)).sort()).toEqual([
      'system:cluster-trust-bundle-discovery',
      'system:controller:kube-apiserver-serving-clustertrustbundle-publisher',
      'system:controller:storage-version-migrator-controller',
    ]);
    const less = bootstrapPolicy(namesFor('k8s.io'), { ...defaultFeatures, SELinuxChangePolicy: false });
    expect(named(less, 'ClusterRoleBinding')).not.toContain('system:controller:selinux-warning-controller');
  });
});

describe('the default roles of namespaces', () => {
  const places = (kind: string) =>
    ofKind(compatible, kind).map(({ metadata: { namespace = '', name } }) => `${namespace}/${name}`);

  it('are in the system namespace and in the public one', () => {
    expect(places('Role').sort()).toEqual([
      'kube-public/system:controller:bootstrap-signer',
      'kube-system/extension-apiserver-authentication-reader',
      'kube-system/system::leader-locking-kube-controller-manager',
      'kube-system/system::leader-locking-kube-scheduler',
      'kube-system/system:controller:bootstrap-signer',
      'kube-system/system:controller:cloud-provider',
      'kube-system/system:controller:token-cleaner',
    ]);
    expect(places('RoleBinding').sort()).toEqual([
      'kube-public/system:controller:bootstrap-signer',
      'kube-system/system::extension-apiserver-authentication-reader',
      'kube-system/system::leader-locking-kube-controller-manager',
      'kube-system/system::leader-locking-kube-scheduler',
      'kube-system/system:controller:bootstrap-signer',
      'kube-system/system:controller:cloud-provider',
      'kube-system/system:controller:token-cleaner',
    ]);
  });

  it('are bound to service accounts of the system namespace', () => {
    const [binding] = ofKind(compatible, 'RoleBinding')
      .filter(isBinding)
      .filter(({ metadata }) => metadata.namespace === 'kube-public');
    expect(binding).toMatchObject({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'system:controller:bootstrap-signer' },
      subjects: [{ kind: 'ServiceAccount', name: 'bootstrap-signer', namespace: 'kube-system' }],
    });
  });
});

describe('the default policy', () => {
  it('names nothing but the configured domain', () => {
    const text = JSON.stringify(bootstrapPolicy(namesFor('example.org'), defaultFeatures));
    expect(text).not.toMatch(/k8s\.io|kubernetes|orch\.io|[{](domain|labels|product)[}]/);
    expect(text).toContain('"system:certificates.example.org:kubelet-serving-approver"');
  });

  it('has each object once, and binds roles that it has', () => {
    const keys = compatible.map(({ kind, metadata }) => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`);
    expect(keys).toHaveLength(new Set(keys).size);
    const bound = compatible
      .filter(isBinding)
      .map(
        ({ metadata, roleRef }) =>
          `${roleRef.kind}/${roleRef.kind === 'Role' ? (metadata.namespace ?? '') : ''}/${roleRef.name}`,
      );
    expect(bound.filter((key) => !keys.includes(key))).toEqual([]);
  });
});

/** Names in rules that are no resources of this server, with the reason. */
const elsewhere: { readonly [resource: string]: string } = {
  'certificates.{domain}/certificatesigningrequests/nodeclient': 'asked for by the controller that approves requests',
  'certificates.{domain}/certificatesigningrequests/selfnodeclient':
    'asked for by the controller that approves requests',
  'certificates.{domain}/signers': 'asked for by the admission of certificate signing requests',
  '/endpoints/restricted': 'addresses of pods, asked for by an admission plugin',
  'discovery.{domain}/endpointslices/restricted': 'addresses of pods, asked for by an admission plugin',
  '/nodes/metrics': 'asked for by kubelets',
  '/nodes/stats': 'asked for by kubelets',
  '/nodes/log': 'asked for by kubelets',
  '/nodes/pods': 'asked for by kubelets',
  '/nodes/healthz': 'asked for by kubelets',
  '/nodes/configz': 'asked for by kubelets',
  'apps/deployments/rollback': 'of former releases',
  'resource.{domain}/resourceclaims/binding': 'asked for by a check of later releases',
  'metrics.{domain}/pods': 'an aggregated API',
};
/** Groups that this server does not serve. */
const foreign = ['extensions', 'custom.metrics.{domain}', 'external.metrics.{domain}'];
/** Verbs that are asked for outside of requests for resources. */
const special: { readonly [resource: string]: readonly string[] } = {
  '/serviceaccounts': ['impersonate'],
  '/nodes': ['proxy'],
  'rbac.authorization.{domain}/clusterroles': ['escalate'],
};

describe('every rule of a default role', () => {
  const on = Object.fromEntries(Object.keys(defaultFeatures).map((name) => [name, true])) as typeof defaultFeatures;
  // Under this domain the groups keep their placeholders.
  const policy = bootstrapPolicy({ ...namesFor('example.org'), domain: '{domain}' }, on);
  const rules = policy.flatMap((o): PolicyRule[] => (isBinding(o) ? [] : (o.rules ?? [])));
  const served = new Map<string, readonly string[]>(
    builtinResources.flatMap(({ group, plural, verbs, subresources }) => [
      [`${group}/${plural}`, verbs as readonly string[]] as const,
      // Finalizers are a part of the object that admission asks for on its own.
      [`${group}/${plural}/finalizers`, ['update']] as const,
      ...subresources.map((sub) => [`${group}/${plural}/${sub.name}`, sub.verbs as readonly string[]] as const),
    ]),
  );
  const used = rules.flatMap(({ verbs = [], apiGroups = [], resources = [] }) =>
    apiGroups
      .filter((group) => !foreign.includes(group))
      .flatMap((group) => resources.map((resource) => ({ resource: `${group}/${resource}`, verbs }))),
  );
  const plain = used.filter(({ resource }) => !resource.includes('*'));

  it('names a resource that is served, or one of the exceptions', () => {
    const names = [...new Set(plain.map(({ resource }) => resource))];
    expect(names.filter((name) => !served.has(name)).sort()).toEqual(Object.keys(elsewhere).sort());
  });

  it('names verbs that are served, for whole resources, and otherwise known ones', () => {
    const known = 'create delete deletecollection get list patch update watch'.split(' ');
    const verbsOf = (resource: string) =>
      resource.split('/').length > 2 ? known : [...(served.get(resource) ?? []), ...(special[resource] ?? [])];
    const unknown = plain.flatMap(({ resource, verbs }) =>
      verbs
        .filter((verb) => verb !== '*' && resource in elsewhere === false && !verbsOf(resource).includes(verb))
        .map((verb) => `${verb} ${resource}`),
    );
    // Bindings are only created: the reference has the rule nevertheless.
    expect([...new Set(unknown)].sort()).toEqual(['get /bindings', 'list /bindings', 'watch /bindings']);
  });

  it('is valid: it has verbs, and either resources of groups or URLs', () => {
    const invalid = rules.filter(({ verbs = [], apiGroups = [], resources = [], nonResourceURLs = [] }) => {
      const ofResources = apiGroups.length > 0 && resources.length > 0 && nonResourceURLs.length === 0;
      const ofUrls = nonResourceURLs.length > 0 && apiGroups.length === 0 && resources.length === 0;
      return verbs.length === 0 || !(ofResources || ofUrls);
    });
    expect(invalid).toEqual([]);
  });
});
