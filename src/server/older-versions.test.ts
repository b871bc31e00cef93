import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ApiObject,
  expandNames,
  formatGroupResource,
  formatGroupVersion,
  type Json,
  type JsonObject,
  namesFor,
} from '../meta/index.ts';
import { certificateRequest, commonName } from '../pki/testing/certificate-request.ts';
import { keyPrefixOf, type Resource, type ResourceDefinition, toStorageVersion } from '../registry/index.ts';
import { builtinResources } from '../resources/index.ts';
import { olderKinds, withOlderVersions } from '../resources/older/index.ts';
import { openMemoryStore } from '../store/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import { silentLog } from './dependencies.ts';
import { type OfflineRegistry, openOfflineRegistry } from './maintenance/offline-registry.ts';
import { createServer } from './server.ts';
import { mergePatch, type OlderServer, olderServer, specOf, textOf } from './testing/older-server.ts';

const names = namesFor('k8s.io');
const store = openMemoryStore({ clock: drivenClock() });

let opened: OlderServer;
let offline: OfflineRegistry;
beforeAll(async () => {
  opened = await olderServer(store);
  offline = await openOfflineRegistry(names);
});
afterAll(async () => {
  await opened.server.close();
  await offline.close();
});

const request: OlderServer['request'] = (...call) => opened.request(...call);

/** A kind in an older version: an object as sent, and what of it the other versions show. */
interface Row {
  /** The group version and the resource: `batch/v1beta1 cronjobs`. */
  readonly place: string;
  readonly clusterScoped?: boolean;
  /** Default: a name of its own. */
  readonly name?: string;
  /** The group version that replaces it. Default: v1 of the group. */
  readonly newer?: string;
  readonly sent: JsonObject;
  /** In the older version, where it differs from what was sent. */
  readonly older?: JsonObject;
  /** In the newer version, where that differs. */
  readonly shown?: JsonObject;
}

const requestOf = (...subject: Parameters<typeof certificateRequest>[0]['subject'] & object) =>
  Buffer.from(certificateRequest({ subject })).toString('base64');

/** It is not structural: the property has no type. */
const gadgetSpec = { type: 'object', properties: { size: { type: 'integer', maximum: 9 } } };
const gadgetSchema = { openAPIV3Schema: { type: 'object', properties: { spec: gadgetSpec } } };

const limited = { limitResponse: { type: 'Reject' } };
const level = (fields: JsonObject) => ({ spec: { type: 'Limited', limited: { ...fields, ...limited } } });
const flow = {
  spec: { matchingPrecedence: 7, priorityLevelConfiguration: { name: 'x' }, distinguisherMethod: { type: 'ByUser' } },
};
const flowGroup = 'flowcontrol.apiserver.k8s.io';
const scaled = { scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' }, maxReplicas: 3 };
const pods = { matchLabels: { app: 'web' } };
const emptySelector = (operator: string) => ({
  matchExpressions: [{ key: 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match', operator }],
});

const rows: readonly Row[] = [
  ...['v1beta1', 'v1beta2', 'v1beta3'].flatMap((version): Row[] => {
    const shares = version === 'v1beta3' ? 'nominalConcurrencyShares' : 'assuredConcurrencyShares';
    const levels = { place: `${flowGroup}/${version} prioritylevelconfigurations`, clusterScoped: true };
    return [
      { place: `${flowGroup}/${version} flowschemas`, clusterScoped: true, sent: flow },
      { ...levels, sent: level({ [shares]: 5 }), shown: level({ nominalConcurrencyShares: 5 }) },
      // 0 means absent, for which the default is 30.
      {
        ...levels,
        sent: level({ [shares]: 0 }),
        older: level({ [shares]: 30 }),
        shown: level({ nominalConcurrencyShares: 30 }),
      },
    ];
  }),
  {
    place: 'autoscaling/v2beta2 horizontalpodautoscalers',
    newer: 'autoscaling/v2',
    sent: { spec: { ...scaled, behavior: { scaleDown: { stabilizationWindowSeconds: 9 } } } },
  },
  {
    place: 'autoscaling/v2beta1 horizontalpodautoscalers',
    newer: 'autoscaling/v2',
    sent: {
      spec: {
        ...scaled,
        metrics: [
          { type: 'Resource', resource: { name: 'memory', targetAverageUtilization: 60 } },
          { type: 'External', external: { metricName: 'queue', metricSelector: pods, targetAverageValue: '30' } },
        ],
      },
    },
    shown: {
      spec: {
        ...scaled,
        metrics: [
          { type: 'Resource', resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 60 } } },
          {
            type: 'External',
            external: {
              metric: { name: 'queue', selector: pods },
              target: { type: 'AverageValue', averageValue: '30' },
            },
          },
        ],
      },
    },
  },
  {
    place: 'apiregistration.k8s.io/v1beta1 apiservices',
    clusterScoped: true,
    name: 'v1.example.com',
    sent: {
      spec: {
        group: 'example.com',
        version: 'v1',
        groupPriorityMinimum: 10,
        versionPriority: 10,
        insecureSkipTLSVerify: true,
        service: { namespace: 'default', name: 's' },
      },
    },
  },
  ...[
    {
      place: 'apps/v1beta1 deployments',
      set: {
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
        revisionHistoryLimit: 2,
        progressDeadlineSeconds: 600,
      },
    },
    {
      place: 'extensions/v1beta1 deployments',
      set: {
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } },
        revisionHistoryLimit: 2 ** 31 - 1,
        progressDeadlineSeconds: 2 ** 31 - 1,
      },
    },
    { place: 'apps/v1beta1 statefulsets', set: { updateStrategy: { type: 'OnDelete' } } },
    { place: 'extensions/v1beta1 daemonsets', set: { updateStrategy: { type: 'OnDelete' } } },
    { place: 'extensions/v1beta1 replicasets', set: { replicas: 1 } },
  ].map(({ place, set }): Row => {
    const template = { metadata: { labels: pods.matchLabels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    // The selector is by default that of the labels of the template.
    const spec = { ...set, selector: pods };
    return { place, newer: 'apps/v1', sent: { spec: { template } }, older: { spec }, shown: { spec } };
  }),
  {
    place: 'apiextensions.k8s.io/v1beta1 customresourcedefinitions',
    clusterScoped: true,
    name: 'gadgets.example.com',
    sent: {
      spec: {
        group: 'example.com',
        version: 'v1',
        names: { plural: 'gadgets', kind: 'Gadget' },
        validation: gadgetSchema,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', JSONPath: '.spec.size' }],
        conversion: { strategy: 'Webhook', webhookClientConfig: { url: 'https://example.com/convert' } },
        // By default they are kept, and then there is no conversion by a webhook.
        preserveUnknownFields: false,
      },
    },
    older: {
      spec: {
        group: 'example.com',
        version: 'v1',
        names: { plural: 'gadgets', kind: 'Gadget', singular: 'gadget', listKind: 'GadgetList' },
        scope: 'Namespaced',
        validation: gadgetSchema,
        subresources: { status: {} },
        versions: [{ name: 'v1', served: true, storage: true }],
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', JSONPath: '.spec.size' }],
        conversion: {
          strategy: 'Webhook',
          webhookClientConfig: { url: 'https://example.com/convert' },
          conversionReviewVersions: ['v1beta1'],
        },
        preserveUnknownFields: false,
      },
    },
    shown: {
      spec: {
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: gadgetSchema,
            subresources: { status: {} },
            additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
          },
        ],
        conversion: {
          strategy: 'Webhook',
          webhook: {
            clientConfig: { url: 'https://example.com/convert' },
            conversionReviewVersions: ['v1beta1'],
          },
        },
      },
    },
  },
  {
    place: 'certificates.k8s.io/v1beta1 certificatesigningrequests',
    clusterScoped: true,
    sent: { spec: { request: requestOf(commonName('anna')), usages: ['client auth', 'client auth', 'any other'] } },
    shown: {
      spec: {
        signerName: 'kubernetes.io/legacy-unknown',
        usages: ['client auth', 'client auth', 'any other'],
      },
    },
  },
  ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].map((plural): Row => {
    const sent = { name: 'a.example.com', clientConfig: { url: 'https://example.com/hook' } };
    const defaults = {
      failurePolicy: 'Ignore',
      matchPolicy: 'Exact',
      timeoutSeconds: 30,
      sideEffects: 'Unknown',
      admissionReviewVersions: ['v1beta1'],
    };
    // Names may repeat.
    const webhooks = [sent, { ...sent, sideEffects: 'Some' }];
    const shown = [
      { ...sent, ...defaults },
      { ...sent, ...defaults, sideEffects: 'Some' },
    ];
    return {
      place: `admissionregistration.k8s.io/v1beta1 ${plural}`,
      clusterScoped: true,
      sent: { webhooks },
      older: { webhooks: shown },
      shown: { webhooks: shown },
    };
  }),
  ...['daemonsets', 'deployments', 'replicasets', 'statefulsets'].map(
    (plural): Row => ({
      place: `apps/v1beta2 ${plural}`,
      sent: {
        spec: {
          selector: pods,
          template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
          ...(plural === 'statefulsets' ? { serviceName: 's' } : {}),
        },
      },
    }),
  ),
  {
    place: 'batch/v1beta1 cronjobs',
    sent: {
      spec: {
        schedule: '1 2 * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
        },
      },
    },
  },
  {
    place: 'policy/v1beta1 poddisruptionbudgets',
    sent: { spec: { minAvailable: 1, selector: {} } },
    shown: { spec: { minAvailable: 1, selector: emptySelector('Exists') } },
  },
  {
    place: 'policy/v1beta1 poddisruptionbudgets',
    sent: { spec: { minAvailable: 1, selector: emptySelector('DoesNotExist') } },
    shown: { spec: { minAvailable: 1, selector: {} } },
  },
  { place: 'policy/v1beta1 poddisruptionbudgets', sent: { spec: { minAvailable: 1, selector: pods } } },
  {
    place: 'discovery.k8s.io/v1beta1 endpointslices',
    sent: {
      addressType: 'IPv4',
      endpoints: [
        {
          addresses: ['10.1.2.3'],
          nodeName: 'n1',
          topology: { 'topology.kubernetes.io/zone': 'a', 'topology.kubernetes.io/region': 'r' },
        },
      ],
    },
    older: {
      endpoints: [
        {
          nodeName: 'n1',
          topology: {
            'kubernetes.io/hostname': 'n1',
            'topology.kubernetes.io/region': 'r',
            'topology.kubernetes.io/zone': 'a',
          },
        },
      ],
    },
    shown: {
      endpoints: [
        {
          addresses: ['10.1.2.3'],
          nodeName: 'n1',
          zone: 'a',
          deprecatedTopology: { 'topology.kubernetes.io/region': 'r' },
        },
      ],
    },
  },
  // events.k8s.io/v1 requires an event time, a type and who reports.
  {
    place: 'events.k8s.io/v1beta1 events',
    sent: { regarding: { kind: 'Pod', name: 'p', namespace: 'default' }, note: 'text', deprecatedCount: 2 },
  },
  { place: 'networking.k8s.io/v1beta1 ingressclasses', clusterScoped: true, sent: { spec: { controller: 'a.b/c' } } },
  ...['networking.k8s.io/v1beta1', 'extensions/v1beta1'].map(
    (groupVersion): Row => ({
      place: `${groupVersion} ingresses`,
      newer: 'networking.k8s.io/v1',
      sent: {
        spec: {
          backend: { serviceName: 'a', servicePort: 80 },
          rules: [{ host: 'h', http: { paths: [{ path: '/x', backend: { serviceName: 'b', servicePort: 'web' } }] } }],
        },
      },
      older: {
        spec: {
          backend: { serviceName: 'a', servicePort: 80 },
          rules: [
            {
              host: 'h',
              http: {
                paths: [
                  { path: '/x', pathType: 'ImplementationSpecific', backend: { serviceName: 'b', servicePort: 'web' } },
                ],
              },
            },
          ],
        },
      },
      shown: {
        spec: {
          defaultBackend: { service: { name: 'a', port: { number: 80 } } },
          rules: [
            {
              host: 'h',
              http: {
                paths: [
                  {
                    path: '/x',
                    pathType: 'ImplementationSpecific',
                    backend: { service: { name: 'b', port: { name: 'web' } } },
                  },
                ],
              },
            },
          ],
        },
      },
    }),
  ),
  {
    place: 'extensions/v1beta1 networkpolicies',
    newer: 'networking.k8s.io/v1',
    sent: { spec: { podSelector: pods, policyTypes: ['Ingress'] } },
  },
  { place: 'coordination.k8s.io/v1beta1 leases', sent: { spec: { holderIdentity: 'h', leaseDurationSeconds: 15 } } },
  { place: 'node.k8s.io/v1beta1 runtimeclasses', clusterScoped: true, sent: { handler: 'runc' } },
  { place: 'scheduling.k8s.io/v1beta1 priorityclasses', clusterScoped: true, sent: { value: 5 } },
  ...['clusterroles', 'roles'].map(
    (plural): Row => ({
      place: `rbac.authorization.k8s.io/v1beta1 ${plural}`,
      clusterScoped: plural === 'clusterroles',
      sent: { rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }] },
    }),
  ),
  ...['clusterrolebindings', 'rolebindings'].map(
    (plural): Row => ({
      place: `rbac.authorization.k8s.io/v1beta1 ${plural}`,
      clusterScoped: plural === 'clusterrolebindings',
      sent: {
        subjects: [{ kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' }],
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      },
    }),
  ),
  { place: 'storage.k8s.io/v1beta1 csidrivers', clusterScoped: true, sent: { spec: { attachRequired: false } } },
  {
    place: 'storage.k8s.io/v1beta1 csinodes',
    clusterScoped: true,
    sent: { spec: { drivers: [{ name: 'd', nodeID: 'n' }] } },
  },
  { place: 'storage.k8s.io/v1beta1 csistoragecapacities', sent: { storageClassName: 's', capacity: '1Gi' } },
  { place: 'storage.k8s.io/v1beta1 storageclasses', clusterScoped: true, sent: { provisioner: 'p' } },
  {
    place: 'storage.k8s.io/v1beta1 volumeattachments',
    clusterScoped: true,
    sent: { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } } },
  },
];

let made = 0;
/** The URLs of an object of its own in the older and the newer version. */
function urlsOf({ place, clusterScoped, newer, ...row }: Row) {
  const [groupVersion = '', plural = ''] = place.split(' ');
  const [group = ''] = groupVersion.split('/');
  const { name = `made-${++made}` } = row;
  const urlIn = (version: string) => `/apis/${version}/${clusterScoped === true ? '' : 'namespaces/default/'}${plural}`;
  const current = newer ?? `${group}/v1`;
  return { name, groupVersion, current, older: urlIn(groupVersion), newer: urlIn(current) };
}

const strategicPatch = { contentType: 'application/strategic-merge-patch+json' };
const apply = { contentType: 'application/apply-patch+yaml' };

describe('an older version', () => {
  it.each(rows.map((row) => [row.place, row] as const))(
    'is written and read like the newer one: %s',
    async (_, row) => {
      const { sent, older = sent, shown = sent } = row;
      const urls = urlsOf(row);
      const metadata = { name: urls.name, annotations: { made: 'here' } };
      const created = await request('POST', urls.older, { ...sent, metadata });
      expect(created.object).toMatchObject({ ...older, apiVersion: urls.groupVersion });
      expect(created.headers['warning']).toMatch(/ is deprecated in v1\.\d+\+, unavailable in v1\.\d+\+; use /);
      // Nothing of it needs an annotation.
      const annotations = Object.keys(created.object.metadata.annotations ?? {});
      expect(annotations.filter((key) => key.startsWith('conversion.'))).toEqual([]);
      expect(created.object.metadata.managedFields).toMatchObject([{ apiVersion: urls.groupVersion }]);

      const read = await request('GET', `${urls.newer}/${urls.name}`);
      expect(read.object).toMatchObject({ ...shown, apiVersion: urls.current });
      expect(read.headers['warning']).toBeUndefined();

      const labels = { a: 'b' };
      await opened.replace(`${urls.newer}/${urls.name}`, ({ metadata: current, ...object }) => ({
        ...object,
        metadata: { ...current, labels },
      }));
      const again = await request('GET', `${urls.older}/${urls.name}`);
      expect(again.object).toMatchObject({ ...older, metadata: { labels } });

      const patch = { metadata: { annotations: { c: 'd' } } };
      const patched = await request('PATCH', `${urls.older}/${urls.name}`, patch, mergePatch);
      expect(patched.object).toMatchObject({ ...older, metadata: { labels, ...patch.metadata } });
      const { items } = (await request('GET', urls.older)).object as unknown as { items: ApiObject[] };
      const listed = items.find(({ metadata }) => metadata.name === urls.name);
      expect({ ...patched.object, ...listed }).toEqual(patched.object);
      expect((await request('GET', `${urls.newer}/${urls.name}`)).object).toMatchObject(shown);
      expect(opened.errors).toEqual([]);
    },
  );
});

const definitions = withOlderVersions(builtinResources);

function withoutStatus(text: string): JsonObject {
  const { status: _, metadata, ...object } = JSON.parse(text) as ApiObject;
  const { managedFields: __, ...rest } = metadata;
  return { ...object, metadata: rest } as JsonObject;
}

describe('an object that is stored in an older version', () => {
  it.each(rows.map((row) => [row.place, row] as const))(
    'is read, and stored in the new one by a write that changes nothing: %s',
    async (_, row) => {
      const { place, sent, older = sent, shown = sent, clusterScoped } = row;
      const [groupVersion = '', plural = ''] = place.split(' ');
      const urls = urlsOf(row);
      const { name } = urls;
      const definition = definitions.find(
        (one) => one.plural === plural && groupVersion.startsWith(`${expandNames(one.group, names)}/`),
      ) as ResourceDefinition;
      const storage = { ...definition.storage, group: expandNames(definition.storage.group, names) };
      const key = `${keyPrefixOf({ ...definition, storage })}${clusterScoped === true ? '' : 'default/'}${name}`;
      // Objects with a name of their own exist already.
      const body = { ...sent, metadata: { name } };
      await request('POST', urls.older, body, row.name === undefined ? {} : { status: [201, 409] });
      const { object: created } = await request('GET', `${urls.older}/${name}`);
      const { resourceVersion: __, ...metadata } = created.metadata;
      const value = Buffer.from(JSON.stringify({ ...created, metadata }));
      const written = await store.commit([], [{ key, value }]);
      expect(written).toMatchObject({ ok: true });

      const { object: read } = await request('GET', `${urls.newer}/${name}`);
      expect(read).toMatchObject({ ...shown, apiVersion: urls.current });
      expect((await request('GET', `${urls.older}/${name}`)).object).toMatchObject(older);
      const { uid = '', resourceVersion = '' } = read.metadata;
      const unchanged = { metadata: { uid, resourceVersion } };
      const { object: patched } = await request('PATCH', `${urls.newer}/${name}`, unchanged, mergePatch);
      expect(patched.metadata.resourceVersion).not.toBe(resourceVersion);
      expect({ ...patched, metadata: { ...patched.metadata, resourceVersion } }).toEqual(read);
      const stored = Buffer.from((await store.get(key)).entry?.value ?? []).toString();
      expect((JSON.parse(stored) as ApiObject).apiVersion).toBe(formatGroupVersion(storage));
      // A copy of the store has the same value; the server itself writes the status of some kinds.
      const resource = offline.registry.resourceOf(formatGroupResource(storage)) as Resource;
      const converted = toStorageVersion(resource, value)?.value.toString() ?? '{}';
      expect(withoutStatus(converted)).toEqual(withoutStatus(stored));
      expect(toStorageVersion(resource, Buffer.from(stored))).toBeUndefined();
      expect((await request('GET', `${urls.newer}/${name}`)).object).toMatchObject(shown);
      expect(opened.errors).toEqual([]);
    },
  );

  it('cannot be read in a version that the server does not have', async () => {
    const log = { ...silentLog };
    const plain = openMemoryStore({ clock: drivenClock() });
    const metadata = { name: 'old', namespace: 'default', uid: 'u', creationTimestamp: '2020-01-01T00:00:00Z' };
    const value = Buffer.from(
      JSON.stringify({ kind: 'Ingress', apiVersion: 'extensions/v1beta1', metadata, spec: {} }),
    );
    await plain.commit([], [{ key: '/ingress/default/old', value }]);
    const without = await createServer({ apiDomain: 'k8s.io', controllers: '-*' }, { log, store: plain });
    const { status } = await without.client.request({
      method: 'GET',
      url: '/apis/networking.k8s.io/v1/namespaces/default/ingresses/old',
      headers: {},
    });
    await without.close();
    expect(status).toBe(500);
  });
});

it('is tested for every older kind that has a newer version', () => {
  // A kind without a newer version has a test of its own.
  const removed = new Set(olderKinds.filter(({ definition }) => definition !== undefined).map(({ plural }) => plural));
  const places = olderKinds
    .filter(({ plural }) => !removed.has(plural))
    .flatMap(({ group, plural, versions }) =>
      versions.map(({ version }) => `${expandNames(group, names)}/${version} ${plural}`),
    );
  expect(places.filter((place) => !rows.some((row) => row.place === place))).toEqual([]);
});

const levelsIn = (version: string) => `/apis/${flowGroup}/${version}/prioritylevelconfigurations`;
const autoscalersIn = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;

describe('explicit 0 shares', () => {
  it.each(['v1beta1', 'v1beta2', 'v1beta3'])('stay 0 when an object is written back in %s', async (version) => {
    const name = `zero-${version}`;
    await request('POST', levelsIn('v1'), { metadata: { name }, ...level({ nominalConcurrencyShares: 0 }) });
    const { object } = await request('GET', `${levelsIn(version)}/${name}`);
    expect(object.metadata.annotations).toEqual({ 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares': '' });
    const labels = { a: 'b' };
    await request('PUT', `${levelsIn(version)}/${name}`, { ...object, metadata: { ...object.metadata, labels } });
    const { object: stored } = await request('GET', `${levelsIn('v1')}/${name}`);
    expect(stored).toMatchObject({ ...level({ nominalConcurrencyShares: 0 }), metadata: { labels } });
    expect(stored.metadata.annotations).toBeUndefined();
  });
});

describe('what an older version has no field for', () => {
  it('survives its updates and patches', async () => {
    const name = 'behaving';
    const behavior = { scaleDown: { stabilizationWindowSeconds: 9, selectPolicy: 'Min' } };
    const sent = { metadata: { name }, spec: { ...scaled, behavior } };
    const { object: made } = await request('POST', autoscalersIn('v2'), sent);
    const older = `${autoscalersIn('v2beta1')}/${name}`;
    const { object } = await request('GET', older);
    expect(specOf(object)).not.toHaveProperty('behavior');
    expect(Object.keys(object.metadata.annotations ?? {})).toEqual(['conversion.k8s.io/autoscaling.v2']);
    await request('PUT', older, { ...object, spec: { ...specOf(object), maxReplicas: 5 } });
    await request('PATCH', older, { spec: { minReplicas: 2 } }, mergePatch);
    const { object: stored } = await request('GET', `${autoscalersIn('v2')}/${name}`);
    expect(specOf(stored)).toEqual({ ...specOf(made), maxReplicas: 5, minReplicas: 2 });
    expect(stored.metadata.annotations).toBeUndefined();
  });

  it('stays with its list element when others are removed', async () => {
    const name = 'measured';
    const metric = (resource: string, target: JsonObject) => ({
      type: 'Resource',
      resource: { name: resource, target },
    });
    const cpu = metric('cpu', { type: 'Utilization', averageUtilization: 50 });
    const memory = metric('memory', { type: 'Value', averageUtilization: 60 });
    await request('POST', autoscalersIn('v2'), { metadata: { name }, spec: { ...scaled, metrics: [cpu, memory] } });
    const older = `${autoscalersIn('v2beta1')}/${name}`;
    const { object } = await request('GET', older);
    const metrics = (specOf(object)['metrics'] as JsonObject[]).slice(1);
    await request('PUT', older, { ...object, spec: { ...specOf(object), metrics } });
    const { object: stored } = await request('GET', `${autoscalersIn('v2')}/${name}`);
    expect(specOf(stored)['metrics']).toEqual([memory]);
  });
});

describe('the verbs of an older version', () => {
  it('watch objects in that version', async () => {
    const name = 'watched';
    await request('POST', levelsIn('v1'), { metadata: { name }, ...level({ nominalConcurrencyShares: 8 }) });
    const { body } = await opened.server.client.request({
      method: 'GET',
      url: `${levelsIn('v1beta2')}?watch=true&timeoutSeconds=5&fieldSelector=metadata.name%3D${name}`,
      headers: { accept: 'application/json' },
    });
    const [event = ''] = (await textOf(body)).split('\n');
    expect(JSON.parse(event)).toMatchObject({
      type: 'ADDED',
      object: { apiVersion: `${flowGroup}/v1beta2`, ...level({ assuredConcurrencyShares: 8 }) },
    });
  });

  it('show the same tables', async () => {
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    const tableIn = async (version: string) =>
      (await request('GET', `${levelsIn(version)}?limit=3&includeObject=None`, undefined, { accept })).object;
    const cellsOf = (table: ApiObject) => (table['rows'] as { cells: Json[] }[]).map(({ cells }) => cells.slice(0, 6));
    const [older, newer] = [await tableIn('v1beta1'), await tableIn('v1')];
    expect(older['columnDefinitions']).toEqual(newer['columnDefinitions']);
    // The last one is the age.
    expect(cellsOf(newer)).toHaveLength(3);
    expect(cellsOf(older)).toEqual(cellsOf(newer));
  });

  it('apply configurations whose managers own fields of that version', async () => {
    const configuration = (version: string, fields: JsonObject) => ({
      kind: 'PriorityLevelConfiguration',
      apiVersion: `${flowGroup}/${version}`,
      metadata: { name: 'applied' },
      ...level(fields),
    });
    const url = (version: string, manager: string, query = '') =>
      `${levelsIn(version)}/applied?fieldManager=${manager}${query}`;
    const older = configuration('v1beta2', { assuredConcurrencyShares: 5 });
    const { object } = await request('PATCH', url('v1beta2', 'one'), older, apply);
    expect(object).toMatchObject(older);

    const newer = configuration('v1', { nominalConcurrencyShares: 6 });
    const conflict = await request('PATCH', url('v1', 'two'), newer, { ...apply, status: 409 });
    expect(conflict.object['message']).toContain('.spec.limited.assuredConcurrencyShares');
    await request('PATCH', url('v1', 'two', '&force=true'), newer, apply);
    const reverse = await request('PATCH', url('v1beta2', 'one'), older, { ...apply, status: 409 });
    expect(reverse.object['message']).toContain('.spec.limited.nominalConcurrencyShares');

    const agreed = configuration('v1beta2', { assuredConcurrencyShares: 6 });
    const { object: shared } = await request('PATCH', url('v1beta2', 'one'), agreed, apply);
    expect(shared.metadata.managedFields).toMatchObject([
      { manager: 'one', apiVersion: older.apiVersion },
      { manager: 'two', apiVersion: newer.apiVersion },
    ]);
  });

  it('merge lists by the keys of that version', async () => {
    const name = 'merged';
    const condition = (type: string) => ({ type, status: 'True' });
    await request('POST', autoscalersIn('v2'), { metadata: { name }, spec: scaled });
    const patch = async (version: string, type: string) => {
      const body = { status: { conditions: [condition(type)] } };
      const { object } = await request('PATCH', `${autoscalersIn(version)}/${name}/status`, body, strategicPatch);
      return (object['status'] as JsonObject)['conditions'];
    };
    await patch('v2', 'AbleToScale');
    expect(await patch('v2', 'ScalingActive')).toHaveLength(2);
    // The conditions of v2beta1 have no merge key.
    expect(await patch('v2beta1', 'ScalingLimited')).toMatchObject([condition('ScalingLimited')]);
  });

  it('change nothing in a dry run', async () => {
    const sent = { metadata: { name: 'dry' }, ...level({ assuredConcurrencyShares: 5 }) };
    const { object } = await request('POST', `${levelsIn('v1beta1')}?dryRun=All`, sent);
    expect(object).toMatchObject(sent);
    await request('GET', `${levelsIn('v1')}/dry`, undefined, { status: 404 });
  });

  it('are described in OpenAPI, where the types of that version have descriptions', async () => {
    const { components, paths } = (await request('GET', '/openapi/v3/apis/autoscaling/v2beta1')).object as unknown as {
      components: { schemas: { [name: string]: { description?: string; properties?: JsonObject } } };
      paths: JsonObject;
    };
    const name = 'io.k8s.api.autoscaling.v2beta1.ResourceMetricSource';
    expect(components.schemas[name]?.description).toMatch(/\S/);
    expect(Object.keys(components.schemas[name]?.properties ?? {})).toEqual(
      expect.arrayContaining(['targetAverageUtilization', 'targetAverageValue']),
    );
    expect(Object.keys(paths)).toContain(
      '/apis/autoscaling/v2beta1/namespaces/{namespace}/horizontalpodautoscalers/{name}/status',
    );
  });

  it('are in discovery, in the order of the group', async () => {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const { items } = (await request('GET', '/apis', undefined, { accept })).object as unknown as {
      items: { metadata: { name: string }; versions: { version: string }[] }[];
    };
    const versionsOf = (group: string) =>
      items.find(({ metadata }) => metadata.name === group)?.versions.map(({ version }) => version);
    expect(versionsOf('autoscaling')).toEqual(['v2', 'v1', 'v2beta2', 'v2beta1']);
    expect(versionsOf('extensions')).toEqual(['v1beta1']);
    const { object } = await request('GET', '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.extensions');
    expect(specOf(object)).toMatchObject({ groupPriorityMinimum: 17_150, versionPriority: 1 });
  });

  it('are checked by policies that match the newer version', async () => {
    const group = '/apis/admissionregistration.k8s.io/v1';
    const resources = ['prioritylevelconfigurations'];
    await request('POST', `${group}/validatingadmissionpolicies`, {
      metadata: { name: 'few-shares' },
      spec: {
        matchConstraints: {
          matchPolicy: 'Equivalent',
          resourceRules: [{ apiGroups: [flowGroup], apiVersions: ['v1'], operations: ['CREATE'], resources }],
        },
        validations: [{ expression: 'object.spec.limited.nominalConcurrencyShares < 100', message: 'too many shares' }],
      },
    });
    await request('POST', `${group}/validatingadmissionpolicybindings`, {
      metadata: { name: 'few-shares' },
      spec: { policyName: 'few-shares', validationActions: ['Deny'] },
    });
    const sent = { metadata: { name: 'many' }, ...level({ assuredConcurrencyShares: 500 }) };
    const refused = await request('POST', levelsIn('v1beta2'), sent, { status: 422 });
    expect(refused.object['message']).toContain('too many shares');
  });
});

describe('a start', () => {
  const start = (key: string, on: boolean) =>
    createServer(
      { apiDomain: 'k8s.io', controllers: '-*', runtimeConfig: { [key]: on } },
      { log: silentLog, store: openMemoryStore({ clock: drivenClock() }) },
    );

  it('fails for an unknown version, and names the nearest one', async () => {
    await expect(start('extensions/v1', true)).rejects.toThrow(
      '--runtime-config names "extensions/v1", which this server does not have; did you mean "extensions/v1beta1"?',
    );
    await expect(start('autoscaling/v2beta3', true)).rejects.toThrow(/did you mean "autoscaling\/v2beta\d"\?/);
  });

  it('serves no older version that is switched off', async () => {
    const off = await start('batch/v1beta1', false);
    const answer = await off.client.request({ method: 'GET', url: '/apis/batch/v1beta1/cronjobs', headers: {} });
    await off.close();
    expect(answer.status).toBe(404);
  });
});
