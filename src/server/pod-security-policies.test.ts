import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readProtobuf } from '../codec/index.ts';
import { namesFor } from '../meta/index.ts';
import { PodSecurityPolicy } from '../resources/older/pod-security-policies.types.ts';
import { openMemoryStore } from '../store/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import { silentLog } from './dependencies.ts';
import { createServer } from './server.ts';
import { mergePatch, type OlderServer, olderServer } from './testing/older-server.ts';

const store = openMemoryStore({ clock: drivenClock() });

let opened: OlderServer;
beforeAll(async () => {
  opened = await olderServer(store);
});
afterAll(() => opened.server.close());

const request: OlderServer['request'] = (...call) => opened.request(...call);

const inPolicy = '/apis/policy/v1beta1/podsecuritypolicies';
const inExtensions = '/apis/extensions/v1beta1/podsecuritypolicies';

const spec = {
  privileged: true,
  volumes: ['*'],
  seLinux: { rule: 'RunAsAny' },
  runAsUser: { rule: 'MustRunAsNonRoot' },
  supplementalGroups: { rule: 'MayRunAs', ranges: [{ min: 1, max: 9 }] },
  fsGroup: { rule: 'RunAsAny' },
};

describe('pod security policies', () => {
  it('are written and read in both groups, with the warnings of their last releases', async () => {
    const created = await request('POST', inPolicy, { metadata: { name: 'both' }, spec });
    expect(created.object).toMatchObject({
      apiVersion: 'policy/v1beta1',
      kind: 'PodSecurityPolicy',
      spec: { ...spec, allowPrivilegeEscalation: true },
    });
    expect(created.headers['warning']).toBe(
      '299 - "policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+, unavailable in v1.25+"',
    );
    const patch = { spec: { hostPID: true } };
    const patched = await request('PATCH', `${inExtensions}/both`, patch, mergePatch);
    expect(patched.object).toMatchObject({ apiVersion: 'extensions/v1beta1', spec: { ...spec, hostPID: true } });
    expect(patched.headers['warning']).toBe(
      '299 - "extensions/v1beta1 PodSecurityPolicy is deprecated in v1.11+, unavailable in v1.16+; use policy/v1beta1 PodSecurityPolicy"',
    );
    const { entry } = await store.get('/podsecuritypolicy/both');
    expect(JSON.parse(Buffer.from(entry?.value ?? []).toString())).toMatchObject({
      apiVersion: 'policy/v1beta1',
      spec: { hostPID: true },
    });
  });

  it('are validated', async () => {
    const body = { metadata: { name: 'invalid' }, spec: { ...spec, fsGroup: {} } };
    const { object } = await request('POST', inExtensions, body, { status: 422 });
    expect(object['message']).toContain('spec.fsGroup.rule: Unsupported value: ""');
  });

  it('are sent as protobuf', async () => {
    await request('POST', inPolicy, { metadata: { name: 'encoded' }, spec });
    const { body } = await opened.server.client.request({
      method: 'GET',
      url: `${inPolicy}/encoded`,
      headers: { accept: 'application/vnd.kubernetes.protobuf' },
    });
    const type = { apiVersion: 'policy/v1beta1', kind: 'PodSecurityPolicy' };
    const { value } = readProtobuf(await buffer(body), type, () => PodSecurityPolicy, namesFor('k8s.io'));
    expect(value).toMatchObject({ ...type, spec });
  });

  it('are described in discovery and OpenAPI', async () => {
    const { object } = await request('GET', '/apis/policy/v1beta1');
    expect(object['resources']).toContainEqual(
      expect.objectContaining({ name: 'podsecuritypolicies', namespaced: false, shortNames: ['psp'] }),
    );
    const openapi = await request('GET', '/openapi/v3/apis/policy/v1beta1');
    expect(openapi.object['components']).toMatchObject({
      schemas: {
        'io.k8s.api.policy.v1beta1.PodSecurityPolicySpec': {
          required: ['seLinux', 'runAsUser', 'supplementalGroups', 'fsGroup'],
          properties: { seLinux: { description: expect.stringMatching(/\S/) as string } },
        },
      },
    });
  });
});

describe('a server', () => {
  const statusOf = async (runtimeConfig: { [key: string]: boolean }) => {
    const server = await createServer(
      { apiDomain: 'k8s.io', controllers: '-*', runtimeConfig },
      { log: silentLog, store: openMemoryStore({ clock: drivenClock() }) },
    );
    const { status } = await server.client.request({ method: 'GET', url: inPolicy, headers: {} });
    await server.close();
    return status;
  };

  it.each<[status: number, config: { [key: string]: boolean }]>([
    [404, {}],
    [404, { 'api/all': true }],
    [200, { 'policy/v1beta1': true }],
    [200, { 'policy/v1beta1/podsecuritypolicies': true }],
    [404, { 'policy/v1beta1': true, 'policy/v1beta1/podsecuritypolicies': false }],
  ])('answers %i with --runtime-config=%j', async (status, config) => {
    expect(await statusOf(config)).toBe(status);
  });
});
