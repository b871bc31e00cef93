import { describe, expect, it } from 'vitest';
import type { StatusError } from '../meta/index.ts';
import type { Write } from '../store/index.ts';
import type { FakeStore } from './testing/fake-store.ts';
import type { ManualClock } from './testing/manual-clock.ts';
import { prefix, put, settle, setup } from './testing/objects.ts';
import type { CachedObject, SubscribeOptions, Subscription, WatchCache, WatchEvent } from './types.ts';

interface Content {
  readonly labels: { readonly [key: string]: string };
  readonly node: string;
  readonly padding: number;
}

/** A change of one key in one commit. */
interface Step {
  readonly revision: number;
  readonly path: string;
  readonly before: Content | undefined;
  readonly after: Content | undefined;
}

/** A selection as options of a subscription, and the same as a predicate. */
interface Selection {
  readonly options: Partial<SubscribeOptions>;
  selects(path: string, content: Content): boolean;
}

/** A store and the cache over it, which a restart replaces. */
interface World {
  readonly store: FakeStore;
  readonly clock: ManualClock;
  cache: WatchCache;
}

type Random = (below: number) => number;

function randomFrom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const namespaces = ['a', 'b', 'c'];
const names = ['x', 'y', 'z', 'é', '😀', '\uFFFD'];
const nodes = ['', 'n1', 'n2'];
const pick = <T>(random: Random, values: readonly T[]): T => values[random(values.length)] as T;

function randomSelection(random: Random): Selection {
  const namespace = random(2) === 0 ? pick(random, namespaces) : undefined;
  const name = random(3) === 0 ? pick(random, names) : undefined;
  const node = random(3) === 0 ? pick(random, nodes) : undefined;
  const label = random(3) === 0 ? pick(random, ['yes', 'no']) : undefined;
  return {
    options: {
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
      ...(node === undefined ? {} : { field: { path: 'spec.nodeName', value: node } }),
      ...(label === undefined ? {} : { matches: (object: CachedObject) => object.labels['in'] === label }),
    },
    selects: (path, content) =>
      (namespace === undefined || path.startsWith(`${namespace}/`)) &&
      (name === undefined || path.endsWith(`/${name}`)) &&
      (node === undefined || content.node === node) &&
      (label === undefined || content.labels['in'] === label),
  };
}

function render(content: Content, revision: number): string {
  return JSON.stringify({ rv: String(revision), ...content, padding: 'x'.repeat(content.padding) });
}

/** The history as a plain list of changes. */
class Model {
  readonly steps: Step[] = [];
  readonly state = new Map<string, Content>();

  /** The selected objects at a revision, by path. */
  select(selection: Selection, revision: number): Map<string, string> {
    const held = new Map<string, string>();
    for (const step of this.steps) {
      if (step.revision > revision) break;
      if (step.after !== undefined && selection.selects(step.path, step.after)) {
        held.set(step.path, render(step.after, step.revision));
      } else held.delete(step.path);
    }
    return held;
  }

  /** The events of a selection with revisions from `after` (exclusive) to `until` (inclusive). */
  events(selection: Selection, after: number, until: number): string[] {
    return this.steps.flatMap(({ revision, path, before, after: now }) => {
      if (revision <= after || revision > until) return [];
      const was = before !== undefined && selection.selects(path, before);
      const is = now !== undefined && selection.selects(path, now);
      if (!was && !is) return [];
      const type = is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED';
      return [`${type} ${path} ${revision} ${render((is ? now : before) as Content, revision)}`];
    });
  }
}

/**
 * A client that lists and watches, disconnects at times, resumes at its last or an earlier revision, and lists again
 * after 410.
 */
class Client {
  readonly selection: Selection;
  readonly #world: World;
  readonly #model: Model;
  readonly #random: Random;
  #start = 0;
  #held = new Map<string, string>();
  #received: string[] = [];
  #cache: WatchCache | undefined;
  #subscription: Subscription | undefined;
  #position = 0;
  #reading = false;
  over = false;
  /** Counts of what happened, to check that the test covers everything. */
  readonly counts = { events: 0, bookmarks: 0, resumed: 0, old: 0, expired: 0, slow: 0, restarted: 0 };

  constructor(world: World, model: Model, random: Random) {
    this.#world = world;
    this.#model = model;
    this.#random = random;
    this.selection = randomSelection(random);
    this.#begin(world.cache.snapshot().revision);
  }

  leave(): void {
    if (this.#subscription === undefined || this.#reading) return;
    const subscription = this.#subscription;
    this.#detach(subscription);
    subscription.close();
    this.check();
  }

  join(): void {
    if (this.#subscription !== undefined) return;
    const { cache, store } = this.#world;
    if (this.#random(8) === 0) this.#begin(Math.max(2, store.compacted - 3) + this.#random(store.latest));
    this.counts.resumed++;
    if (this.#position < cache.oldest) this.counts.old++;
    this.#cache = cache;
    this.#subscription = cache.subscribe({
      after: this.#position,
      bufferBytes: this.#random(3) === 0 ? 1_000 : 1 << 20,
      ...(this.#random(2) === 0 ? { bookmarkMs: 700 } : {}),
      ...this.selection.options,
    });
  }

  /** Reads the next events in the background, unless a read is pending. */
  async read(): Promise<void> {
    const subscription = this.#subscription;
    if (subscription === undefined || this.#reading) return;
    this.#reading = true;
    try {
      const result = await subscription.next();
      if (result.done === true) {
        if (this.#cache !== this.#world.cache) this.counts.restarted++;
        else if (!this.over) this.counts.slow++;
        this.#detach(subscription);
        this.check();
        return;
      }
      expect(result.value.length).toBeGreaterThan(0);
      for (const event of result.value) this.#receive(event);
    } catch (error) {
      const { code, message } = error as StatusError;
      if (code !== 410) throw error;
      expect(message).toContain('too old');
      this.#detach(subscription);
      this.check();
      // 410 is only for a revision that the store has compacted.
      expect(this.#position).toBeLessThan(this.#world.store.compacted);
      this.counts.expired++;
      this.#begin(this.#world.cache.snapshot().revision);
    } finally {
      this.#reading = false;
    }
  }

  /** Checks that it received the events of the model up to its revision. */
  check(): void {
    const until = this.#subscription?.revision ?? this.#position;
    expect(this.#received).toEqual(this.#model.events(this.selection, this.#start, until));
  }

  /** Checks that it has reached the cache and holds the selected objects. */
  checkComplete(): void {
    const { revision } = this.#world.cache;
    expect(this.#subscription?.revision).toBe(revision);
    this.check();
    expect(this.#held).toEqual(this.#model.select(this.selection, revision));
  }

  #receive(event: WatchEvent): void {
    const { type, revision, object, frame } = event;
    if (object === undefined) {
      this.counts.bookmarks++;
      expect(this.#received).toEqual(this.#model.events(this.selection, this.#start, revision));
      return;
    }
    this.counts.events++;
    const path = object.key.slice(prefix.length);
    const text = Buffer.from(object.bytes, 'latin1').toString();
    expect(Buffer.from(frame, 'latin1').toString()).toBe(`{"type":"${type}","object":${text}}\n`);
    this.#received.push(`${type} ${path} ${revision} ${text}`);
    expect(this.#held.has(path)).toBe(type !== 'ADDED');
    if (type === 'DELETED') this.#held.delete(path);
    else this.#held.set(path, text);
  }

  /** Lists at a revision, from which it watches. */
  #begin(revision: number): void {
    this.#start = Math.min(revision, this.#world.store.latest);
    this.#position = this.#start;
    this.#received = [];
    this.#held = this.#model.select(this.selection, this.#start);
  }

  #detach(subscription: Subscription): void {
    this.#position = subscription.revision;
    this.#subscription = undefined;
  }
}

/** A commit of one to three keys, in the store and in the model. */
function write({ store }: World, model: Model, random: Random): void {
  const writes = new Map<string, Write>();
  const steps: Omit<Step, 'revision'>[] = [];
  for (let left = 1 + random(3); left > 0; left--) {
    const path = `${pick(random, namespaces)}/${pick(random, names)}`;
    if (writes.has(path)) continue;
    const content: Content = {
      labels: { in: pick(random, ['yes', 'no']) },
      node: pick(random, nodes),
      padding: random(20) === 0 ? 900 : random(30),
    };
    const after = random(3) === 0 ? undefined : content;
    const before = model.state.get(path);
    writes.set(path, put(path, after));
    if (before !== undefined || after !== undefined) steps.push({ path, before, after });
  }
  // Commits of other resources are told by progress alone.
  if (random(4) === 0) store.write([{ key: '/other/x', value: Buffer.from('{}') }]);
  const revision = store.write([...writes.values()]);
  if (random(4) === 0) store.write([{ key: '/other/x', value: Buffer.from('{}') }]);
  for (const step of steps) {
    model.steps.push({ revision, ...step });
    if (step.after === undefined) model.state.delete(step.path);
    else model.state.set(step.path, step.after);
  }
}

/**
 * Reads the latest state as a list does: the revision of the store, then the cache once it has reached that. Returns
 * whether it had to wait.
 */
async function readLatest(world: World, model: Model): Promise<boolean> {
  const { store, cache } = world;
  const wanted = await store.revision();
  const behind = cache.revision < wanted;
  if (!(await cache.reach(wanted, 600_000))) {
    // The server has been restarted; or the test is over, before which every read has to be answered.
    expect(world.cache).not.toBe(cache);
    return false;
  }
  const snapshot = cache.snapshot();
  expect(snapshot.revision).toBeGreaterThanOrEqual(wanted);
  const held = [...snapshot.range(prefix)].map(({ key, bytes }): [string, string] => [
    key.slice(prefix.length),
    Buffer.from(bytes, 'latin1').toString(),
  ]);
  expect(new Map(held)).toEqual(model.select({ options: {}, selects: () => true }, snapshot.revision));
  return behind;
}

const limits = { windowBytes: 6_000, windowMs: 5_000 };

/** A failure of the store's watch, a compaction, or a restart of the server, with commits in between. */
async function disturb(world: World, model: Model, random: Random): Promise<void> {
  const { store, clock } = world;
  const writes = () => {
    for (let left = random(4); left > 0; left--) write(world, model, random);
  };
  switch (random(4)) {
    case 0:
      store.fail('unavailable');
      writes();
      if (random(2) === 0) store.watchFailures.push('unavailable');
      break;
    case 1:
      store.fail('unavailable');
      writes();
      await store.compact(store.latest);
      break;
    case 2:
      await store.compact(store.compacted + random(store.latest - store.compacted + 1));
      break;
    default:
      world.cache.close();
      writes();
      world.cache = setup({ ...limits, store, clock }).cache;
      await world.cache.ready();
      writes();
  }
}

/** The counts of each client, and how many reads had to wait for the watch of the store. */
async function live(seed: number, late: boolean): Promise<{ clients: Client['counts'][]; waited: number }> {
  const random = randomFrom(seed);
  const world: World = setup(limits);
  world.store.late = late;
  const model = new Model();
  for (let i = 0; i < 5; i++) write(world, model, random);
  await world.cache.ready();
  await settle();
  const clients: Client[] = [];
  const readings = new Set<Promise<void>>();
  let failure: unknown;
  let waited = 0;
  const inBackground = (work: Promise<void>) => {
    const reading = work.catch((error: unknown) => {
      failure ??= error;
    });
    readings.add(reading);
    void reading.then(() => readings.delete(reading));
  };
  const countWaited = (behind: boolean) => {
    if (behind) waited++;
  };
  for (let step = 0; step < 250; step++) {
    if (clients.length < 50) clients.push(new Client(world, model, random));
    for (let i = random(4); i > 0; i--) write(world, model, random);
    if (random(15) === 0) await disturb(world, model, random);
    for (const client of clients) {
      const what = random(20);
      if (what === 0) client.leave();
      else if (what < 8) client.join();
      else if (what < 14) inBackground(client.read());
    }
    if (random(10) === 0) inBackground(readLatest(world, model).then(countWaited));
    if (late && random(2) === 0) world.store.advance(random(6));
    if (late && random(5) === 0) world.store.notify();
    if (random(3) === 0) world.clock.advance(random(400));
    if (random(2) === 0) await settle(1);
    if (step % 25 !== 0) continue;
    await settle(1);
    if (failure !== undefined) throw failure;
    for (const client of clients) client.check();
  }
  // At the end the store is watched again, and all clients read to the latest revision.
  for (let round = 0; round < 8; round++) {
    world.clock.advance(5_000);
    await settle();
    world.store.advance();
    for (const client of clients) {
      client.join();
      inBackground(client.read());
    }
    await settle();
  }
  // Reads of the latest revision are answered without a change of the resource, and without any help by bookmarks.
  for (let i = 0; i < 3; i++) {
    world.store.write([{ key: '/other/x', value: Buffer.from('{}') }]);
    inBackground(readLatest(world, model).then(countWaited));
    await settle(1);
  }
  for (let i = 0; i < 2; i++) {
    world.store.advance();
    await settle();
  }
  expect(world.cache.revision).toBe(world.store.latest);
  for (const client of clients) client.checkComplete();
  for (const client of clients) client.over = true;
  world.cache.close();
  await Promise.all(readings);
  if (failure !== undefined) throw failure;
  return { clients: clients.map(({ counts }) => counts), waited };
}

describe('the cache against a model', () => {
  it.each([
    ['within the commit', false],
    ['late, and after compactions', true],
  ])(
    'gives fifty clients ordered streams without gaps or duplicates through failures, compactions and restarts, with a store whose watches deliver %s',
    async (_, late) => {
      const total = { events: 0, bookmarks: 0, resumed: 0, old: 0, expired: 0, slow: 0, restarted: 0 };
      let allWaited = 0;
      for (let seed = 1; seed <= 3; seed++) {
        const { clients, waited } = await live(seed, late);
        allWaited += waited;
        for (const counts of clients) {
          for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += counts[key];
        }
      }
      for (const count of Object.values(total)) expect(count).toBeGreaterThan(10);
      if (late) expect(allWaited).toBeGreaterThan(20);
    },
  );
});
