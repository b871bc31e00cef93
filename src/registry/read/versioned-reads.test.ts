import { describe, expect, it } from 'vitest';
import {
  type ApiObject,
  type JsonObject,
  parseLabelSelector,
  type StatusError,
  serverTurns,
} from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import { delivered } from '../../store/testing/late-store.ts';
import { bench, failure, how, note } from '../testing/fixtures.ts';
import { gadgetGroup, gadgets } from '../testing/gadgets.ts';
import { recordingWebhook, wheel, wheels } from '../testing/wheels.ts';

const of = (group: string, version: string, resource: string) => ({ group, version, resource });
const notes = of('', 'v1', 'configmaps');
const labelled = (name: string, labels: JsonObject) => ({ ...note(name), metadata: { name, labels } });
/** The selected objects, all of them read. */
async function selected(
  { registry }: Pick<ReturnType<typeof bench>, 'registry'>,
  as: typeof notes,
  namespace: string,
  selector: string,
) {
  const all = await registry.objects.selectAs(as, namespace, parseLabelSelector(selector), serverTurns());
  const objects: ApiObject[] = [];
  for (let index = 0; index < all.length; index++) objects.push(await all.read(index));
  return objects;
}
const later = async <T>(find: () => T | Promise<T>): Promise<T> => find();

function creator({ registry }: ReturnType<typeof bench>, { group, version, resource: plural }: typeof notes) {
  const resource = registry.find(group, version, plural);
  if (resource === undefined) throw new Error('not served');
  const target = { resource, version, namespace: 'ns', name: '', subresource: '' };
  return (value: JsonObject) => registry.write(target, { verb: 'create', object: { value, findings: [] } }, how);
}

describe('the objects of a resource in a served version', () => {
  it('are those of a built-in kind, converted', async () => {
    const made = bench();
    const { registry, create } = made;
    await create('widgets', { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, size: 3 });
    const { getAs } = registry.objects;
    const shown = { v1: { size: 3 }, v2: { spec: { size: 3 } } };
    for (const [version, fields] of Object.entries(shown)) {
      const as = of('example.com', version, 'widgets');
      const expected = { apiVersion: `example.com/${version}`, kind: 'Widget', metadata: { name: 'a' }, ...fields };
      expect(await getAs(as, 'ns', 'a')).toMatchObject(expected);
      expect(await selected(made, as, '', '')).toMatchObject([expected]);
    }
    expect(await getAs(of('example.com', 'v3', 'widgets'), 'ns', 'a')).toBeUndefined();
    expect(await selected(made, of('example.com', 'v3', 'widgets'), 'ns', '')).toEqual([]);
  });

  it('are custom objects, as soon as they have been written in another version', async () => {
    const made = bench();
    made.registry.install(gadgets({ color: 'red' }));
    const { getAs } = made.registry.objects;
    const beta = of(gadgetGroup, 'v1beta1', 'gadgets');
    expect(await getAs(beta, 'ns', 'a')).toBeUndefined();
    await creator(
      made,
      of(gadgetGroup, 'v1', 'gadgets'),
    )({
      apiVersion: `${gadgetGroup}/v1`,
      kind: 'Gadget',
      metadata: { name: 'a' },
    });
    await delivered();
    expect(getAs(beta, 'ns', 'a')).toMatchObject({ apiVersion: `${gadgetGroup}/v1beta1`, spec: { color: 'red' } });
  });

  it('are custom objects that a webhook converts, each once', async () => {
    const made = bench();
    const { webhook, calls } = recordingWebhook();
    made.registry.install(wheels(webhook));
    const [stored, other] = [of('turn.example.com', 'v1', 'wheels'), of('turn.example.com', 'v2', 'wheels')];
    const create = creator(made, stored);
    for (const name of ['a', 'b', 'c']) {
      await create(wheel('v1', name, { radius: 2 }, { labels: { [name === 'c' ? 'bad' : 'good']: 'yes' } }));
    }
    const { getAs } = made.registry.objects;
    for (let i = 0; i < 2; i++) {
      expect(await selected(made, other, 'ns', 'good=yes')).toMatchObject([
        { metadata: { name: 'a' }, spec: { diameter: 4 } },
        { metadata: { name: 'b' }, spec: { diameter: 4 } },
      ]);
      expect(await getAs(other, 'ns', 'a')).toMatchObject({ spec: { diameter: 4 } });
      expect(await getAs(stored, 'ns', 'a')).toMatchObject({ spec: { radius: 2 } });
    }
    expect(calls).toEqual([{ to: 'v2', names: ['a', 'b'] }]);
    const failing: Partial<StatusError> = { code: 500, message: expect.stringContaining('it does not turn') };
    expect(await failure(later(() => getAs(other, 'ns', 'c')))).toMatchObject(failing);
    expect(await failure(selected(made, other, 'ns', ''))).toMatchObject(failing);
  });
});

describe('a selection', () => {
  it('returns the state of the delivered writes', async () => {
    const made = bench();
    const { create, write } = made;
    const names = async () => (await selected(made, notes, 'ns', 'env=test')).map(({ metadata }) => metadata.name);
    expect(await names()).toEqual([]);
    await create('configmaps', labelled('b', { env: 'test' }));
    await create('configmaps', labelled('a', { env: 'test' }));
    await create('configmaps', labelled('c', { env: 'live' }));
    await delivered();
    expect(await names()).toEqual(['a', 'b']);
    await write('configmaps', { name: 'a' }, { verb: 'patch', format: 'merge', patch: { metadata: { labels: null } } });
    await delivered();
    expect(await names()).toEqual(['b']);
    expect(await selected(made, notes, 'elsewhere', 'env=test')).toEqual([]);
  });

  it('decodes each selected object once', async () => {
    const made = bench();
    for (let i = 0; i < 100; i++) await made.create('configmaps', labelled(`n${i}`, { env: i < 70 ? 'test' : 'live' }));
    await delivered();
    const select = () => selected(made, notes, 'ns', 'env=test');
    const [first, second] = [await select(), await select()];
    expect(first).toHaveLength(70);
    expect(second.every((object, i) => object === first[i])).toBe(true);
  });

  it('decodes a large object in steps', async () => {
    const made = bench();
    const data = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, `${i}`.repeat(3)]));
    await made.create('configmaps', { ...labelled('large', { env: 'test' }), data });
    await delivered();
    const turns = new EveryStep();
    const all = await made.registry.objects.selectAs(notes, 'ns', parseLabelSelector('env=test'), turns);
    const before = turns.count;
    expect(await all.read(0)).toMatchObject({ data });
    expect(turns.count - before).toBeGreaterThan(10);
    expect(await made.registry.objects.getAs(notes, 'ns', 'large')).toMatchObject({ data });
  });

  it('compares the labels of each object in a step of its own, once for each change', async () => {
    const made = bench();
    for (let i = 0; i < 100; i++) await made.create('configmaps', labelled(`n${i}`, { env: 'test' }));
    await delivered();
    const turns = new EveryStep();
    const select = () => made.registry.objects.selectAs(notes, 'ns', parseLabelSelector('env=test'), turns);
    expect(await select()).toMatchObject({ length: 100 });
    const first = turns.count;
    expect(first).toBeGreaterThanOrEqual(100);
    expect(await select()).toMatchObject({ length: 100 });
    expect(turns.count - first).toBeLessThan(5);
  });

  it('fails when an object cannot be read, whose labels are unknown', async () => {
    const made = bench();
    const { registry, store, target } = made;
    const key = `${target('configmaps').resource.keyPrefix}ns/broken`;
    await store.commit([{ key, revision: 0 }], [{ key, value: Buffer.from('garbage') }]);
    const { getAs } = registry.objects;
    const unreadable = { code: 500, message: expect.stringContaining('cannot be read') };
    expect(await failure(selected(made, notes, 'ns', 'env=test'))).toMatchObject(unreadable);
    expect(await failure(later(() => getAs(notes, 'ns', 'broken')))).toMatchObject(unreadable);
    expect(await selected(made, notes, 'other', 'env=test')).toEqual([]);
  });
});
