import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../meta/index.ts';
import { mergePatch, type OlderServer, olderServer, specOf } from './testing/older-server.ts';

let opened: OlderServer;
beforeAll(async () => {
  opened = await olderServer();
});
afterAll(() => opened.server.close());

const request: OlderServer['request'] = (...call) => opened.request(...call);

const pods = { matchLabels: { app: 'web' } };

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
