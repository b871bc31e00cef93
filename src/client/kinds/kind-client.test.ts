import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServer, type OrchServer } from '../../server/index.ts';

interface Meta {
  name?: string;
  namespace?: string;
  uid?: string;
  labels?: { [key: string]: string };
  resourceVersion?: string;
  finalizers?: string[];
}

interface Deployment {
  apiVersion?: string;
  kind?: string;
  metadata?: Meta;
  spec?: {
    replicas?: number;
    selector: { matchLabels: { [key: string]: string } };
    template: { metadata: Meta; spec: { containers: { name: string; image: string }[] } };
  };
  status?: { replicas?: number; observedGeneration?: number };
}

interface Scale {
  apiVersion?: string;
  kind?: string;
  metadata: Meta;
  spec: { replicas: number };
}

interface ConfigMap {
  metadata: Meta;
  data?: { [key: string]: string };
}

const deployment = (name: string): Deployment => ({
  metadata: { namespace: 'default', name, labels: { app: name } },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
});

let server: OrchServer;
beforeAll(async () => {
  server = await createServer({ apiDomain: 'k8s.io', controllers: '-*' });
});
afterAll(() => server.close());

describe('a typed kind', () => {
  it('offers all verbs for plain interfaces', async () => {
    const deployments = server.client.kind<Deployment>('apps/v1', 'Deployment');
    const key = { namespace: 'default', name: 'web' };
    const created = await deployments.create(deployment('web'));
    expect(created).toMatchObject({ apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas: 1 } });
    expect(await deployments.get(created.metadata ?? {})).toEqual(created);
    const updated = await deployments.update({ ...created, metadata: { ...created.metadata, labels: { a: 'b' } } });
    await expect(deployments.update(created)).rejects.toMatchObject({ code: 409, reason: 'Conflict' });
    expect(updated.metadata?.labels).toEqual({ a: 'b' });
    expect((await deployments.patch(key, 'merge', { spec: { replicas: 2 } })).spec?.replicas).toBe(2);
    expect((await deployments.patch(key, 'strategic', { spec: { replicas: 3 } })).spec?.replicas).toBe(3);
    const json = [{ op: 'replace', path: '/spec/replicas', value: 4 }];
    expect((await deployments.patch(key, 'json', json)).spec?.replicas).toBe(4);
    const dry = await deployments.patch(key, 'merge', { spec: { replicas: 9 } }, { dryRun: true });
    expect([dry.spec?.replicas, (await deployments.get(key)).spec?.replicas]).toEqual([9, 4]);
    const applied = await deployments.apply(
      { metadata: key, spec: { replicas: 5 } },
      { fieldManager: 'me', force: true },
    );
    expect(applied.spec?.replicas).toBe(5);
    expect(await deployments.delete(created.metadata ?? {}, { propagationPolicy: 'Background' })).toBeUndefined();
    expect(await deployments.find(key)).toBeUndefined();
    await expect(deployments.get(key)).rejects.toMatchObject({ code: 404, details: { name: 'web' } });
  });

  it('adds apiVersion and kind to objects that lack them', async () => {
    interface NamedConfigMap extends ConfigMap {
      apiVersion: 'v1';
      kind: 'ConfigMap';
    }
    const configMaps = server.client.kind<NamedConfigMap>('v1', 'ConfigMap');
    const metadata = { namespace: 'default', name: 'named' };
    await configMaps.create({ metadata, data: { a: '1' } });
    await configMaps.update({ metadata, data: { a: '2' } });
    const applied = await configMaps.apply({ metadata, data: { b: '3' } }, { fieldManager: 'm' });
    expect(applied).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '2', b: '3' } });
    await configMaps.delete(applied.metadata);
  });

  it('deletes an object only if its uid matches the key', async () => {
    const configMaps = server.client.kind<ConfigMap>('v1', 'ConfigMap');
    const key = { namespace: 'default', name: 'again' };
    const first = await configMaps.create({ metadata: key });
    await configMaps.delete(key);
    await configMaps.create({ metadata: { ...key, finalizers: ['example.com/keep'] } });
    await expect(configMaps.delete(first.metadata)).rejects.toMatchObject({ code: 409 });
    // Its deletion is pending.
    expect((await configMaps.delete(key))?.metadata.finalizers).toEqual(['example.com/keep']);
    expect(await configMaps.patch(key, 'merge', { metadata: { finalizers: null } })).toBeDefined();
  });

  it('lists page by page in one namespace or all, watches, and deletes the selected objects', async () => {
    const configMaps = server.client.kind<ConfigMap>('v1', 'ConfigMap');
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const labels = { half: name < 'c' ? 'first' : 'second', of: 'letters' };
      await configMaps.create({ metadata: { namespace: 'default', name, labels } });
    }
    await configMaps.create({ metadata: { namespace: 'kube-public', name: 'f', labels: { of: 'letters' } } });
    const selected = { labelSelector: 'of=letters' };
    const names: (string | undefined)[] = [];
    for await (const { metadata } of configMaps.items({ ...selected, namespace: 'default', limit: 2 })) {
      names.push(metadata.name);
    }
    expect(names).toEqual(['a', 'b', 'c', 'd', 'e']);
    const { items, metadata } = await configMaps.list(selected);
    expect(items).toHaveLength(6);
    await configMaps.deleteCollection({ namespace: 'default', labelSelector: 'half=first' });
    const seen: string[] = [];
    for await (const { type, object } of await configMaps.watch({
      ...selected,
      resourceVersion: metadata.resourceVersion,
    })) {
      seen.push(`${type} ${object.metadata.name}`);
      if (seen.length === 2) break;
    }
    expect(seen.sort()).toEqual(['DELETED a', 'DELETED b']);
    expect((await configMaps.list({ ...selected, namespace: 'default' })).items).toHaveLength(3);
  });

  it('reads and writes status and scale, and posts to other subresources', async () => {
    const { client } = server;
    const deployments = client.kind<Deployment>('apps/v1', 'Deployment');
    const key = { namespace: 'default', name: 'sub' };
    const created = await deployments.create(deployment('sub'));
    const status = deployments.subresource('status');
    const written = await status.update({ ...created, status: { replicas: 1, observedGeneration: 1 } });
    expect([written.status?.replicas, (await status.get(key)).status?.replicas]).toEqual([1, 1]);
    expect((await status.patch(key, 'merge', { status: { replicas: 2 } })).status?.replicas).toBe(2);
    const scale = deployments.subresource<Scale>('scale');
    const actual = await scale.get(key);
    expect(actual).toMatchObject({ kind: 'Scale', spec: { replicas: 1 } });
    await scale.update({ ...actual, spec: { replicas: 7 } });
    expect((await deployments.get(key)).spec?.replicas).toBe(7);

    const accounts = client.kind('v1', 'ServiceAccount');
    await accounts.create({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { namespace: 'default', name: 'robot' },
    });
    const token = await accounts
      .subresource<{ apiVersion: string; kind: string; status?: { token: string } }>('token')
      .create(
        { namespace: 'default', name: 'robot' },
        { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' },
      );
    expect(token.status?.token.split('.')).toHaveLength(3);
  });

  it('resolves a custom kind as soon as the server serves it', async () => {
    const { client } = server;
    const widgets = client.kind<{ metadata: Meta; size?: number }>('example.com/v1', 'Widget');
    const key = { name: 'w' };
    await expect(widgets.get(key)).rejects.toMatchObject({
      code: 404,
      message: 'the server does not serve the kind Widget in version example.com/v1',
    });
    await client.kind('apiextensions.{domain}/v1', 'CustomResourceDefinition').create({
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        names: { plural: 'widgets', kind: 'Widget' },
        scope: 'Cluster',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' } } } },
          },
        ],
      },
    });
    await expect
      .poll(() => widgets.resolve().catch(() => undefined))
      .toMatchObject({ resource: 'widgets', namespaced: false });
    await widgets.create({ metadata: key, size: 3 });
    expect(await widgets.get({ ...key, namespace: '' })).toMatchObject({ kind: 'Widget', size: 3 });
  });

  it('names the missing or superfluous namespace or name in its errors', async () => {
    const configMaps = server.client.kind<ConfigMap>('v1', 'ConfigMap');
    await expect(configMaps.get({ name: 'a' })).rejects.toMatchObject({
      code: 400,
      message: expect.stringMatching(/metadata.namespace: required: the kind ConfigMap is namespaced/),
    });
    await expect(configMaps.get({ namespace: 'default' })).rejects.toMatchObject({
      code: 400,
      message: expect.stringMatching(/metadata.name: /),
    });
    const nodes = server.client.kind<ConfigMap>('v1', 'Node');
    await expect(nodes.create({ metadata: { namespace: 'default', name: 'n' } })).rejects.toMatchObject({
      code: 400,
      message: expect.stringMatching(/must be absent: the kind Node is cluster-scoped/),
    });
  });
});
