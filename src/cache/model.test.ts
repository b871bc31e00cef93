import { describe, expect, it } from 'vitest';
import type { StatusError } from '../meta/index.ts';
import type { Write } from '../store/index.ts';
import { prefix, put, type Setup, settle, setup } from './testing/objects.ts';
import type { CachedObject, SubscribeOptions, Subscription, WatchEvent } from './types.ts';

interface Content {
  readonly labels: { readonly [key: string]: string };
  readonly node: string;
  readonly padding: number;
}

/** What happened to one key in one commit. */
interface Step {
  readonly revision: number;
  readonly path: string;
  readonly before: Content | undefined;
  readonly after: Content | undefined;
}

/** The part of a subscription that says what it wants, and the same as a plain test. */
interface Wish {
  readonly options: Partial<SubscribeOptions>;
  wants(path: string, content: Content): boolean;
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

function randomWish(random: Random): Wish {
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
    wants: (path, content) =>
      (namespace === undefined || path.startsWith(`${namespace}/`)) &&
      (name === undefined || path.endsWith(`/${name}`)) &&
      (node === undefined || content.node === node) &&
      (label === undefined || content.labels['in'] === label),
  };
}

function render(content: Content, revision: number): string {
  return JSON.stringify({ rv: String(revision), ...content, padding: 'x'.repeat(content.padding) });
}

/** The history as anyone would write it down. */
class Model {
  readonly steps: Step[] = [];
  readonly state = new Map<string, Content>();

  /** The events for a wish with revisions from `after` (excluded) to `until` (included). */
  events(wish: Wish, after: number, until: number): string[] {
    return this.steps.flatMap(({ revision, path, before, after: now }) => {
      if (revision <= after || revision > until) return [];
      const was = before !== undefined && wish.wants(path, before);
      const is = now !== undefined && wish.wants(path, now);
      if (!was && !is) return [];
      const type = is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED';
      return [`${type} ${path} ${revision} ${render((is ? now : before) as Content, revision)}`];
    });
  }
}

/** A client that lists, watches, is away at times, comes back where it was, and lists again when it is told to. */
class Client {
  readonly wish: Wish;
  readonly #setup: Setup;
  readonly #model: Model;
  readonly #random: Random;
  #start = 0;
  #held = new Map<string, string>();
  #heard: string[] = [];
  #subscription: Subscription | undefined;
  #position = 0;
  #reading = false;
  over = false;
  /** What it has lived through, to see that the test reaches everything. */
  readonly lived = { events: 0, bookmarks: 0, resumed: 0, expired: 0, slow: 0 };

  constructor(all: Setup, model: Model, random: Random) {
    this.#setup = all;
    this.#model = model;
    this.#random = random;
    this.wish = randomWish(random);
    this.#list();
  }

  leave(): void {
    if (this.#subscription === undefined || this.#reading) return;
    this.#position = this.#subscription.revision;
    this.#subscription.close();
    this.#subscription = undefined;
    this.check();
  }

  join(): void {
    if (this.#subscription !== undefined) return;
    this.lived.resumed++;
    try {
      this.#subscription = this.#setup.cache.subscribe({
        after: this.#position,
        bufferBytes: this.#random(3) === 0 ? 1_000 : 1 << 20,
        ...(this.#random(2) === 0 ? { bookmarkMs: 700 } : {}),
        ...this.wish.options,
      });
    } catch (error) {
      this.#failed(error as StatusError);
    }
  }

  /** Takes the next events in the background, unless it is doing so. */
  async read(): Promise<void> {
    const subscription = this.#subscription;
    if (subscription === undefined || this.#reading) return;
    this.#reading = true;
    try {
      const result = await subscription.next();
      expect(result.done ?? false).toBe(this.over);
      if (result.done === true) return;
      expect(result.value.length).toBeGreaterThan(0);
      for (const event of result.value) this.#hear(event);
    } catch (error) {
      if ((error as StatusError).code !== 410) throw error;
      this.#position = subscription.revision;
      this.#subscription = undefined;
      this.check();
      this.#failed(error as StatusError);
    } finally {
      this.#reading = false;
    }
  }

  /** That what it heard is what the model says up to where it is, and adds up to the present state. */
  check(): void {
    const until = this.#subscription?.revision ?? this.#position;
    expect(this.#heard).toEqual(this.#model.events(this.wish, this.#start, until));
  }

  /** That what it holds is what there is. */
  checkComplete(): void {
    expect(this.#subscription?.revision).toBe(this.#setup.cache.revision);
    this.check();
    expect(this.#held).toEqual(this.#select());
  }

  #hear(event: WatchEvent): void {
    const { type, revision, object, frame } = event;
    if (object === undefined) {
      this.lived.bookmarks++;
      expect(this.#heard).toEqual(this.#model.events(this.wish, this.#start, revision));
      return;
    }
    this.lived.events++;
    const path = object.key.slice(prefix.length);
    const text = Buffer.from(object.bytes, 'latin1').toString();
    expect(Buffer.from(frame, 'latin1').toString()).toBe(`{"type":"${type}","object":${text}}\n`);
    this.#heard.push(`${type} ${path} ${revision} ${text}`);
    expect(this.#held.has(path)).toBe(type !== 'ADDED');
    if (type === 'DELETED') this.#held.delete(path);
    else this.#held.set(path, text);
  }

  #failed(error: StatusError): void {
    expect(error.code).toBe(410);
    if (error.message.startsWith('too old')) {
      this.lived.expired++;
      this.#list();
    } else {
      this.lived.slow++;
    }
  }

  #list(): void {
    this.#start = this.#setup.cache.snapshot().revision;
    this.#position = this.#start;
    this.#heard = [];
    this.#held = this.#select();
  }

  #select(): Map<string, string> {
    const held = new Map<string, string>();
    for (const { key, bytes } of this.#setup.cache.snapshot().range(prefix)) {
      const path = key.slice(prefix.length);
      const text = Buffer.from(bytes, 'latin1').toString();
      const {
        rv: _,
        padding,
        ...rest
      } = JSON.parse(text) as Omit<Content, 'padding'> & { rv: string; padding: string };
      if (this.wish.wants(path, { ...rest, padding: padding.length })) held.set(path, text);
    }
    return held;
  }
}

/** A commit of one to three keys, written down in the model as well. */
function write({ store }: Setup, model: Model, random: Random): void {
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
  const revision = store.write([...writes.values()]);
  for (const step of steps) {
    model.steps.push({ revision, ...step });
    if (step.after === undefined) model.state.delete(step.path);
    else model.state.set(step.path, step.after);
  }
}

/** A failure of the store's watch, at times after commits that the store then gives up. */
async function disturb(all: Setup, model: Model, random: Random): Promise<void> {
  all.store.fail('unavailable');
  for (let left = random(4); left > 0; left--) write(all, model, random);
  if (random(3) === 0) await all.store.compact(all.store.latest);
  if (random(2) === 0) all.store.watchFailures.push('unavailable');
}

async function live(seed: number): Promise<Client['lived'][]> {
  const random = randomFrom(seed);
  const all = setup({ windowBytes: 6_000, windowMs: 5_000 });
  const model = new Model();
  for (let i = 0; i < 5; i++) write(all, model, random);
  await all.cache.ready();
  await settle();
  const clients: Client[] = [];
  const readings = new Set<Promise<void>>();
  let failure: unknown;
  const read = (client: Client) => {
    const reading = client.read().catch((error: unknown) => {
      failure ??= error;
    });
    readings.add(reading);
    void reading.then(() => readings.delete(reading));
  };
  for (let step = 0; step < 250; step++) {
    if (clients.length < 50) clients.push(new Client(all, model, random));
    for (let i = random(4); i > 0; i--) write(all, model, random);
    if (random(15) === 0) await disturb(all, model, random);
    for (const client of clients) {
      const what = random(20);
      if (what === 0) client.leave();
      else if (what < 8) client.join();
      else if (what < 14) read(client);
    }
    if (random(3) === 0) all.clock.advance(random(400));
    if (random(2) === 0) await settle(1);
    if (step % 25 !== 0) continue;
    await settle(1);
    if (failure !== undefined) throw failure;
    for (const client of clients) client.check();
  }
  // Everyone comes to rest: the store is followed again, all join and read what there is.
  for (let round = 0; round < 8; round++) {
    all.clock.advance(5_000);
    await settle();
    for (const client of clients) {
      client.join();
      read(client);
    }
    await settle();
  }
  expect(all.cache.revision).toBeGreaterThanOrEqual(model.steps.at(-1)?.revision ?? 0);
  for (const client of clients) client.checkComplete();
  for (const client of clients) client.over = true;
  all.cache.close();
  await Promise.all(readings);
  if (failure !== undefined) throw failure;
  return clients.map(({ lived }) => lived);
}

describe('the cache against a naive model', () => {
  it('gives fifty clients ordered, unique, gap-free streams through every disturbance', async () => {
    const total = { events: 0, bookmarks: 0, resumed: 0, expired: 0, slow: 0 };
    for (let seed = 1; seed <= 3; seed++) {
      for (const lived of await live(seed)) {
        for (const key of Object.keys(total) as (keyof typeof total)[]) total[key] += lived[key];
      }
    }
    for (const count of Object.values(total)) expect(count).toBeGreaterThan(20);
  });
});
