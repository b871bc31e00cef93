import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { ApiObject, JsonObject } from '../meta/index.ts';
import { until } from '../meta/testing/until.ts';
import { createRegistry, type Registry, type Target } from '../registry/index.ts';
import { failure, how, names, optionsOf, remove } from '../registry/testing/fixtures.ts';
import { builtinResources } from '../resources/index.ts';
import { openMemoryStore, type Store } from '../store/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import { CustomResources } from './controller.ts';
import { defineAnything } from './testing/define.ts';

const id = 'customresourcedefinitions.apiextensions.k8s.io';
const running: { stop: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

/** A server without its wire: a registry with the kinds of this project, and the controller. */
async function serve(store: Store = openMemoryStore({ clock: drivenClock() }), clock = drivenClock()) {
  const registry = createRegistry({
    store,
    names,
    clock,
    random: { integer: () => 0, uuid: randomUUID },
    definitions: builtinResources,
    admission: () => [],
    authorize: () => ({ allowed: true, reason: '' }),
  });
  const reports: string[] = [];
  const report = (text: string) => void reports.push(text);
  const controller = new CustomResources({ registry, names, clock, define: defineAnything, report });
  await controller.start();
  const stop = async () => {
    await controller.stop();
    registry.close();
  };
  running.push({ stop });
  return { store, clock, registry, reports, stop, ...actions(registry) };
}

function actions(registry: Registry) {
  const target = (group: string, plural: string, place: Partial<Target> = {}, version = 'v1'): Target => {
    const resource = registry.find(group, version, plural);
    if (resource === undefined) throw new Error(`no ${plural}`);
    return { resource, version, namespace: '', name: '', subresource: '', ...place };
  };
  const definitions = (place: Partial<Target> = {}) =>
    target('apiextensions.k8s.io', 'customresourcedefinitions', place);
  const options = { ...how };
  const create = (at: Target, value: JsonObject) =>
    registry.write(at, { verb: 'create', object: { value, findings: [] } }, options);
  const read = (name: string) => registry.objects.read(id, '', name);
  return {
    target,
    define: (value: JsonObject) => create(definitions(), value),
    read,
    patch: (name: string, patch: JsonObject) =>
      registry.write(definitions({ name }), { verb: 'patch', format: 'merge', patch }, options),
    undefine: (name: string, deletion: JsonObject = {}) =>
      registry.write(definitions({ name }), remove(deletion), options),
    make: (plural: string, name: string, more: JsonObject = {}, version = 'v1') => {
      const kind = registry.find('ref.example.com', version, plural)?.definition.kind ?? '';
      const value = { apiVersion: `ref.example.com/${version}`, kind, metadata: { name, ...more } };
      return create(target('ref.example.com', plural, { namespace: 'ns' }, version), value);
    },
    serves: (plural: string, version = 'v1') => registry.find('ref.example.com', version, plural) !== undefined,
    conditions: async (name: string) => {
      const { conditions } = (await read(name))['status'] as { conditions?: { [field: string]: string }[] };
      return (conditions ?? []).map(({ type, status, reason, message }) => [type, status, reason, message]);
    },
  };
}

const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
const version = (name: string, more: JsonObject = {}) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema,
  ...more,
});
const definition = (singular: string, given: JsonObject = {}, spec: JsonObject = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${singular}s.ref.example.com` },
  spec: {
    group: 'ref.example.com',
    scope: 'Namespaced',
    names: {
      plural: `${singular}s`,
      singular,
      kind: `${singular[0]?.toUpperCase()}${singular.slice(1)}`,
      ...given,
    },
    versions: [version('v1')],
    ...spec,
  },
});
const accepted = ['NamesAccepted', 'True', 'NoConflicts', 'no conflicts found'];
const established = ['Established', 'True', 'InitialNamesAccepted', 'the initial names have been accepted'];

describe('a definition', () => {
  it('is served when its creation is answered, and has its status soon after', async () => {
    const { define, serves, conditions, read } = await serve();
    const { object } = await define(definition('alpha', { shortNames: ['alp'] }));
    expect(serves('alphas')).toBe(true);
    expect(JSON.parse(object?.bytes ?? '')).toMatchObject({ status: { conditions: null, storedVersions: ['v1'] } });
    await expect.poll(() => conditions('alphas.ref.example.com')).toEqual([accepted, established]);
    const { status, metadata } = await read('alphas.ref.example.com');
    expect(status).toMatchObject({
      acceptedNames: { plural: 'alphas', singular: 'alpha', kind: 'Alpha', listKind: 'AlphaList', shortNames: ['alp'] },
      storedVersions: ['v1'],
    });
    expect(metadata.managedFields).toMatchObject([{ operation: 'Update' }, { subresource: 'status' }]);
    expect(metadata.generation).toBe(1);
  });

  it('is served in its served versions, as they are now', async () => {
    const { define, patch, serves } = await serve();
    await define(definition('alpha', {}, { versions: [version('v1'), version('v2', { served: false })] }));
    expect([serves('alphas'), serves('alphas', 'v2')]).toEqual([true, false]);
    const versions = [version('v1', { served: false }), version('v2')];
    await patch('alphas.ref.example.com', { spec: { versions } });
    expect([serves('alphas'), serves('alphas', 'v2')]).toEqual([false, true]);
  });

  it('is not served in a built-in group', async () => {
    const { define, registry, reports } = await serve();
    const value = definition('alpha', {}, { group: 'storage.k8s.io' });
    const annotations = { 'api-approved.kubernetes.io': 'https://example.com' };
    await define({ ...value, metadata: { name: 'alphas.storage.k8s.io', annotations } });
    expect(registry.find('storage.k8s.io', 'v1', 'alphas')).toBeUndefined();
    expect(reports[0]).toBe('a custom resource definition cannot be served');
  });

  it('that another process stores with more than 100 versions is not served, and can be deleted', async () => {
    const { define, store, undefine, serves, read, reports } = await serve();
    const versions = Array.from({ length: 101 }, (_, i) => version(`v${i + 1}`));
    await define(definition('alpha', {}, { versions: versions.slice(0, 100) }));
    expect(serves('alphas', 'v100')).toBe(true);
    await define(definition('beta'));
    const key = '/apiextensions.k8s.io/customresourcedefinitions/betas.ref.example.com';
    const { entry } = await store.get(key);
    const stored = JSON.parse(Buffer.from(entry?.value ?? []).toString());
    Object.assign(stored, { metadata: { ...stored.metadata, generation: 2 }, spec: { ...stored.spec, versions } });
    await store.commit([], [{ key, value: Buffer.from(JSON.stringify(stored)) }]);
    await expect.poll(() => serves('betas')).toBe(false);
    expect(reports).toEqual(['a custom resource definition cannot be served']);
    await undefine('betas.ref.example.com');
    await expect.poll(() => failure(read('betas.ref.example.com'))).toMatchObject({ code: 404 });
  });

  it('keeps watches when only its status changes, and ends them when its schema does', async () => {
    const { define, conditions, make, patch, registry, target } = await serve();
    await define(definition('alpha'));
    const watch = async () =>
      (await registry.watch(target('ref.example.com', 'alphas'), optionsOf({})))[Symbol.asyncIterator]();
    const events = await watch();
    const first = events.next();
    await expect.poll(() => conditions('alphas.ref.example.com')).toHaveLength(2);
    await patch('alphas.ref.example.com', { metadata: { labels: { a: 'b' } } });
    await make('alphas', 'a');
    expect(await first).toMatchObject({ done: false, value: [{ type: 'ADDED' }] });
    const next = events.next();
    await patch('alphas.ref.example.com', { spec: { names: { categories: ['all'] } } });
    expect(await next).toMatchObject({ done: true });
  });

  it('of a protected group has the condition of its approval', async () => {
    const { define, conditions } = await serve();
    const made = definition('alpha', {}, { group: 'ref.k8s.io' });
    const annotations = { 'api-approved.kubernetes.io': 'unapproved, a test' };
    await define({ ...made, metadata: { name: 'alphas.ref.k8s.io', annotations } });
    await expect
      .poll(async () => (await conditions('alphas.ref.k8s.io')).at(-1))
      .toEqual([
        ...['KubernetesAPIApprovalPolicyConformant', 'False', 'UnapprovedAnnotation'],
        'not approved: "unapproved, a test"',
      ]);
  });
});

describe('names', () => {
  const conflicts: { readonly [title: string]: readonly [names: JsonObject, reason: string, message: string] } = {
    'a singular name': [{ singular: 'alphas' }, 'SingularConflict', '"alphas" is already in use'],
    'short names': [
      { shortNames: ['alpha', 'b', 'alp'] },
      'ShortNamesConflict',
      '["alpha" is already in use, "alp" is already in use]',
    ],
    'a kind': [{ kind: 'Alpha', listKind: 'BetaList' }, 'KindConflict', '"Alpha" is already in use'],
    'the kind of lists': [{ listKind: 'AlphaList' }, 'ListKindConflict', '"AlphaList" is already in use'],
  };
  for (const [title, [given, reason, message]] of Object.entries(conflicts)) {
    it(`are refused for ${title} of another definition, and accepted when it is gone`, async () => {
      const { define, undefine, serves, conditions } = await serve();
      await define(definition('alpha', { shortNames: ['alp'] }));
      await define(definition('beta', given));
      expect([serves('alphas'), serves('betas')]).toEqual([true, false]);
      await expect
        .poll(() => conditions('betas.ref.example.com'))
        .toEqual([
          ['NamesAccepted', 'False', reason, message],
          ['Established', 'False', 'NotAccepted', 'not all names are accepted'],
        ]);
      await undefine('alphas.ref.example.com');
      await expect.poll(() => [serves('alphas'), serves('betas')]).toEqual([false, true]);
      await expect.poll(() => conditions('betas.ref.example.com')).toEqual([accepted, established]);
    });
  }

  it('that are refused in an update leave the definition served under its former names', async () => {
    const { define, patch, registry, conditions } = await serve();
    await define(definition('alpha', { shortNames: ['alp'] }));
    await define(definition('beta', { shortNames: ['bet'] }));
    await expect.poll(() => conditions('betas.ref.example.com')).toEqual([accepted, established]);
    await patch('betas.ref.example.com', { spec: { names: { shortNames: ['alp'] } } });
    expect(registry.find('ref.example.com', 'v1', 'betas')?.definition.shortNames).toEqual(['bet']);
    await expect
      .poll(() => conditions('betas.ref.example.com'))
      .toEqual([['NamesAccepted', 'False', 'ShortNamesConflict', '"alp" is already in use'], established]);
    await patch('alphas.ref.example.com', { spec: { names: { shortNames: ['alf'] } } });
    await expect.poll(() => registry.find('ref.example.com', 'v1', 'betas')?.definition.shortNames).toEqual(['alp']);
  });
});

describe('the deletion of a definition', () => {
  it('deletes its objects, waits for their finalizers, and refuses to create others', async () => {
    const { define, undefine, make, serves, conditions, read, registry, target, clock } = await serve();
    await define(definition('alpha'));
    await expect.poll(() => conditions('alphas.ref.example.com')).toHaveLength(2);
    for (let i = 0; i < 40; i++) await make('alphas', `a${i}`);
    await make('alphas', 'held', { finalizers: ['example.com/hold'] });
    const { object } = await undefine('alphas.ref.example.com', { propagationPolicy: 'Orphan' });
    const answered = JSON.parse(object?.bytes ?? '') as ApiObject & { status: { conditions: JsonObject[] } };
    expect(answered.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
    // Neither its spec nor the policy of the request has a part in the deletion of a definition.
    expect(answered.metadata.generation).toBe(1);
    expect(answered.status.conditions.at(-1)).toMatchObject({
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
      lastTransitionTime: answered.metadata.deletionTimestamp,
    });
    expect(await failure(make('alphas', 'late'))).toMatchObject({ code: 403 });
    const at = target('ref.example.com', 'alphas', { namespace: 'ns' });
    const left = async () => [...(await registry.list(at, {})).items].map(({ name }) => name);
    await expect.poll(() => left()).toEqual(['held']);
    expect((await conditions('alphas.ref.example.com')).at(-1)).toEqual([
      ...['Terminating', 'True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress'],
    ]);
    clock.advance(60_000);
    await expect
      .poll(async () => (await conditions('alphas.ref.example.com')).at(-1)?.[2])
      .toBe('InstanceDeletionCheck');
    expect(serves('alphas')).toBe(true);
    const patch = { metadata: { finalizers: null } };
    await registry.write({ ...at, name: 'held' }, { verb: 'patch', format: 'merge', patch }, how);
    await until(async () => {
      clock.advance(5_000);
      expect(await failure(read('alphas.ref.example.com'))).toMatchObject({ code: 404 });
    });
    expect(serves('alphas')).toBe(false);
  });

  it('goes on after a restart, and is done once by two servers', async () => {
    const one = await serve();
    await one.define(definition('alpha'));
    await expect.poll(() => one.conditions('alphas.ref.example.com')).toHaveLength(2);
    await one.make('alphas', 'held', { finalizers: ['example.com/hold'] });
    await one.undefine('alphas.ref.example.com');
    await one.stop();
    const [two, three] = [await serve(one.store), await serve(one.store)];
    expect([two.serves('alphas'), three.serves('alphas')]).toEqual([true, true]);
    const at = two.target('ref.example.com', 'alphas', { namespace: 'ns', name: 'held' });
    const patch = { metadata: { finalizers: null } };
    await two.registry.write(at, { verb: 'patch', format: 'merge', patch }, how);
    await until(async () => {
      for (const { clock } of [two, three]) clock.advance(5_000);
      expect(await failure(two.read('alphas.ref.example.com'))).toMatchObject({ code: 404 });
      expect([two.serves('alphas'), three.serves('alphas')]).toEqual([false, false]);
    });
    expect([...two.reports, ...three.reports]).toEqual([]);
  });

  it('that was never established keeps the objects of the definition with its names', async () => {
    const { define, undefine, read, make, serves, registry } = await serve();
    await define(definition('alpha'));
    await make('alphas', 'a');
    await define(definition('beta', { singular: 'alphas' }));
    await undefine('betas.ref.example.com');
    await expect.poll(() => failure(read('betas.ref.example.com'))).toMatchObject({ code: 404 });
    expect(serves('alphas')).toBe(true);
    expect(await registry.objects.list('alphas.ref.example.com', '', true)).toHaveLength(1);
  });

  it('and a new one of the same name serve the new one', async () => {
    const { define, undefine, read, make, serves } = await serve();
    await define(definition('alpha'));
    await make('alphas', 'a');
    await undefine('alphas.ref.example.com');
    await expect.poll(() => failure(read('alphas.ref.example.com'))).toMatchObject({ code: 404 });
    await define(definition('alpha'));
    expect(serves('alphas')).toBe(true);
    expect(await make('alphas', 'a')).toMatchObject({ created: true });
  });
});

describe('servers over one store', () => {
  it('serve the definitions that others create, and write their status once', async () => {
    const one = await serve();
    const two = await serve(one.store);
    const { object } = await one.define(definition('alpha'));
    await expect.poll(() => two.serves('alphas')).toBe(true);
    await expect.poll(() => two.conditions('alphas.ref.example.com')).toHaveLength(2);
    const { metadata } = await one.read('alphas.ref.example.com');
    for (let i = 0; i < 10; i++) await turn();
    expect((await two.read('alphas.ref.example.com')).metadata.resourceVersion).toBe(metadata.resourceVersion);
    expect(metadata.resourceVersion).toBe(String((object?.revision ?? 0) + 1));
  });

  it('never both serve definitions that conflict', async () => {
    const one = await serve();
    const two = await serve(one.store);
    const three = await serve(one.store);
    await Promise.all([
      one.define(definition('alpha')),
      two.define(definition('beta', { kind: 'Alpha', listKind: 'BetaList' })),
    ]);
    const served = (server: typeof one) => [server.serves('alphas'), server.serves('betas')];
    await until(() => {
      expect(served(one).filter(Boolean)).toHaveLength(1);
      expect([served(two), served(three)]).toEqual([served(one), served(one)]);
    });
    const loser = served(one)[0] ? 'betas.ref.example.com' : 'alphas.ref.example.com';
    await expect.poll(async () => (await three.conditions(loser))[0]?.[2]).toBe('KindConflict');
    const four = await serve(one.store);
    expect(served(four)).toEqual(served(one));
  });

  it('serve a definition that is deleted and created over and over, and keep no object of it', async () => {
    const one = await serve();
    const two = await serve(one.store);
    const name = 'alphas.ref.example.com';
    const resources = one.registry.resources.length;
    for (let round = 0; round < 20; round++) {
      await one.define(definition('alpha'));
      await expect.poll(() => two.serves('alphas')).toBe(true);
      await Promise.all([one, two].flatMap((server, i) => [0, 1].map((j) => server.make('alphas', `a${i}${j}`))));
      await (round % 2 === 0 ? one : two).undefine(name);
      await expect.poll(() => failure(two.read(name))).toMatchObject({ code: 404 });
      expect((await one.store.list({ prefix: '/ref.example.com/alphas/' })).entries).toEqual([]);
      await expect.poll(() => [one.serves('alphas'), two.serves('alphas')]).toEqual([false, false]);
    }
    expect([one.registry.resources.length, one.reports, two.reports]).toEqual([resources, [], []]);
  });

  it('lose no object while the storage version changes', async () => {
    const one = await serve();
    const two = await serve(one.store);
    const stored = (name: string) => ['v1', 'v2'].map((each) => version(each, { storage: each === name }));
    await one.define(definition('alpha', {}, { versions: stored('v1') }));
    await expect.poll(() => two.serves('alphas', 'v2')).toBe(true);
    const name = 'alphas.ref.example.com';
    const writes = Array.from({ length: 60 }, async (_, i) => {
      for (let j = 0; j < i; j++) await turn();
      await (i % 2 === 0 ? one : two).make('alphas', `a${i}`, {}, i % 3 === 0 ? 'v2' : 'v1');
    });
    for (const next of ['v2', 'v1', 'v2']) {
      await one.patch(name, { spec: { versions: stored(next) } });
      for (let j = 0; j < 10; j++) await turn();
    }
    await Promise.all(writes);
    for (const server of [one, two, await serve(one.store)]) {
      for (const each of ['v1', 'v2']) {
        const { items } = await server.registry.list(
          server.target('ref.example.com', 'alphas', { namespace: 'ns' }, each),
          {},
        );
        expect([...items].length).toBe(60);
      }
    }
  });

  it('serve 10,000 versions of all definitions, and others once there is room', async () => {
    const { define, undefine, serves, reports, store } = await serve();
    const versions = Array.from({ length: 100 }, (_, i) => version(`v${i + 1}`));
    const letters = Array.from('ghijklmnop');
    const names = letters.flatMap((first) => letters.map((second) => first + second));
    await define(definition('gg', {}, { versions }));
    const keyOf = (name: string) => `/apiextensions.k8s.io/customresourcedefinitions/${name}s.ref.example.com`;
    const { entry } = await store.get(keyOf('gg'));
    const text = Buffer.from(entry?.value ?? []).toString();
    const others = names.slice(1).map((name) => {
      const value = text.replaceAll('gg', name).replaceAll('Gg', `${name[0]?.toUpperCase()}${name[1]}`);
      return { key: keyOf(name), value: Buffer.from(value) };
    });
    await store.commit([], others);
    await expect.poll(() => names.filter((name) => serves(`${name}s`, 'v100'))).toHaveLength(100);
    await define(definition('late'));
    expect([serves('lates'), reports]).toEqual([false, ['a custom resource definition cannot be served']]);
    await undefine('ggs.ref.example.com');
    await expect.poll(() => serves('lates')).toBe(true);
    expect(serves('ggs')).toBe(false);
  });

  it('serve all definitions once they have started', async () => {
    const one = await serve();
    for (const name of ['alpha', 'beta', 'gamma']) await one.define(definition(name));
    await one.stop();
    const two = await serve(one.store);
    expect(['alphas', 'betas', 'gammas'].map((plural) => two.serves(plural))).toEqual([true, true, true]);
  });
});
