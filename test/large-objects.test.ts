import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ApiObject, type JsonObject, scheduler } from '../src/meta/index.ts';
import { startWorld, type World } from './support/in-process.ts';
import { type Growing, growingNamespace, growingObjects } from './support/large-objects.ts';
import { WorkCounter } from './support/work.ts';

// Whoever may write an object decides how many entries each of its lists and maps has. What the server does with them
// grows as they do, and no faster: counted, not timed.
const few = 100;

/** Those of which all is looked at; of the others, what the rules of their kinds have a part in. */
const everyWay = new Set([
  'ConfigMap data',
  'ConfigMap metadata.annotations',
  'ConfigMap metadata.ownerReferences',
  'Endpoints subsets[].addresses',
  'Service spec.ports',
  'Deployment spec.template env',
  'Node status.addresses',
  'ClusterRole rules',
]);

describe('the write of a large object yields to the event loop', () => {
  let world: World;

  beforeAll(async () => {
    world = await startWorld();
    await world.send('POST', '/api/v1/namespaces', { metadata: { name: growingNamespace } });
  });

  afterAll(() => world.close());

  it.each([
    ['Endpoints subsets[].addresses', 20_000],
    ['Service spec.ports', 10_000],
    ['ConfigMap data', 16_000],
    ['ConfigMap metadata.labels', 16_000],
  ])('%s', async (name, count) => {
    const { url, make } = growingObjects.find((growing) => growing.name === name) as Growing;
    const object = make(count);
    // Every step waits for its turn, however fast it is.
    vi.spyOn(scheduler, 'over', 'get').mockReturnValue(true);
    const waits = vi.spyOn(scheduler, 'wait');
    const during = async (method: string, path: string, body?: JsonObject, type = 'application/json') => {
      waits.mockClear();
      const { status } = await sendTo(world, method, path, body, type);
      expect(status, `${method} ${path}`).toBeLessThan(300);
      return waits.mock.calls.length;
    };
    const at = `${url}/growing`;
    expect(await during('POST', url, object)).toBeGreaterThan(10);
    expect(await during('PUT', at, object)).toBeGreaterThan(10);
    const labelled = { metadata: { labels: { a: 'b' } } };
    expect(await during('PATCH', at, labelled, 'application/merge-patch+json')).toBeGreaterThan(5);
    expect(await during('PATCH', at, labelled, 'application/strategic-merge-patch+json')).toBeGreaterThan(5);
    const applied = `${at}?fieldManager=other&force=true`;
    const { apiVersion, kind } = object;
    const own = { apiVersion, kind, metadata: { name: 'growing', labels: { c: 'd' } } } as JsonObject;
    expect(await during('PATCH', applied, own, 'application/apply-patch+yaml')).toBeGreaterThan(10);
    expect(await during('GET', at, undefined, 'application/yaml')).toBeGreaterThan(5);
    expect(await during('GET', url, undefined, 'application/yaml')).toBeGreaterThan(5);
    expect(await during('DELETE', at)).toBeGreaterThan(3);
  });
});

/** To sort four times as many entries takes five times as many comparisons, to compare all pairs sixteen times. */
const mostGrowth = 6;

describe('the work of a write is linear in the entries of the object', () => {
  let world: World;
  let counter: WorkCounter;

  beforeAll(async () => {
    world = await startWorld();
    await world.send('POST', '/api/v1/namespaces', { metadata: { name: growingNamespace } });
    await world.send('POST', `/api/v1/namespaces/${growingNamespace}/serviceaccounts`, {
      metadata: { name: 'default' },
    });
    counter = new WorkCounter();
  });

  afterAll(async () => {
    counter.stop();
    await world.close();
  });

  /** The work of each way of writing and reading it. */
  async function workOf({ name, url, make, inStatus }: Growing, count: number): Promise<{ [step: string]: number }> {
    const object = make(count);
    const at = `${url}/${(object['metadata'] as { name: string }).name}`;
    const written = inStatus ? `${at}/status` : at;
    const took: { [step: string]: number } = {};
    const step = async (name: string, method: string, path: string, body?: JsonObject, type?: string) => {
      const answer = await sendTo(world, method, path, body, type);
      took[name] = counter.take();
      return answer;
    };
    const cleared = async () => {
      await step('delete', 'DELETE', at);
      await sendTo(world, 'PATCH', at, { metadata: { finalizers: null } }, 'application/merge-patch+json');
      return took;
    };
    if (inStatus) await sendTo(world, 'POST', url, make(0));
    counter.take();
    const made = inStatus ? await step('create', 'PUT', written, object) : await step('create', 'POST', url, object);
    expect(made.status, made.text.slice(0, 500)).toBeLessThan(300);
    // Some of these are refused: that must not take longer either.
    const stored = JSON.parse(made.text) as ApiObject;
    const changed = (value: string) => {
      const { resourceVersion: _, managedFields: __, ...metadata } = stored.metadata;
      return { ...stored, metadata: { ...metadata, labels: { ...metadata.labels, step: value } } } as JsonObject;
    };
    await step('replace', 'PUT', written, changed('1'));
    if (!everyWay.has(name)) return cleared();
    await step('patch', 'PATCH', written, changed('2'), 'application/strategic-merge-patch+json');
    await step(
      'apply',
      'PATCH',
      `${written}?fieldManager=all&force=true`,
      changed('3'),
      'application/apply-patch+yaml',
    );
    await step('apply half', 'PATCH', `${written}?fieldManager=half`, make(count >> 1), 'application/apply-patch+yaml');
    await step('apply less', 'PATCH', `${written}?fieldManager=half`, make(count >> 2), 'application/apply-patch+yaml');
    await step('read as a table', 'GET', url, undefined, 'application/json;as=Table;g=meta.k8s.io;v=v1');
    await step('read in protobuf', 'GET', at, undefined, 'application/vnd.kubernetes.protobuf');
    await step('read in YAML', 'GET', at, undefined, 'application/yaml');
    return cleared();
  }

  it.each(growingObjects.map((growing) => [growing.name, growing] as const))('%s', async (_, growing) => {
    // Values that are computed once are computed here.
    await workOf(growing, 2);
    const found = await growthOf(growing, few);
    if (found.every(({ ratio }) => ratio < mostGrowth)) return;
    // A large object is read and written in steps of our own, which count, instead of natively: a step whose work grows
    // too fast where it passes from one to the other must be linear among larger ones.
    const larger = await growthOf(growing, 4 * few);
    for (const [i, { ratio, shown }] of larger.entries()) {
      expect(Math.min(ratio, found[i]?.ratio ?? ratio), `${found[i]?.shown}; ${shown}`).toBeLessThan(mostGrowth);
    }
  });

  /** How much more each step takes with four times as many entries. */
  async function growthOf(growing: Growing, count: number): Promise<{ ratio: number; shown: string }[]> {
    const [less, more] = [await workOf(growing, count), await workOf(growing, 4 * count)];
    return Object.entries(more).map(([step, work]) => ({
      ratio: work / (less[step] ?? 1),
      shown: `${step}: ${less[step]} for ${count} entries, ${work} for ${4 * count}`,
    }));
  }
});

/** `type` is that of the body, or else that of the answer. */
async function sendTo(world: World, method: string, url: string, body?: JsonObject, type = 'application/json') {
  const answer = await world.client.request({
    method,
    url,
    headers: body === undefined ? { accept: type } : { 'content-type': type },
    ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
  });
  const pieces: Uint8Array[] = [];
  for await (const piece of answer.body) pieces.push(piece);
  return { status: answer.status, text: Buffer.concat(pieces).toString() };
}
