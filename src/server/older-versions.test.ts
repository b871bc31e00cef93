import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiObject, expandNames, type Json, type JsonObject, namesFor } from '../meta/index.ts';
import { certificateRequest, commonName, organization } from '../pki/testing/certificate-request.ts';
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

interface Options {
  readonly contentType?: string;
  readonly accept?: string;
  /** The expected status. Default: success. */
  readonly status?: number;
}

async function request(method: string, url: string, body?: JsonObject, options: Options = {}) {
  const { contentType = 'application/json', accept = 'application/json', status } = options;
  const answer = await server.client.request({
    method,
    url,
    headers: { accept, ...(body === undefined ? {} : { 'content-type': contentType }) },
    ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
  });
  const text = await textOf(answer.body);
  const isExpected = status === undefined ? answer.status < 300 : answer.status === status;
  if (!isExpected) throw new Error(`${method} ${url}: ${answer.status} ${text}`);
  return { headers: answer.headers, object: JSON.parse(text) as ApiObject };
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

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
const gadgetSchema = { openAPIV3Schema: { properties: { spec: { properties: { size: { maximum: 9 } } } } } };

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
        preserveUnknownFields: true,
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
        preserveUnknownFields: true,
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

const mergePatch = { contentType: 'application/merge-patch+json' };
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

const levelsIn = (version: string) => `/apis/${flowGroup}/${version}/prioritylevelconfigurations`;
const autoscalersIn = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
const specOf = (object: ApiObject) => object['spec'] as JsonObject;

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

describe('a signing request of v1beta1', () => {
  const requestsIn = (version: string) => `/apis/certificates.k8s.io/${version}/certificatesigningrequests`;
  const node = [organization('system:nodes'), commonName('system:node:a')];

  it.each([
    [
      'a node, for the signer of its client certificate',
      node,
      ['digital signature', 'client auth'],
      'kube-apiserver-client-kubelet',
    ],
    ['anybody else, for no known signer', node.slice(1), ['digital signature', 'client auth'], 'legacy-unknown'],
  ])('is by default of %s', async (title, subject, usages, signer) => {
    const sent = { metadata: { name: title.replaceAll(/\W/g, '-') }, spec: { request: requestOf(...subject), usages } };
    const { object } = await request('POST', requestsIn('v1beta1'), sent);
    expect(specOf(object)['signerName']).toBe(`kubernetes.io/${signer}`);
  });

  it('is approved in both versions, although v1 creates no request with what it has', async () => {
    const spec = { request: requestOf(commonName('anna')), usages: ['any', 'any'] };
    const name = 'approved';
    const { object } = await request('POST', requestsIn('v1beta1'), { metadata: { name }, spec });
    await request('POST', requestsIn('v1'), { metadata: { name: 'other' }, spec: specOf(object) }, { status: 422 });
    const approve = (version: string, body: JsonObject) =>
      request('PUT', `${requestsIn(version)}/${name}/approval`, body);
    const approved = { ...object, status: { conditions: [{ type: 'Approved', reason: 'Known' }] } };
    const { object: after } = await approve('v1beta1', approved);
    expect(after['status']).toMatchObject({ conditions: [{ type: 'Approved', status: 'True', reason: 'Known' }] });
    const { object: read } = await request('GET', `${requestsIn('v1')}/${name}`);
    const more = { ...read, status: { conditions: [...conditionsOf(read), { type: 'Failed', status: 'True' }] } };
    expect(conditionsOf((await approve('v1', more)).object)).toHaveLength(2);
  });
});

describe('the first beta versions of workloads', () => {
  const inVersion = (version: string, plural: string) => `/apis/${version}/namespaces/default/${plural}`;
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const create = async (version: string, plural: string, name: string, spec: JsonObject = {}) => {
    const sent = { metadata: { name }, spec: { template, ...spec } };
    return (await request('POST', inVersion(version, plural), sent)).object;
  };
  const read = async (version: string, plural: string, name: string) =>
    (await request('GET', `${inVersion(version, plural)}/${name}`)).object;
  const early = ['apps/v1beta1', 'extensions/v1beta1'];

  it.each(early)('take labels from the template, and let the selector of a deployment change: %s', async (version) => {
    const name = `mutable-${version.split('/')[0]}`;
    const made = await create(version, 'deployments', name);
    expect(made.metadata.labels).toEqual({ app: 'a' });
    const labels = { app: 'a', tier: 't' };
    const spec = {
      ...specOf(made),
      selector: { matchLabels: labels },
      template: { ...template, metadata: { labels } },
    };
    const { object } = await request('PUT', `${inVersion(version, 'deployments')}/${name}`, { ...made, spec });
    expect(specOf(object)['selector']).toEqual({ matchLabels: labels });
    for (const other of ['apps/v1beta2', 'apps/v1']) {
      const current = await read(other, 'deployments', name);
      const changed = { ...current, spec: { ...specOf(current), selector: pods } };
      await request('PUT', `${inVersion(other, 'deployments')}/${name}`, changed, { status: 422 });
    }
  });

  it('count the templates of a daemon set in a field', async () => {
    const made = await create('extensions/v1beta1', 'daemonsets', 'counted');
    expect(specOf(made)['templateGeneration']).toBe(1);
    expect(made.metadata.annotations).toBeUndefined();
    const other = { ...template, spec: { containers: [{ name: 'c', image: 'j' }] } };
    const spec = { ...specOf(made), template: other };
    await request('PUT', `${inVersion('extensions/v1beta1', 'daemonsets')}/counted`, { ...made, spec });
    const stored = await read('apps/v1', 'daemonsets', 'counted');
    expect(stored.metadata.annotations).toEqual({ 'deprecated.daemonset.template.generation': '2' });
    expect(specOf(stored)).not.toHaveProperty('templateGeneration');
    expect(specOf(await read('extensions/v1beta1', 'daemonsets', 'counted'))['templateGeneration']).toBe(2);
  });

  it.each(early)('roll a deployment back to a revision: %s', async (version) => {
    const name = `back-${version.split('/')[0]}`;
    await create(version, 'deployments', name);
    const url = `${inVersion(version, 'deployments')}/${name}/rollback`;
    const kind = { kind: 'DeploymentRollback', apiVersion: version };
    const body = { ...kind, name, updatedAnnotations: { why: 'broken' }, rollbackTo: { revision: 3 } };
    const { object } = await request('POST', url, body);
    expect(object).toMatchObject({ kind: 'Status', status: 'Success' });
    expect((await read('apps/v1', 'deployments', name)).metadata.annotations).toEqual({
      'deprecated.deployment.rollback.to': '3',
      why: 'broken',
    });
    const asked = await read(version, 'deployments', name);
    expect(specOf(asked)['rollbackTo']).toEqual({ revision: 3 });
    expect(asked.metadata.annotations).toEqual({ why: 'broken' });
    await request('POST', url, { ...body, name: 'another' }, { status: 400 });
    await request('POST', url, { ...body, rollbackTo: { revision: -1 } }, { status: 422 });
    await request('POST', url.replace(name, 'missing'), { ...body, name: 'missing' }, { status: 404 });
    await request('POST', `${inVersion('apps/v1', 'deployments')}/${name}/rollback`, body, { status: 404 });
  });

  it.each([
    ['apps/v1beta2', 'deployments'],
    ['apps/v1beta2', 'replicasets'],
    ['apps/v1beta2', 'statefulsets'],
    ['apps/v1beta1', 'deployments'],
    ['apps/v1beta1', 'statefulsets'],
    ['extensions/v1beta1', 'deployments'],
    ['extensions/v1beta1', 'replicasets'],
  ])('have a Scale of their own: %s %s', async (version, plural) => {
    const name = `scaled-${version.replace('/', '-')}`;
    await create(version, plural, name, { selector: { matchLabels: { app: 'a' } } });
    const url = `${inVersion(version, plural)}/${name}/scale`;
    const { object } = await request('GET', url);
    expect(object).toMatchObject({
      kind: 'Scale',
      apiVersion: version,
      spec: { replicas: 1 },
      status: { replicas: 0, selector: { app: 'a' }, targetSelector: 'app=a' },
    });
    await request('PUT', url, { ...object, spec: { replicas: 3 } });
    const patched = await request('PATCH', url, { metadata: { name }, spec: { replicas: 4 } }, mergePatch);
    expect(patched.object).toMatchObject({ apiVersion: version, spec: { replicas: 4 } });
    const { object: current } = await request('GET', `${inVersion('apps/v1', plural)}/${name}/scale`);
    expect(current).toMatchObject({
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 4 },
      status: { selector: 'app=a' },
    });
  });

  it('show no labels for a selector with expressions', async () => {
    const selector = { matchExpressions: [{ key: 'app', operator: 'In', values: ['a'] }] };
    await create('apps/v1beta2', 'deployments', 'expressed', { selector });
    const { object } = await request('GET', `${inVersion('apps/v1beta2', 'deployments')}/expressed/scale`);
    expect(object['status']).toEqual({ replicas: 0, targetSelector: 'app in (a)' });
  });

  it('are in discovery and OpenAPI with what is their own', async () => {
    const { resources } = (await request('GET', '/apis/apps/v1beta1')).object as unknown as {
      resources: { name: string; kind: string; group?: string; version?: string }[];
    };
    const partOf = (name: string) => resources.find((one) => one.name === name);
    expect(partOf('deployments/rollback')?.kind).toBe('DeploymentRollback');
    expect(partOf('deployments/scale')).toMatchObject({ kind: 'Scale' });
    expect(partOf('deployments/scale')?.version ?? 'v1beta1').toBe('v1beta1');
    const { components, paths } = (await request('GET', '/openapi/v3/apis/apps/v1beta1')).object as unknown as {
      components: { schemas: { [name: string]: unknown } };
      paths: JsonObject;
    };
    expect(Object.keys(components.schemas)).toEqual(
      expect.arrayContaining(
        ['DeploymentRollback', 'Scale', 'RollbackConfig'].map((name) => `io.k8s.api.apps.v1beta1.${name}`),
      ),
    );
    const url = '/apis/apps/v1beta1/namespaces/{namespace}/deployments/{name}';
    expect(Object.keys(paths)).toEqual(expect.arrayContaining([url, `${url}/rollback`, `${url}/scale`]));
    const { paths: current } = (await request('GET', '/openapi/v3/apis/apps/v1')).object as unknown as {
      paths: JsonObject;
    };
    expect(Object.keys(current).filter((path) => path.endsWith('/rollback'))).toEqual([]);
  });
});

describe('a definition of v1beta1', () => {
  const definitionsIn = (version: string) => `/apis/apiextensions.k8s.io/${version}/customresourcedefinitions`;
  const define = (plural: string, spec: JsonObject, status?: number) =>
    request(
      'POST',
      definitionsIn('v1beta1'),
      {
        metadata: { name: `${plural}.example.org` },
        spec: { group: 'example.org', names: { plural, kind: plural }, version: 'v1', ...spec },
      },
      status === undefined ? {} : { status },
    );

  it('keeps all fields of its objects, and validates them by a schema that is not structural', async () => {
    await define('loose', { scope: 'Cluster', validation: gadgetSchema });
    const url = '/apis/example.org/v1/loose';
    const post = (size: number, status: number) =>
      request(
        'POST',
        url,
        { kind: 'loose', apiVersion: 'example.org/v1', metadata: { name: 'one' }, spec: { size, other: { x: 1 } } },
        { status },
      );
    await expect
      .poll(() =>
        request('GET', url).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    expect((await post(10, 422)).object['message']).toContain('spec.size');
    expect((await post(9, 201)).object['spec']).toEqual({ size: 9, other: { x: 1 } });
  });

  it('can be updated in v1, which creates no such definition', async () => {
    const { object } = await define('old', { validation: gadgetSchema });
    const { object: read } = await request('GET', `${definitionsIn('v1')}/old.example.org`);
    const shortNames = ['o'];
    const names = { ...(specOf(read)['names'] as JsonObject), shortNames };
    const changed = { ...read, spec: { ...specOf(read), names } };
    await request('PUT', `${definitionsIn('v1')}/old.example.org`, changed);
    const { uid: _, resourceVersion: __, ...metadata } = read.metadata;
    const copy = { ...read, metadata: { ...metadata, name: 'copies.example.org' } };
    await request('POST', definitionsIn('v1'), copy as unknown as JsonObject, { status: 422 });
    expect(specOf(object)['preserveUnknownFields']).toBe(true);
  });

  it.each([
    ['another version than the first', { versions: [{ name: 'v2', served: true, storage: true }] }, 'spec.version'],
    [
      'schemas at the top and in versions',
      { validation: gadgetSchema, versions: [{ name: 'v1', served: true, storage: true, schema: gadgetSchema }] },
      'spec.validation',
    ],
    [
      'the same schema in all versions',
      { versions: [{ name: 'v1', served: true, storage: true, schema: gadgetSchema }] },
      'spec.versions',
    ],
    [
      'a default',
      { validation: { openAPIV3Schema: { type: 'object', properties: { a: { type: 'string', default: 'x' } } } } },
      'must not be set in v1beta1',
    ],
    [
      'a schema that is not structural, with pruning',
      { validation: gadgetSchema, preserveUnknownFields: false },
      '.type',
    ],
  ])('cannot have %s', async (_, spec, part) => {
    const { object } = await define('wrong', spec, 422);
    expect(object['message']).toContain(part);
  });
});

const conditionsOf = (object: ApiObject) => (object['status'] as { conditions: JsonObject[] }).conditions;

describe('the verbs of an older version', () => {
  it('watch objects in that version', async () => {
    const name = 'watched';
    await request('POST', levelsIn('v1'), { metadata: { name }, ...level({ nominalConcurrencyShares: 8 }) });
    const { body } = await server.client.request({
      method: 'GET',
      url: `${levelsIn('v1beta2')}?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3D${name}`,
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
