import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../client/index.ts';
import type { ApiObject, JsonObject } from '../meta/index.ts';
import { createServer, type OrchServer } from './server.ts';

// Mutating admission policies in a whole server.
const group = 'admissionregistration.k8s.io/v1alpha1';
// Controllers write config maps, to which the policies would apply as well.
const options = { apiDomain: 'k8s.io', runtimeConfig: { [group]: true }, controllers: '-*' } as const;
let server: OrchServer;
let client: Client;
beforeAll(async () => {
  server = await createServer({ ...options, featureGates: { MutatingAdmissionPolicy: true } });
  ({ client } = server);
});
afterAll(() => server.close());

const policies = { apiVersion: group, resource: 'mutatingadmissionpolicies' };
const bindings = { apiVersion: group, resource: 'mutatingadmissionpolicybindings' };
const configMaps = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
const deployments = { apiVersion: 'apps/v1', resource: 'deployments', namespace: 'default' };

const rule = (resources: string, apiGroups = '') => ({
  apiGroups: [apiGroups],
  apiVersions: ['*'],
  operations: ['CREATE', 'UPDATE'],
  resources: [resources],
});
const policy = (name: string, resourceRules: JsonObject[], mutations: JsonObject[], spec: JsonObject = {}) => ({
  apiVersion: group,
  kind: 'MutatingAdmissionPolicy',
  metadata: { name },
  spec: { matchConstraints: { resourceRules }, mutations, reinvocationPolicy: 'Never', ...spec },
});
const binding = (name: string, spec: JsonObject = {}) => ({
  apiVersion: group,
  kind: 'MutatingAdmissionPolicyBinding',
  metadata: { name },
  spec: { policyName: name, ...spec },
});
const applied = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const patched = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

/** Binds a policy for the time of a test. */
async function withPolicy(
  made: ApiObject,
  run: () => Promise<void>,
  spec: JsonObject = {},
  by = client,
): Promise<void> {
  const { name = '' } = made.metadata;
  await by.create(policies, made);
  await by.create(bindings, binding(name, spec));
  try {
    await run();
  } finally {
    await by.delete({ ...bindings, name });
    await by.delete({ ...policies, name });
  }
}

const configMap = (name: string, data: JsonObject = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});
const deployment = (name: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
});

describe('a mutating admission policy', () => {
  it('changes what is written from the next request on, until it is deleted', async () => {
    const mutation = applied('Object{metadata: Object.metadata{labels: {"from": "policy"}}}');
    const labelled = policy('labels', [rule('configmaps')], [mutation]);
    await withPolicy(labelled, async () => {
      const made = await client.create<ApiObject>(configMaps, configMap('a'));
      expect(made.metadata.labels).toEqual({ from: 'policy' });
      const replaced = { ...made, metadata: { ...made.metadata, labels: {} } };
      const updated = await client.update<ApiObject>({ ...configMaps, name: 'a' }, replaced);
      expect(updated.metadata.labels).toEqual({ from: 'policy' });
    });
    const made = await client.create<ApiObject>(configMaps, configMap('b'));
    expect(made.metadata.labels).toBeUndefined();
  });

  it('merges applied configurations by the schema, and sets defaults afterwards', async () => {
    const sidecar = `Object{spec: Object.spec{
      replicas: object.spec.replicas + 1,
      template: Object.spec.template{spec: Object.spec.template.spec{containers: [
        Object.spec.template.spec.containers{name: "sidecar", image: variables.image, ports: [{"containerPort": 80}]}
      ]}}
    }}`;
    const variables = [{ name: 'image', expression: '"proxy:" + namespaceObject.metadata.name' }];
    await withPolicy(policy('sidecar', [rule('deployments', 'apps')], [applied(sidecar)], { variables }), async () => {
      const { spec } = (await client.create<ApiObject>(deployments, deployment('d'))) as ApiObject & {
        spec: JsonObject;
      };
      expect(spec).toMatchObject({
        replicas: 2,
        template: {
          spec: {
            containers: [
              { name: 'c', image: 'i' },
              {
                name: 'sidecar',
                image: 'proxy:default',
                imagePullPolicy: 'IfNotPresent',
                ports: [{ containerPort: 80, protocol: 'TCP' }],
              },
            ],
          },
        },
      });
    });
  });

  it('applies JSON patches, with parameters', async () => {
    await client.create(configMaps, configMap('params', { suffix: 'x/y' }));
    const operations =
      '[JSONPatch{op: "add", path: "/data/" + jsonpatch.escapeKey("a/b"), value: params.data.suffix + object.data.k}]';
    const spec = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConditions: [{ name: 'c', expression: 'has(object.data)' }],
    };
    const ref = { paramRef: { name: 'params', parameterNotFoundAction: 'Deny' } };
    const escaped = { ...rule('configmaps'), operations: ['UPDATE'] };
    await client.create(configMaps, configMap('p', { k: '1' }));
    await withPolicy(
      policy('patch', [escaped], [patched(operations)], spec),
      async () => {
        // The key of a config map may not hold a slash: the patched object is validated.
        await expect(client.update({ ...configMaps, name: 'p' }, configMap('p', { k: '1' }))).rejects.toMatchObject({
          code: 422,
          message: expect.stringContaining('data[a/b]'),
        });
      },
      ref,
    );
  });

  it('rejects what it cannot change, and takes part in dry runs', async () => {
    const atomic = applied('Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {"l": "v"}}}}');
    await withPolicy(policy('atomic', [rule('deployments', 'apps')], [atomic]), async () => {
      const message =
        "policy 'atomic' with binding 'atomic' denied request: error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector";
      await expect(client.create(deployments, deployment('e'))).rejects.toMatchObject({ code: 403, message });
    });
    const unknown = patched('[JSONPatch{op: "add", path: "/spec/nope", value: 1}]');
    await withPolicy(
      policy('unknown', [rule('deployments', 'apps')], [unknown], { failurePolicy: 'Ignore' }),
      async () => {
        await expect(client.create(deployments, deployment('e'))).rejects.toMatchObject({
          code: 500,
          message: 'Internal error occurred: strict decoding error: unknown field "spec.nope"',
        });
      },
    );
  });

  it('is refused if its expressions do not compile', async () => {
    await expect(
      client.create(policies, policy('bad', [rule('pods')], [applied('Object.spec{}')])),
    ).rejects.toMatchObject({
      code: 422,
      message: expect.stringContaining(
        'spec.mutations[0].applyConfiguration.expression: Invalid value: "Object.spec{}": must evaluate to Object but got Object.spec',
      ),
    });
  });

  it('is counted', async () => {
    const { body } = await server.handler({
      method: 'GET',
      url: '/metrics',
      headers: {},
      upgrades: false,
      signal: new AbortController().signal,
      peer: { address: '', network: '', certificate: { commonName: 'admin', organizations: ['system:masters'] } },
      body: async () => new Uint8Array(),
      stream: () => undefined,
    } as never);
    let text = '';
    for await (const piece of body as AsyncIterable<string>) text += piece;
    expect(text).toContain(
      'apiserver_mutating_admission_policy_check_total{error_type="no_error",policy="labels",policy_binding="labels"} 2',
    );
  });
});

it('has no effect while its feature is off', async () => {
  const off = await createServer(options);
  try {
    const mutation = applied('Object{metadata: Object.metadata{labels: {"from": "policy"}}}');
    const made = policy('labels', [rule('configmaps')], [mutation]);
    await withPolicy(
      made,
      async () => {
        const { metadata } = await off.client.create<ApiObject>(configMaps, configMap('a'));
        expect(metadata.labels).toBeUndefined();
      },
      {},
      off.client,
    );
  } finally {
    await off.close();
  }
});
