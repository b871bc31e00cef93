import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import type { PluginConfigurations } from '../configuration/formats.ts';
import { fakeInitializer, old, outcome, podOf, requestFor, type StoredObject, stored } from '../testing/initializer.ts';
import type { AdmissionRequest } from '../types.ts';
import { podNodeSelector } from './pod-node-selector.ts';
import { podSecurity } from './pod-security.ts';
import { podTolerations } from './pod-tolerations.ts';
import { resourceQuota } from './resource-quota.ts';

// Plugins with a configuration of the file of --admission-control-config-file. Messages as in the reference server.

const initializerOf = (configurations: PluginConfigurations, ...objects: readonly StoredObject[]) => ({
  ...fakeInitializer(objects),
  configurations,
});
const namespace = (metadata: JsonObject) => stored('namespaces', 'n', { metadata });

describe('PodNodeSelector', () => {
  type Row = [
    title: string,
    cluster: string,
    own: string | undefined,
    allowed: string,
    pod: JsonObject,
    found: unknown,
  ];
  const conflict = 'pod node label selector conflicts with its namespace node label selector';
  const forbidden = 'pod node label selector labels conflict with its namespace whitelist';
  it.each<Row>([
    ['no selectors', '', undefined, '', {}, {}],
    ['the default of the cluster', 'infra = false', undefined, '', {}, { infra: 'false' }],
    ['the annotation of the namespace', '', ' infra = false ', '', {}, { infra: 'false' }],
    ['the annotation before the default', 'infra = false', 'infra=true', '', {}, { infra: 'true' }],
    ['an empty annotation before the default', 'infra = false', '', '', {}, {}],
    ['both and the selector of the pod', 'infra = false', 'infra=true', '', { env: 't' }, { infra: 'true', env: 't' }],
    ['a conflict', 'env = test', 'infra=true', '', { infra: 'false' }, conflict],
    ['a conflict of one of several labels', 'env=dev', 'infra=false, env = test', '', { env: 'dev' }, conflict],
    [
      'allowed labels',
      '',
      'infra=false, env=dev',
      'env=dev, infra=false, a=b',
      { a: 'b' },
      { infra: 'false', env: 'dev', a: 'b' },
    ],
    [
      'a label with another value',
      'env=dev',
      'infra=false, env=dev',
      'env=dev, infra=true, a=b',
      { a: 'b' },
      forbidden,
    ],
    ['a default that is not allowed', 'env=dev', undefined, 'env=prd', {}, forbidden],
  ])('%s', async (_, clusterDefaultNodeSelector, own, allowed, nodeSelector, found) => {
    const annotations = own === undefined ? {} : { 'scheduler.alpha.kubernetes.io/node-selector': own };
    const podNodeSelectorPluginConfig = { clusterDefaultNodeSelector, n: allowed };
    const plugin = podNodeSelector(
      initializerOf({ PodNodeSelector: { podNodeSelectorPluginConfig } }, namespace({ annotations })),
    );
    const made = await outcome(plugin, requestFor('pods', podOf({}, { nodeSelector })));
    expect(typeof made === 'string' ? made : (made['spec'] as JsonObject)['nodeSelector']).toEqual(found);
  });
});

describe('PodTolerationRestriction', () => {
  const a = { key: 'a', operator: 'Equal', value: 'v', effect: 'NoSchedule' };
  const b = { ...a, key: 'b' };
  const refused = (scope: string) =>
    `?? pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`;
  type Row = [
    title: string,
    own: { defaults?: JsonObject[]; whitelist?: JsonObject[] } | '',
    pod: JsonObject[],
    found: unknown,
  ];
  it.each<Row>([
    ['the defaults and the whitelist of the cluster', {}, [], [a]],
    ['a toleration outside the whitelist of the cluster', {}, [b], refused('cluster')],
    ['the whitelist of the namespace before that of the cluster', { defaults: [], whitelist: [b] }, [b], [b]],
    ['a toleration outside the whitelist of the namespace', { whitelist: [b] }, [b], refused('namespace')],
    ['empty annotations before what the cluster has', '', [b], [b]],
  ])('%s', async (_, own, tolerations, found) => {
    const text = (list: JsonObject[] | undefined) => (list === undefined ? undefined : JSON.stringify(list));
    const [defaults, whitelist] = own === '' ? ['', ''] : [text(own.defaults), text(own.whitelist)];
    const annotations = Object.fromEntries(
      Object.entries({ defaultTolerations: defaults, tolerationsWhitelist: whitelist })
        .filter(([, value]) => value !== undefined)
        .map(([key, value]) => [`scheduler.alpha.kubernetes.io/${key}`, value]),
    ) as JsonObject;
    const plugin = podTolerations(
      initializerOf({ PodTolerationRestriction: { default: [a], whitelist: [a] } }, namespace({ annotations })),
    );
    const made = await outcome(plugin, requestFor('pods', podOf({}, { tolerations })));
    expect(typeof made === 'string' ? made : (made['spec'] as JsonObject)['tolerations']).toEqual(found);
  });
});

describe('PodSecurity', () => {
  const hostPid = podOf({}, { hostPID: true });
  const enforced = 'violates PodSecurity "baseline:v1.30": host namespaces (hostPID=true)';
  const configuration = {
    defaults: { enforce: 'baseline', 'enforce-version': 'v1.30', audit: 'restricted', warn: 'baseline' },
    exemptions: { usernames: ['system:serviceaccount:a:b'], namespaces: ['free'], runtimeClasses: ['sandbox'] },
  };
  async function ask(labels: JsonObject, resource: string, object: JsonObject, part: Partial<AdmissionRequest> = {}) {
    const warnings: string[] = [];
    const annotations: { [key: string]: string } = {};
    const request = requestFor(resource, object, {
      warnings,
      annotate: (key: string, value: string) => {
        annotations[key.replace('pod-security.kubernetes.io/', '')] = value;
      },
      ...part,
    } as Partial<AdmissionRequest>);
    const found = await outcome(
      podSecurity(initializerOf({ PodSecurity: configuration }, namespace({ labels }))),
      request,
    );
    return { refused: typeof found === 'string' ? found : undefined, warnings, annotations };
  }
  const label = (mode: string) => `pod-security.kubernetes.io/${mode}`;

  it('enforces the defaults in namespaces without labels', async () => {
    expect(await ask({}, 'pods', hostPid)).toMatchObject({
      refused: enforced,
      annotations: { 'enforce-policy': 'baseline:v1.30' },
    });
  });

  it.each<[string, JsonObject, string | undefined, string | undefined]>([
    ['a level', { [label('enforce')]: 'privileged' }, undefined, 'privileged:v1.30'],
    ['a version', { [label('enforce-version')]: 'v1.29' }, 'baseline:v1.29', 'baseline:v1.29'],
    ['a level, with the default version', { [label('enforce')]: 'restricted' }, 'restricted:v1.30', 'restricted:v1.30'],
  ])('prefers %s of the namespace', async (_, labels, level, policy) => {
    const { refused, annotations } = await ask({ ...labels, [label('audit')]: 'privileged' }, 'pods', hostPid);
    expect(refused?.match(/"(.*?)"/)?.[1]).toBe(level);
    expect(annotations['enforce-policy']).toBe(policy);
  });

  it('warns of the level of the enforce label where it is stricter than the default of warnings', async () => {
    const deployment = { spec: { template: { spec: { containers: [{ name: 'c' }] } } } };
    const warned = async (labels: JsonObject) => (await ask(labels, 'deployments.apps', deployment)).warnings[0] ?? '';
    expect(await warned({ [label('enforce')]: 'restricted' })).toMatch(/^would violate PodSecurity "restricted:v1.30"/);
    expect(await warned({ [label('enforce')]: 'baseline' })).toBe('');
    expect(await warned({ [label('enforce')]: 'nonsense' })).toBe('');
  });

  it.each<[string, Partial<AdmissionRequest>, JsonObject]>([
    ['user', { user: { name: 'system:serviceaccount:a:b', groups: [] } }, hostPid],
    ['namespace', { namespace: 'free' }, hostPid],
    ['runtimeClass', {}, podOf({}, { hostPID: true, runtimeClassName: 'sandbox' })],
  ])('exempts by %s', async (reason, part, pod) => {
    const exempt = { refused: undefined, warnings: [], annotations: { exempt: reason } };
    expect(await ask({}, 'pods', pod, part)).toEqual(exempt);
    const deployment = { spec: { template: { spec: pod['spec'] ?? {} } } };
    expect(await ask({}, 'deployments.apps', deployment, part)).toEqual(exempt);
  });

  it('has no runtime class to exempt where nothing is evaluated', async () => {
    const labels = Object.fromEntries(['enforce', 'audit', 'warn'].map((mode) => [label(mode), 'privileged']));
    const pod = podOf({}, { runtimeClassName: 'sandbox' });
    expect((await ask(labels, 'pods', pod)).annotations).toEqual({ 'enforce-policy': 'privileged:latest' });
  });

  it('warns of labels in an exempt namespace', async () => {
    const place = { name: 'free', namespace: 'free' };
    const create = (labels: JsonObject) => ask({}, 'namespaces', { metadata: { name: 'free', labels } }, place);
    const warning =
      'namespace "free" is exempt from Pod Security, and the policy (enforce=restricted:v1.30) will be ignored';
    const labels = { [label('enforce')]: 'restricted' };
    expect((await create(labels)).warnings).toEqual([warning]);
    expect((await create({})).warnings).toEqual([]);
    expect((await create({ [label('enforce')]: 'baseline', [label('warn')]: 'baseline' })).warnings).toEqual([]);
    const update = { ...place, oldObject: old({ metadata: { labels: { a: 'b' } } }) };
    const updated = await ask({}, 'namespaces', { metadata: { name: 'free', labels } }, update);
    expect(updated.warnings).toEqual([warning]);
  });

  it('does not check existing pods of an exempt runtime class', async () => {
    const pods = ['a', 'b'].map((name) =>
      stored('pods', name, podOf({}, { hostPID: true, ...(name === 'a' && { runtimeClassName: 'sandbox' }) }), 'n'),
    );
    const plugin = podSecurity(initializerOf({ PodSecurity: configuration }, ...pods));
    const warnings: string[] = [];
    const metadata = { labels: { [label('enforce-version')]: 'latest' } };
    const part = { name: 'n', oldObject: old({}), warnings };
    await outcome(plugin, requestFor('namespaces', { metadata }, part));
    expect(warnings).toEqual([
      'existing pods in namespace "n" violate the new PodSecurity enforce level "baseline:latest"',
      'b: host namespaces',
    ]);
  });
});

describe('ResourceQuota', () => {
  const quotaOf = (hard: JsonObject, spec: JsonObject = {}) =>
    stored(
      'resourcequotas',
      'q',
      {
        spec: { hard, ...spec },
        status: { hard, used: Object.fromEntries(Object.keys(hard).map((name) => [name, '0'])) },
      },
      'n',
    );
  const refusal = async (limit: JsonObject, quotas: StoredObject[], request: AdmissionRequest) => {
    const initializer = initializerOf({ ResourceQuota: { limitedResources: [limit] } }, ...quotas);
    const plugin = resourceQuota({ ...initializer, updateQuotaStatus: (quota) => Promise.resolve(quota) });
    const found = await outcome(plugin, request);
    return typeof found === 'string' ? found : undefined;
  };
  const cpuPod = podOf({ resources: { requests: { cpu: '1' } } });
  const cpu = { resource: 'pods', matchContains: ['cpu'] };
  const claims = {
    resource: 'persistentvolumeclaims',
    matchContains: ['.storageclass.storage.k8s.io/requests.storage'],
  };
  const gold = { spec: { storageClassName: 'gold', resources: { requests: { storage: '1Gi' } } } };

  it.each<[string, JsonObject, StoredObject[], string | undefined]>([
    ['without a quota', cpu, [], 'insufficient quota to consume: cpu,requests.cpu'],
    [
      'with a quota of other resources',
      cpu,
      [quotaOf({ pods: '1' })],
      'insufficient quota to consume: cpu,requests.cpu',
    ],
    ['with a quota of one of them', cpu, [quotaOf({ cpu: '1' })], 'insufficient quota to consume: requests.cpu'],
    ['with a quota of both', cpu, [quotaOf({ cpu: '1', 'requests.cpu': '1' })], undefined],
    ['of another group', { ...cpu, apiGroup: 'apps' }, [], undefined],
    ['of another resource', { ...cpu, resource: 'services' }, [], undefined],
    ['of other names', { ...cpu, matchContains: ['memory'] }, [], undefined],
  ])('needs a quota for limited usage: %s', async (_, limit, quotas, refused) => {
    expect(await refusal(limit, quotas, requestFor('pods', cpuPod))).toBe(refused);
  });

  it('limits by a part of the name', async () => {
    const name = 'gold.storageclass.storage.k8s.io/requests.storage';
    const request = () => requestFor('persistentvolumeclaims', gold);
    expect(await refusal(claims, [], request())).toBe(`insufficient quota to consume: ${name}`);
    expect(await refusal(claims, [quotaOf({ [name]: '2Gi' })], request())).toBeUndefined();
  });

  it('does not limit an update that uses no more', async () => {
    const update = (from: JsonObject) => requestFor('pods', cpuPod, { subresource: 'resize', oldObject: old(from) });
    expect(await refusal(cpu, [], update(cpuPod))).toBeUndefined();
    expect(await refusal(cpu, [], update(podOf({ resources: { requests: { cpu: '1m' } } })))).toMatch(/^insufficient/);
  });

  const critical = podOf({}, { priorityClassName: 'cluster-services' });
  const scope = (operator: string, ...values: string[]) => ({ scopeName: 'PriorityClass', operator, values });
  const limited = { resource: 'pods', matchScopes: [scope('In', 'cluster-services')] };
  const none = '?? insufficient quota to match these scopes: [{PriorityClass In [cluster-services]}]';
  it.each<[string, JsonObject, StoredObject[], string | undefined]>([
    ['without a quota', critical, [], none],
    ['with a quota without the scope', critical, [quotaOf({ pods: '1' })], none],
    [
      'with a quota of another class',
      critical,
      [quotaOf({ pods: '1' }, { scopeSelector: { matchExpressions: [scope('In', 'x')] } })],
      none,
    ],
    [
      'with a quota of the class',
      critical,
      [quotaOf({ pods: '1' }, { scopeSelector: { matchExpressions: [scope('In', 'cluster-services')] } })],
      undefined,
    ],
    [
      'with a quota of any class',
      critical,
      [quotaOf({ pods: '1' }, { scopeSelector: { matchExpressions: [scope('Exists')] } })],
      undefined,
    ],
    ['of another class', podOf({}, { priorityClassName: 'x' }), [], undefined],
  ])('needs a quota for a limited scope: %s', async (_, pod, quotas, refused) => {
    expect(await refusal(limited, quotas, requestFor('pods', pod))).toBe(refused);
  });

  it('names first what an object lacks for a quota that matches it', async () => {
    const quotas = [quotaOf({ 'limits.cpu': '1' })];
    const refused = await refusal({ ...cpu, matchContains: ['requests'] }, quotas, requestFor('pods', cpuPod));
    expect(refused).toBe('failed quota: q: must specify limits.cpu for: c');
  });
});
