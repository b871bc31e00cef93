import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiObject, expandNames, type JsonObject, namesFor } from '../meta/index.ts';
import { olderKinds } from '../resources/older/index.ts';
import { openMemoryStore } from '../store/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import { silentLog } from './dependencies.ts';
import { createServer, type OrchServer } from './server.ts';

const names = namesFor('k8s.io');
const groupVersions = olderKinds.flatMap(({ group, versions }) =>
  versions.map(({ version }) => `${expandNames(group, names)}/${version}`),
);

let server: OrchServer;
const errors: unknown[] = [];

beforeAll(async () => {
  const log = { ...silentLog, error: (...logged: unknown[]) => void errors.push(logged) };
  server = await createServer(
    {
      apiDomain: 'k8s.io',
      controllers: '-*',
      runtimeConfig: Object.fromEntries(groupVersions.map((groupVersion) => [groupVersion, true])),
    },
    { log, store: openMemoryStore({ clock: drivenClock() }) },
  );
});
afterAll(() => server.close());

async function request(method: string, url: string, body?: JsonObject, contentType = 'application/json') {
  const answer = await server.client.request({
    method,
    url,
    headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': contentType }) },
    ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
  });
  const pieces: Uint8Array[] = [];
  for await (const piece of answer.body) pieces.push(piece);
  const text = Buffer.concat(pieces).toString();
  if (answer.status >= 300) throw new Error(`${method} ${url}: ${text}`);
  return { headers: answer.headers, object: JSON.parse(text) as ApiObject };
}

/** A kind in an older version: an object as sent, and what of it the other versions show. */
interface Row {
  /** The group version and the resource: `batch/v1beta1 cronjobs`. */
  readonly place: string;
  readonly clusterScoped?: boolean;
  /** The group version that replaces it. Default: v1 of the group. */
  readonly newer?: string;
  readonly sent: JsonObject;
  /** In the older version, where it differs from what was sent. */
  readonly older?: JsonObject;
  /** In the newer version, where that differs. */
  readonly shown?: JsonObject;
}

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
function urlsOf({ place, clusterScoped, newer }: Row) {
  const [groupVersion = '', plural = ''] = place.split(' ');
  const [group = ''] = groupVersion.split('/');
  const name = `made-${++made}`;
  const urlIn = (version: string) => `/apis/${version}/${clusterScoped === true ? '' : 'namespaces/default/'}${plural}`;
  const current = newer ?? `${group}/v1`;
  return { name, groupVersion, current, older: urlIn(groupVersion), newer: urlIn(current) };
}

const mergePatch = 'application/merge-patch+json';

describe('an older version', () => {
  it.each(rows.map((row) => [row.place, row] as const))(
    'is written and read like the newer one: %s',
    async (_, row) => {
      const { sent, older = sent, shown = sent } = row;
      const urls = urlsOf(row);
      const created = await request('POST', urls.older, { ...sent, metadata: { name: urls.name } });
      expect(created.object).toMatchObject({ ...older, apiVersion: urls.groupVersion });
      expect(created.headers['warning']).toMatch(/ is deprecated in v1\.\d+\+, unavailable in v1\.\d+\+; use /);
      // Nothing of it needs an annotation.
      expect(created.object.metadata.annotations).toBeUndefined();
      expect(created.object.metadata.managedFields).toMatchObject([{ apiVersion: urls.groupVersion }]);

      const read = await request('GET', `${urls.newer}/${urls.name}`);
      expect(read.object).toMatchObject({ ...shown, apiVersion: urls.current });
      expect(read.headers['warning']).toBeUndefined();

      const labels = { a: 'b' };
      const changed = { ...read.object, metadata: { ...read.object.metadata, labels } };
      await request('PUT', `${urls.newer}/${urls.name}`, changed);
      const again = await request('GET', `${urls.older}/${urls.name}`);
      expect(again.object).toMatchObject({ ...older, metadata: { labels } });

      const patch = { metadata: { annotations: { c: 'd' } } };
      const patched = await request('PATCH', `${urls.older}/${urls.name}`, patch, mergePatch);
      expect(patched.object).toMatchObject({ ...older, metadata: { labels, ...patch.metadata } });
      const { items } = (await request('GET', urls.older)).object as unknown as { items: ApiObject[] };
      const listed = items.find(({ metadata }) => metadata.name === urls.name);
      expect({ ...patched.object, ...listed }).toEqual(patched.object);
      expect((await request('GET', `${urls.newer}/${urls.name}`)).object).toMatchObject(shown);
      expect(errors).toEqual([]);
    },
  );
});

it('is tested for every older kind', () => {
  const places = olderKinds.flatMap(({ group, plural, versions }) =>
    versions.map(({ version }) => `${expandNames(group, names)}/${version} ${plural}`),
  );
  expect(places.filter((place) => !rows.some((row) => row.place === place))).toEqual([]);
});
