import { describe, expect, it } from 'vitest';
import type { AdmissionPlugin, AdmissionRequest, ServedKind } from '../../admission/index.ts';
import { type JsonObject, oneStep } from '../../meta/index.ts';
import type { Change } from '../index.ts';
import { representObject } from '../index.ts';
import { bench, followedBench, how } from '../testing/fixtures.ts';
import { recordingWebhook, wheel, wheels } from '../testing/wheels.ts';

const create = (value: JsonObject): Change => ({ verb: 'create', object: { value, findings: [] } });
const merge = (patch: JsonObject): Change => ({ verb: 'patch', format: 'merge', patch });

/** A registry whose only plugin does `act` in mutating admission. */
function admitting(act: (request: AdmissionRequest) => void | Promise<void>) {
  const plugin: AdmissionPlugin = { name: 'Test', mutate: act };
  return bench({ admission: [plugin] });
}

const other = ({ versions }: AdmissionRequest) => versions.equivalents[1] as ServedKind;

describe('the options of a request in admission', () => {
  it('are those that were sent, of the write that a patch becomes', async () => {
    const seen: (JsonObject | undefined)[] = [];
    const { write } = admitting(({ options }) => {
      seen.push(options());
    });
    const sent = { fieldManager: 'me', fieldValidation: 'Strict', dryRun: ['All'] };
    await write('configmaps', {}, create({ metadata: { name: 'a' } }), { sent });
    await write('configmaps', { name: 'a' }, merge({ data: { a: '1' } }), { sent: {} });
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0, dryRun: [] };
    await write('configmaps', { name: 'a' }, { verb: 'delete', options });
    const apiVersion = 'meta.k8s.io/v1';
    expect(seen).toEqual([
      { kind: 'CreateOptions', apiVersion, ...sent },
      { kind: 'UpdateOptions', apiVersion },
      { kind: 'DeleteOptions', apiVersion, gracePeriodSeconds: 0 },
    ]);
  });
});

describe('a deletion of a collection in admission', () => {
  it('has a request for each object, without its name', async () => {
    const seen: unknown[] = [];
    const {
      create: make,
      registry,
      target,
    } = bench({
      admission: [
        {
          name: 'Test',
          validate: ({ operation, name, oldObject }) => {
            seen.push([operation, name, oldObject?.metadata.name]);
          },
        },
      ],
    });
    for (const name of ['a', 'b']) await make('configmaps', { metadata: { name } });
    seen.length = 0;
    await registry.deleteCollection(target('configmaps'), {}, {}, how);
    expect(seen).toEqual([
      ['DELETE', '', 'a'],
      ['DELETE', '', 'b'],
    ]);
  });
});

describe('the object of a request in another version', () => {
  it('is read and written in it, and stored in the storage version', async () => {
    const seen: unknown[] = [];
    const {
      create: make,
      registry,
      target,
    } = admitting(async (request) => {
      const { versions } = request;
      seen.push(versions.equivalents.map(({ kind, resource }) => `${kind.kind} ${kind.version} ${resource.version}`));
      const as = other(request);
      const object = (await versions.read('object', as)) as JsonObject;
      seen.push([object['apiVersion'], object['spec']]);
      await versions.write(as, { ...object, spec: { size: 5 } });
      seen.push((await versions.read('object', versions.equivalents[0] as ServedKind))?.['size']);
    });
    const made = await make('widgets', {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'a' },
      size: 3,
    });
    expect(seen).toEqual([['Widget v1 v1', 'Widget v2 v2'], ['example.com/v2', { size: 3 }], 5]);
    expect(made).toMatchObject({ size: 5, metadata: { name: 'a', namespace: 'ns' } });
    expect(
      JSON.parse(
        representObject(
          { ...target('widgets'), version: 'v2' },
          await registry.get({ ...target('widgets'), name: 'a' }, {}),
          { as: 'object' },
        ),
      ),
    ).toMatchObject({ spec: { size: 5 } });
  });

  it('is converted by the webhook of a custom resource', async () => {
    const { webhook } = recordingWebhook();
    const { registry } = admitting(async (request) => {
      if (request.operation !== 'CREATE') return;
      const as = other(request);
      const object = (await request.versions.read('object', as)) as JsonObject;
      expect(object).toMatchObject({ apiVersion: 'turn.example.com/v1', spec: { radius: 4 } });
      await request.versions.write(as, { ...object, spec: { radius: 5 } });
    });
    registry.install(wheels(webhook));
    const resource = registry.find('turn.example.com', 'v2', 'wheels');
    if (resource === undefined) throw new Error('not served');
    const target = { resource, version: 'v2', namespace: 'ns', name: '', subresource: '' };
    await registry.write(target, create(wheel('v2', 'a', { diameter: 8 })), how);
    const read = await registry.get({ ...target, name: 'a' }, {});
    expect(JSON.parse(read.bytes)).toMatchObject({ spec: { diameter: 10 } });
  });

  it('has neither the name, uid and time that a create will give it, nor loses them', async () => {
    const seen: unknown[] = [];
    const { create: make } = admitting(async ({ name, versions }) => {
      const [as] = versions.equivalents as [ServedKind];
      const object = (await versions.read('object', as)) as JsonObject;
      seen.push(name, object['metadata']);
      const metadata = { ...(object['metadata'] as JsonObject), uid: 'mine', labels: { a: 'b' } };
      await versions.write(as, { ...object, metadata });
    });
    const { metadata } = await make('configmaps', { metadata: { generateName: 'gen-' } });
    expect(seen).toEqual(['', expect.not.objectContaining({ name: expect.anything(), uid: expect.anything() })]);
    expect(metadata).toMatchObject({ name: expect.stringMatching(/^gen-.{5}$/), labels: { a: 'b' } });
    expect(metadata.uid).toMatch(/-4/);
    expect(metadata.creationTimestamp).toBeDefined();
  });

  it('has a type, and may be rejected for fields that it does not declare', async () => {
    const seen: unknown[] = [];
    const { create: make } = admitting(async (request) => {
      const { versions } = request;
      const as = other(request);
      seen.push(versions.type(as).schema.name);
      const object = (await versions.read('object', as)) as JsonObject;
      await versions.write(as, { ...object, spec: { size: 1, unknown: 2 } });
      await versions.write(as, { ...object, spec: { size: 1, unknown: 2 } }, true);
    });
    const value = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } };
    await expect(make('widgets', value)).rejects.toMatchObject({
      code: 400,
      message: 'strict decoding error: unknown field "spec.unknown"',
    });
    expect(seen).toEqual([expect.stringContaining('v2')]);
  });

  it('keeps its managed fields when they are replaced by invalid ones', async () => {
    let managedFields: JsonObject[] = [{ manager: 'x', operation: 'Odd', apiVersion: 'v1', fieldsType: 'FieldsV1' }];
    const {
      write,
      create: make,
      read,
    } = admitting(async ({ versions }) => {
      const [as] = versions.equivalents as [ServedKind];
      const object = (await versions.read('object', as)) as JsonObject;
      await versions.write(as, { ...object, metadata: { ...(object['metadata'] as JsonObject), managedFields } });
    });
    const warnings = new Set<string>();
    const options = { warn: (text: string) => void warnings.add(text), fieldManager: 'me' };
    await write('configmaps', {}, create({ metadata: { name: 'a' }, data: { a: '1' } }), options);
    expect((await read('configmaps', 'a')).metadata.managedFields).toMatchObject([{ manager: 'me' }]);
    expect([...warnings]).toEqual([expect.stringMatching(/^\.metadata\.managedFields was in an invalid state/)]);
    managedFields = [];
    const other = await make('configmaps', { metadata: { name: 'b' }, data: { a: '1' } });
    expect(other.metadata.managedFields).toBeUndefined();
  });

  it('cannot be moved to another namespace, and keeps the part that the request does not write', async () => {
    let change: (object: JsonObject) => JsonObject = (object) => ({ ...object, status: { ready: 7 } });
    const {
      create: make,
      change: patch,
      read,
    } = admitting(async ({ versions, operation }) => {
      const [as] = versions.equivalents as [ServedKind];
      if (operation !== 'DELETE') await versions.write(as, change((await versions.read('object', as)) as JsonObject));
    });
    expect((await make('deployments', { metadata: { name: 'a' }, spec: {} }))['status']).toEqual({});
    change = (object) => ({ ...object, spec: { replicas: 9 } });
    await patch('deployments', { name: 'a', subresource: 'status' }, merge({ status: { ready: 1 } }));
    expect(await read('deployments', 'a')).toMatchObject({ spec: { replicas: 1 }, status: { ready: 1 } });
    change = (object) => ({ ...object, metadata: { ...(object['metadata'] as JsonObject), namespace: 'other' } });
    await expect(patch('deployments', 'a', merge({ spec: { image: 'i' } }))).rejects.toMatchObject({
      code: 400,
      message: 'the namespace of the provided object does not match the namespace sent on the request',
    });
  });
});

describe('a value derived from the objects of a resource', () => {
  it('includes every write that was answered, and is compiled once for each state of an object', async () => {
    let compiled = 0;
    let joined = 0;
    const { create: make, registry, write } = followedBench();
    const names = registry.objects.derived('configmaps', {
      compile: ({ metadata }) =>
        oneStep(() => {
          compiled++;
          return metadata.name;
        }),
      join: (all) => {
        joined++;
        return all;
      },
    });
    expect(await names()).toEqual([]);
    await make('configmaps', { metadata: { name: 'b' } });
    await make('deployments', { metadata: { name: 'c' }, spec: {} });
    await make('configmaps', { metadata: { name: 'a' } });
    expect(await Promise.all([names(), names()])).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(names()).toEqual(['a', 'b']);
    expect([compiled, joined]).toEqual([2, 2]);
    await write('configmaps', { name: 'a' }, { verb: 'delete', options: {} });
    expect(await names()).toEqual(['b']);
    expect([compiled, joined]).toEqual([2, 3]);
  });

  it('leaves out an object whose values are not of its type: another process stored it', async () => {
    const { create: make, registry, store } = followedBench();
    const names = registry.objects.derived('configmaps', {
      compile: ({ metadata }) => oneStep(() => metadata.name),
      join: (all) => all,
    });
    for (const name of ['a', 'b']) await make('configmaps', { metadata: { name } });
    expect(await names()).toEqual(['a', 'b']);
    const key = '/configmaps/ns/a';
    const { entry } = await store.get(key);
    const value = Buffer.from(
      Buffer.from(entry?.value ?? [])
        .toString()
        .replace(/}$/, ',"data":5}'),
    );
    await store.commit([], [{ key, value }]);
    await make('configmaps', { metadata: { name: 'c' } });
    expect(await names()).toEqual(['b', 'c']);
  });

  it('of a resource that does not exist is derived from nothing', async () => {
    const { registry } = bench();
    const count = { compile: () => oneStep(() => 1), join: (all: readonly number[]) => all.length };
    expect(await registry.objects.derived('things.example.com', count)()).toBe(0);
  });
});
