import { generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../client/index.ts';
import type { ApiObject, JsonObject } from '../../meta/index.ts';
import { der } from '../../pki/der.ts';
import { formatPem } from '../../pki/index.ts';
import { createServer, type OrchServer } from '../server.ts';

// Admission plugins in a whole server. Expected values are those of recorded exchanges where there is one.
let server: OrchServer;
let client: Client;
beforeAll(async () => {
  server = await createServer({ controllers: '-*', apiDomain: 'k8s.io' });
  ({ client } = server);
});
afterAll(() => server.close());

const at = (resource: string, namespace: string) => ({ apiVersion: 'v1', resource, namespace });
const create = (kind: string, resource: string, namespace: string, name: string, fields: JsonObject = {}) =>
  client.create<ApiObject>(at(resource, namespace), {
    apiVersion: 'v1',
    kind,
    ...fields,
    metadata: { name, ...((fields['metadata'] as JsonObject | undefined) ?? {}) },
  });
const pod = (namespace: string, name: string, container: JsonObject = {}, spec: JsonObject = {}) =>
  create('Pod', 'pods', namespace, name, { spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec } });

async function openNamespace(name: string, labels: { [key: string]: string } = {}) {
  await client.create(
    { apiVersion: 'v1', resource: 'namespaces' },
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } },
  );
  await create('ServiceAccount', 'serviceaccounts', name, 'default', { automountServiceAccountToken: false });
}

const failure = (message: string, code = 403) => ({ code, message });

describe('admission in a server', () => {
  it('sets the defaults of a pod as recorded', async () => {
    await openNamespace('plain');
    const made = await pod('plain', 'p', {}, { automountServiceAccountToken: false });
    expect(made['spec']).toEqual({
      automountServiceAccountToken: false,
      containers: [
        {
          image: 'i',
          imagePullPolicy: 'Always',
          name: 'c',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
        },
      ],
      dnsPolicy: 'ClusterFirst',
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
      priority: 0,
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      securityContext: {},
      serviceAccount: 'default',
      serviceAccountName: 'default',
      terminationGracePeriodSeconds: 30,
      tolerations: ['not-ready', 'unreachable'].map((key) => ({
        effect: 'NoExecute',
        key: `node.kubernetes.io/${key}`,
        operator: 'Exists',
        tolerationSeconds: 300,
      })),
    });
  });

  it('mounts the service account token', async () => {
    await openNamespace('token');
    const made = await pod('token', 'p', {}, { automountServiceAccountToken: true });
    expect(made['spec']).toMatchObject({ volumes: [{ projected: { defaultMode: 420 } }] });
  });

  it('rejects a pod whose service account does not exist', async () => {
    await expect(pod('default', 'p')).rejects.toMatchObject(
      failure(
        'pods "p" is forbidden: error looking up service account default/default: serviceaccount "default" not found',
      ),
    );
  });

  it('names a pod with generateName by its prefix until its name is generated', async () => {
    await openNamespace('generated', { 'pod-security.kubernetes.io/enforce': 'baseline' });
    const generated = (spec: JsonObject) => {
      const metadata = { generateName: 'web-', name: '' };
      const containers = [{ name: 'c', image: 'i' }];
      return create('Pod', 'pods', 'generated', '', { metadata, spec: { containers, ...spec } });
    };
    // The message that controllers put into their events.
    await expect(generated({ priorityClassName: 'none' })).rejects.toMatchObject(
      failure('pods "web-" is forbidden: no PriorityClass with name none was found'),
    );
    await expect(generated({ hostPID: true })).rejects.toMatchObject({
      message: expect.stringMatching(/^pods "web-\w{5}" is forbidden: violates PodSecurity /) as string,
    });
  });

  it('uses the configured plugins and toleration seconds', async () => {
    const other = await createServer({
      apiDomain: 'k8s.io',
      enableAdmissionPlugins: ['NamespaceAutoProvision'],
      disableAdmissionPlugins: ['ServiceAccount', 'NodeRestriction'],
      defaultNotReadyTolerationSeconds: 7,
    });
    try {
      const spec = { containers: [{ name: 'c', image: 'i' }] };
      const made = await other.client.create<ApiObject>(at('pods', 'new'), {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'p' },
        spec,
      });
      expect(made).toMatchObject({ spec: { tolerations: [{ tolerationSeconds: 7 }, { tolerationSeconds: 300 }] } });
      const place = { apiVersion: 'v1', resource: 'namespaces', name: 'new' };
      expect(await other.client.get(place)).toMatchObject({ status: { phase: 'Active' } });
    } finally {
      await other.close();
    }
  });

  it('enforces limit ranges as recorded', async () => {
    await openNamespace('limits');
    const limit = {
      type: 'Container',
      default: { cpu: '200m' },
      defaultRequest: { cpu: '100m' },
      max: { cpu: '1' },
      min: { cpu: '50m' },
    };
    await create('LimitRange', 'limitranges', 'limits', 'l', { spec: { limits: [limit] } });
    expect(await pod('limits', 'within')).toMatchObject({
      spec: { containers: [{ resources: { limits: { cpu: '200m' }, requests: { cpu: '100m' } } }] },
    });
    await expect(pod('limits', 'lim', { resources: { limits: { cpu: '2' } } })).rejects.toMatchObject(
      failure('pods "lim" is forbidden: maximum cpu usage per Container is 1, but limit is 2'),
    );
  });

  it('enforces the pod security level of the namespace', async () => {
    await openNamespace('tight', { 'pod-security.kubernetes.io/enforce': 'baseline' });
    await expect(pod('tight', 'p', {}, { hostNetwork: true })).rejects.toMatchObject(
      failure('pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)'),
    );
    const wrong = openNamespace('wrong', { 'pod-security.kubernetes.io/enforce': 'none' });
    await expect(wrong).rejects.toMatchObject(
      failure(
        'Namespace "wrong" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "none": must be one of privileged, baseline, restricted',
        422,
      ),
    );
  });

  it('copies the topology labels of the node to a pod', async () => {
    const zone = { 'topology.kubernetes.io/zone': 'a' };
    await client.create(
      { apiVersion: 'v1', resource: 'nodes' },
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'placed', labels: zone } },
    );
    await openNamespace('placed');
    await pod('placed', 'p');
    await client.create(
      { ...at('pods', 'placed'), name: 'p', subresource: 'binding' },
      { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'placed' } },
    );
    expect(await client.get({ ...at('pods', 'placed'), name: 'p' })).toMatchObject({
      metadata: { labels: zone },
      spec: { nodeName: 'placed' },
    });
  });

  it('taints new nodes and adds finalizers to volumes and claims', async () => {
    const node = await client.create(
      { apiVersion: 'v1', resource: 'nodes' },
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } },
    );
    expect(node).toMatchObject({ spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } });
    await openNamespace('claims');
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    expect(await create('PersistentVolumeClaim', 'persistentvolumeclaims', 'claims', 'c', { spec })).toMatchObject({
      metadata: { finalizers: ['kubernetes.io/pvc-protection'] },
    });
  });
});

describe('quotas in a server', () => {
  const usedIn = async (namespace: string) => {
    const { status } = await client.get<ApiObject>({ ...at('resourcequotas', namespace), name: 'q' });
    return (status as { used: JsonObject }).used;
  };
  async function openQuota(namespace: string, hard: JsonObject = { configmaps: '10', 'count/secrets': '5' }) {
    await openNamespace(namespace);
    const quota = await create('ResourceQuota', 'resourcequotas', namespace, 'q', { spec: { hard } });
    const status = { hard, used: Object.fromEntries(Object.keys(hard).map((name) => [name, '0'])) };
    await client.update({ ...at('resourcequotas', namespace), name: 'q', subresource: 'status' }, { ...quota, status });
  }

  it('are not exceeded by 64 concurrent creates', async () => {
    await openQuota('many');
    const creators = Array.from({ length: 64 }, (_, i) => create('ConfigMap', 'configmaps', 'many', `c${i}`));
    const outcomes = await Promise.allSettled(creators);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    const refused = outcomes.find((outcome) => outcome.status === 'rejected');
    expect(refused?.reason).toMatchObject({
      code: 403,
      message: expect.stringMatching(
        /^configmaps "c\d+" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=10, limited: configmaps=10$/,
      ) as string,
    });
    expect(await usedIn('many')).toMatchObject({ configmaps: '10' });
    expect((await client.list(at('configmaps', 'many'))).items).toHaveLength(10);
  });

  it('release the usage of objects that are rejected later', async () => {
    await openQuota('back');
    await create('ConfigMap', 'configmaps', 'back', 'once');
    await expect(create('ConfigMap', 'configmaps', 'back', 'once')).rejects.toMatchObject({ code: 409 });
    expect(await usedIn('back')).toMatchObject({ configmaps: '1' });
  });

  it('release the usage of pods that are too large to be stored', async () => {
    await openQuota('large', { pods: '3' });
    for (const name of ['a', 'b', 'c']) {
      const env = [{ name: 'LARGE', value: 'x'.repeat(2_200_000) }];
      await expect(pod('large', name, { env })).rejects.toMatchObject({ code: 413 });
    }
    expect(await usedIn('large')).toEqual({ pods: '0' });
    await pod('large', 'small');
    expect(await usedIn('large')).toEqual({ pods: '1' });
  });
});

describe('certificate signing requests in a server', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  /** A CSR for an organization, signed with its key. */
  function requestFor(organization: string): string {
    const subject = der.sequence(der.set(der.sequence(der.objectId('2.5.4.10'), der.utf8(organization))));
    const key = publicKey.export({ type: 'spki', format: 'der' });
    const info = der.sequence(der.unsigned(Buffer.from([0])), subject, key, der.explicit(0));
    const algorithm = der.sequence(der.objectId('1.2.840.10045.4.3.2'));
    const body = der.sequence(info, algorithm, der.bitString(sign('sha256', info, privateKey)));
    return formatPem('CERTIFICATE REQUEST', body);
  }
  const ask = (name: string, text: string) => {
    const signerName = 'kubernetes.io/kube-apiserver-client';
    const request = Buffer.from(text).toString('base64');
    return client.create<ApiObject>(
      { apiVersion: 'certificates.k8s.io/v1', resource: 'certificatesigningrequests' },
      {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name },
        spec: { signerName, request, usages: ['client auth'] },
      },
    );
  };

  it('for system:masters are rejected, with any text around the PEM block', async () => {
    const wanted = requestFor('system:masters');
    const innocent = requestFor('team');
    expect((await ask('innocent', innocent)).metadata.name).toBe('innocent');
    await expect(ask('wanted', wanted)).rejects.toMatchObject({
      code: 403,
      message: expect.stringMatching(/with system:masters group is not allowed$/) as string,
    });
    const hidden = `x${innocent.replaceAll('\n', '')}\n${wanted}`;
    for (const text of [hidden, innocent + wanted, `text\n${wanted}`]) {
      await expect(ask('hidden', text)).rejects.toMatchObject({
        code: 422,
        message: expect.stringContaining('must be one CERTIFICATE REQUEST PEM block and nothing around it') as string,
      });
    }
  });
});

describe('priorities in a server', () => {
  it('include the system priority classes from the start', async () => {
    const place = { apiVersion: 'scheduling.k8s.io/v1', resource: 'priorityclasses' };
    const { items } = await client.list<ApiObject>(place);
    expect(items.map(({ metadata, value }) => [metadata.name, value])).toEqual([
      ['system-cluster-critical', 2_000_000_000],
      ['system-node-critical', 2_000_001_000],
    ]);
    await openNamespace('critical');
    expect(await pod('critical', 'p', {}, { priorityClassName: 'system-node-critical' })).toMatchObject({
      spec: { priority: 2_000_001_000, preemptionPolicy: 'PreemptLowerPriority' },
    });
  });
});

describe('nodes in a server with NodeRestriction', () => {
  let nodes: OrchServer;
  beforeAll(async () => {
    nodes = await createServer({
      apiDomain: 'k8s.io',
      authorizationMode: ['AlwaysAllow'],
      enableAdmissionPlugins: ['NodeRestriction'],
      disableAdmissionPlugins: ['ServiceAccount'],
    });
  });
  afterAll(() => nodes.close());

  /** Sends a request as the node `a`. */
  async function send(method: string, url: string, body?: JsonObject, type = 'application/json'): Promise<JsonObject> {
    const response = await nodes.client.request({
      method,
      url,
      headers: {
        'content-type': type,
        'impersonate-user': 'system:node:a',
        'impersonate-group': 'system:nodes',
      },
      ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    return JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
  }
  const node = (name: string, labels: JsonObject = {}) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
  });
  const merge = 'application/merge-patch+json';

  it('are written by themselves, without labels that they must not set', async () => {
    expect(await send('POST', '/api/v1/nodes', node('b'))).toMatchObject({
      code: 403,
      message: 'nodes "b" is forbidden: node "a" is not allowed to modify node "b"',
    });
    expect(await send('POST', '/api/v1/nodes', node('a', { 'x.k8s.io/y': 'z' }))).toMatchObject({
      message: 'nodes "a" is forbidden: node "a" is not allowed to set the following labels: x.k8s.io/y',
    });
    expect(await send('POST', '/api/v1/nodes', node('a', { 'kubernetes.io/os': 'linux' }))).toMatchObject({
      kind: 'Node',
    });
    const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
    expect(await send('PATCH', '/api/v1/nodes/a/status', ready, merge)).toMatchObject(ready);
    const label = { metadata: { labels: { 'node-restriction.kubernetes.io/a': 'b' } } };
    expect(await send('PATCH', '/api/v1/nodes/a', label, merge)).toMatchObject({
      message: 'nodes "a" is forbidden: is not allowed to modify labels: node-restriction.kubernetes.io/a',
    });
  });

  it('ask for tokens, evict and delete pods on themselves alone', async () => {
    const place = at('pods', 'default');
    for (const nodeName of ['a', 'b']) {
      await nodes.client.create(place, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: nodeName },
        spec: { nodeName, containers: [{ name: 'c', image: 'i' }] },
      });
    }
    await nodes.client.create(at('serviceaccounts', 'default'), {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 's' },
    });
    const uid = (await nodes.client.get<ApiObject>({ ...place, name: 'b' })).metadata.uid ?? '';
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'b', uid };
    const token = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { boundObjectRef } };
    expect(await send('POST', '/api/v1/namespaces/default/serviceaccounts/s/token', token)).toMatchObject({
      code: 403,
      message: 'serviceaccounts "s" is forbidden: node requested token bound to a pod scheduled on a different node',
    });
    const eviction = (name: string) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } });
    expect(await send('POST', '/api/v1/namespaces/default/pods/b/eviction', eviction('b'))).toMatchObject({
      code: 403,
      message: 'pods "b" is forbidden: node a can only evict pods with spec.nodeName set to itself',
    });
    expect(await send('DELETE', '/api/v1/namespaces/default/pods/b')).toMatchObject({
      message: 'pods "b" is forbidden: node "a" can only delete pods with spec.nodeName set to itself',
    });
    expect(await send('DELETE', '/api/v1/namespaces/default/pods/a?gracePeriodSeconds=0')).toMatchObject({
      metadata: { name: 'a' },
    });
  });
});
