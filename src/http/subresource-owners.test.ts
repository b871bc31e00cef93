import { afterAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../meta/index.ts';
import { certificateRequest, makeFixture } from './testing/fixture.ts';

// The fields that the writers of each subresource come to own, and those that they leave: the reset fields of the reference
// server's strategies.

const fixture = await makeFixture();
afterAll(() => fixture.close());

async function ask(method: string, url: string, body: Json, type = 'application/json'): Promise<JsonObject> {
  const answer = await fixture.send(method, url, { body, headers: { 'content-type': type, 'user-agent': 'maker' } });
  const object = answer.json() as JsonObject;
  expect(answer.status, JSON.stringify(object)).toBeLessThan(300);
  return object;
}

/** The fields that each entry owns: `manager` or `manager/subresource`. */
function owners({ metadata }: JsonObject): JsonObject {
  const { managedFields = [] } = metadata as { managedFields?: JsonObject[] };
  return Object.fromEntries(
    managedFields.map(({ manager, subresource, fieldsV1 }) => [
      `${manager as string}${subresource === undefined ? '' : `/${subresource as string}`}`,
      fieldsV1 as Json,
    ]),
  );
}

const labels = (value: string) => ({ labels: { l: value } });
const owned = { 'f:labels': { 'f:l': {} } };
const status = {
  conditions: [{ type: 'T', status: 'True', lastTransitionTime: '2024-01-01T00:00:00Z', reason: 'R', message: '' }],
};
const ownedStatus = (key = 'k:{"type":"T"}'): JsonObject => ({
  'f:status': {
    'f:conditions': {
      [key]: {
        '.': {},
        ...Object.fromEntries(['lastTransitionTime', 'message', 'reason', 'status', 'type'].map((n) => [`f:${n}`, {}])),
      },
    },
  },
});

interface Case {
  readonly kind: string;
  readonly apiVersion: string;
  readonly plural: string;
  readonly spec: JsonObject;
  /** The fields that an applier of status, spec and labels owns below `/status`. */
  readonly owns: JsonObject;
  readonly keepsLabels: boolean;
}

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const cases: Case[] = [
  {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    plural: 'namespaces/default/deployments',
    spec: { selector: { matchLabels: { a: 'b' } }, template },
    owns: ownedStatus(),
    keepsLabels: true,
  },
  {
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    plural: 'namespaces/default/replicasets',
    spec: { selector: { matchLabels: { a: 'b' } }, template },
    owns: { ...ownedStatus(), 'f:metadata': owned },
    keepsLabels: false,
  },
  {
    kind: 'Pod',
    apiVersion: 'v1',
    plural: 'namespaces/default/pods',
    spec: { containers: [{ name: 'c', image: 'i' }] },
    owns: { ...ownedStatus(), 'f:metadata': owned },
    keepsLabels: false,
  },
  {
    kind: 'FlowSchema',
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    plural: 'flowschemas',
    spec: { priorityLevelConfiguration: { name: 'x' } },
    owns: ownedStatus(),
    keepsLabels: true,
  },
  {
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    plural: 'apiservices',
    spec: {
      group: 'example.com',
      version: 'v1',
      groupPriorityMinimum: 1,
      versionPriority: 1,
      insecureSkipTLSVerify: true,
      service: { name: 's', namespace: 'default' },
    },
    owns: ownedStatus(),
    keepsLabels: true,
  },
];

describe('a write of status owns its fields only', () => {
  it.each(cases)('of $kind', async ({ kind, apiVersion, plural, spec, owns, keepsLabels }) => {
    const name = kind === 'APIService' ? 'v1.example.com' : 'o';
    const type = { apiVersion, kind };
    const collection = `/${apiVersion === 'v1' ? 'api' : 'apis'}/${apiVersion}/${plural}`;
    await ask('POST', collection, { ...type, metadata: { name, ...labels('1') }, spec });
    const intent = { ...type, metadata: { name, ...labels('2') }, spec, status };
    const url = `${collection}/${name}/status?fieldManager=agent&force=true`;
    const after = await ask('PATCH', url, intent, 'application/apply-patch+yaml');
    expect(owners(after)['agent/status']).toEqual(owns);
    expect((after['metadata'] as JsonObject)['labels']).toEqual({ l: keepsLabels ? '1' : '2' });
  });
});

describe('a certificate signing request', () => {
  const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const type = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' };
  const spec = { request: certificateRequest, signerName: 'example.com/s', usages: ['client auth'] };

  it('has a spec that no field manager owns, and an approval owned by its approver', async () => {
    const made = await ask('POST', collection, { ...type, metadata: { name: 'r', ...labels('1') }, spec });
    expect(owners(made)).toEqual({ maker: { 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } } });
    const conditions = [{ type: 'Approved', status: 'True', reason: 'R', message: 'm' }];
    const approved = await ask(
      'PATCH',
      `${collection}/r/approval?fieldManager=m`,
      { ...type, metadata: { name: 'r' }, spec, status: { conditions, certificate: 'eA==' } },
      'application/apply-patch+yaml',
    );
    const fields = ['message', 'reason', 'status', 'type'].map((name) => [`f:${name}`, {}]);
    expect(owners(approved)['m/approval']).toEqual({
      'f:status': { 'f:conditions': { 'k:{"type":"Approved"}': { '.': {}, ...Object.fromEntries(fields) } } },
    });
  });
});

describe('a namespace', () => {
  it('has spec.finalizers, which belong to whoever applies them', async () => {
    const intent = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' }, spec: { finalizers: ['e.com/f'] } };
    const made = await ask('PATCH', '/api/v1/namespaces/n?fieldManager=m', intent, 'application/apply-patch+yaml');
    expect(owners(made)['m']).toEqual({ 'f:spec': { 'f:finalizers': {} } });
  });
});

describe('subresources of a pod', () => {
  const url = '/api/v1/namespaces/default/pods';
  const container = { name: 'c', image: 'i', resources: { requests: { cpu: '1' } } };
  const intent = (name: string, spec: JsonObject) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...labels('2') },
    spec,
  });

  it('an apply of ephemeralcontainers owns nothing else', async () => {
    await ask('POST', url, { metadata: { name: 'look', ...labels('1') }, spec: { containers: [container] } });
    const ephemeralContainers = [{ name: 'd', image: 'sh' }];
    const after = await ask(
      'PATCH',
      `${url}/look/ephemeralcontainers?fieldManager=m&force=true`,
      intent('look', { containers: [container], ephemeralContainers }),
      'application/apply-patch+yaml',
    );
    expect(owners(after)['m/ephemeralcontainers']).toEqual({
      'f:spec': { 'f:ephemeralContainers': { 'k:{"name":"d"}': { '.': {}, 'f:image': {}, 'f:name': {} } } },
    });
    expect((after['metadata'] as JsonObject)['labels']).toEqual({ l: '1' });
  });

  it('an apply of resize owns the resources of a container and nothing else', async () => {
    await ask('POST', url, { metadata: { name: 'size' }, spec: { containers: [container] } });
    const after = await ask(
      'PATCH',
      `${url}/size/resize?fieldManager=m&force=true`,
      intent('size', { containers: [{ ...container, resources: { requests: { cpu: '2' } } }] }),
      'application/apply-patch+yaml',
    );
    expect(owners(after)['m/resize']).toEqual({
      'f:spec': { 'f:containers': { 'k:{"name":"c"}': { 'f:resources': { 'f:requests': { 'f:cpu': {} } } } } },
    });
  });
});

describe('the managed fields of writes of the server', () => {
  it('an eviction spends of the budget in its name, a binding in nobody’s', async () => {
    const ns = '/api/v1/namespaces/default';
    const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
    await ask('POST', `${ns}/pods`, {
      metadata: { name: 'p', labels: { app: 'p' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    const target = { apiVersion: 'v1', kind: 'Node', name: 'node' };
    await ask('POST', `${ns}/pods/p/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target });
    const bound = (await fixture.send('GET', `${ns}/pods/p`)).json() as JsonObject;
    expect(bound['spec']).toMatchObject({ nodeName: 'node' });
    expect(JSON.stringify(owners(bound))).not.toContain('nodeName');

    const merge = 'application/merge-patch+json';
    const running = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
    await ask('PATCH', `${ns}/pods/p/status`, running, merge);
    await ask('POST', budgets, {
      metadata: { name: 'b' },
      spec: { minAvailable: 0, selector: { matchLabels: { app: 'p' } } },
    });
    const seen = {
      status: { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 0, expectedPods: 1 },
    };
    await ask('PATCH', `${budgets}/b/status`, seen, merge);
    await ask('POST', `${ns}/pods/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } });
    const spent = (await fixture.send('GET', `${budgets}/b`)).json() as JsonObject;
    expect(owners(spent)['kube-apiserver/status']).toMatchObject({
      'f:status': { 'f:disruptedPods': { '.': {}, 'f:p': {} }, 'f:disruptionsAllowed': {} },
    });
  });
});
