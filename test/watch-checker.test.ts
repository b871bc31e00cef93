import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { type ApiObject, StatusError } from '../src/server/index.ts';
import { inTime, settle, startWorld, turns, type World } from './support/in-process.ts';
import { seededRandom } from './support/seeded-random.ts';
import { type Counts, Journal, type Selection, Watcher, withoutKind } from './support/watch-checker.ts';

// 50 watchers join, leave and come back at random during 10,000 writes, while history is compacted, the cache is cut
// off from the store and its window moves on: no watcher is ever told a wrong event, one twice, or none.
const writes = 10_000;
const watchers = 50;
const namespaces = ['w0', 'w1', 'w2', 'w3', 'w4'];
const names = 12;
const tiers = ['a', 'b', 'c'];

const labelsOf = ({ metadata }: ApiObject) => metadata.labels ?? {};
const tier = (object: ApiObject) => labelsOf(object)['tier'];
const kinds: readonly Omit<Selection, 'namespace'>[] = [
  { matches: () => true },
  { labelSelector: 'tier=a', matches: (object) => tier(object) === 'a' },
  { labelSelector: 'tier!=a', matches: (object) => tier(object) !== 'a' },
  { labelSelector: 'tier in (a,b)', matches: (object) => ['a', 'b'].includes(tier(object) ?? '') },
  {
    labelSelector: 'tier notin (a,b),odd',
    matches: (o) => !['a', 'b'].includes(tier(o) ?? '') && 'odd' in labelsOf(o),
  },
  { labelSelector: '!tier', matches: (object) => tier(object) === undefined },
  { fieldSelector: 'metadata.name=n3', matches: ({ metadata }) => metadata.name === 'n3' },
  { fieldSelector: 'metadata.name!=n3', matches: ({ metadata }) => metadata.name !== 'n3' },
  { fieldSelector: 'metadata.namespace=w2', matches: ({ metadata }) => metadata.namespace === 'w2' },
];

class Run {
  readonly counts: Counts & { pieces: number; inconsistent: number; cuts: number; compactions: number; edges: number };
  readonly #world: World;
  readonly #journal: Journal;
  readonly #watchers: readonly Watcher[];
  readonly #integer: (below: number) => number;
  #texts = 0;
  #held = false;
  /** At most so much time passes with each write (ms): five minutes of history are many writes or few. */
  #pace = 100;

  constructor(world: World, journal: Journal, seed: number) {
    this.#world = world;
    this.#journal = journal;
    this.#integer = seededRandom(seed).integer;
    const joined = { list: 0, cached: 0, stream: 0, plain: 0, resumed: 0, ofBookmark: 0 };
    this.counts = {
      joined,
      events: 0,
      bookmarks: 0,
      expired: 0,
      ended: 0,
      pieces: 0,
      inconsistent: 0,
      cuts: 0,
      compactions: 0,
      edges: 0,
    };
    this.#watchers = Array.from({ length: watchers }, (_, i) => {
      return new Watcher(world.client, journal, this.counts, this.#selection(i));
    });
  }

  async carryOut(): Promise<void> {
    while (this.#journal.entries.length < writes) {
      await this.#write();
      if (this.#chance(4)) await turns(1);
      if (this.#chance(6)) await this.#act(this.#pick(this.#watchers));
      if (this.#chance(250)) await this.#compact();
      if (this.#chance(500)) await this.#listInPieces();
      if (this.#chance(700)) await this.#cut();
      if (this.#chance(300)) await this.#hold();
      if (this.#chance(800)) await this.#comeFromTheEdge();
      if (this.#chance(1_000)) this.#pace = this.#pick([20, 100, 500, 2_000, 5_000]);
      this.#check();
    }
    await this.#finish();
  }

  #chance(of: number): boolean {
    return this.#integer(of) === 0;
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#integer(from.length)] as T;
  }

  #selection(i: number): Selection {
    const kind = kinds[i % kinds.length] as Selection;
    const namespace = this.#pick(namespaces);
    // One item by its path; one namespace; or all of them.
    if (i % 10 === 9) {
      const name = `n${this.#integer(names)}`;
      return { namespace, name, matches: ({ metadata }) => metadata.namespace === namespace && metadata.name === name };
    }
    if (i % 2 === 0) return kind;
    return { ...kind, namespace, matches: (object) => object.metadata.namespace === namespace && kind.matches(object) };
  }

  /** One write, or several at the same time. Those that another one makes impossible are refused, and that is all. */
  async #write(): Promise<void> {
    const refused = (error: unknown) => {
      if (!(error instanceof StatusError) || (error.code !== 404 && error.code !== 409)) throw error;
    };
    const together = this.#chance(10) ? 1 + this.#integer(6) : 1;
    const work = Array.from({ length: together }, () => this.#change().catch(refused));
    await Promise.all(work);
    this.#world.clock.advance(this.#integer(this.#pace));
  }

  async #change(): Promise<unknown> {
    const { client } = this.#world;
    const name = `n${this.#integer(names)}`;
    const place = { apiVersion: 'v1', resource: 'configmaps', namespace: this.#pick(namespaces) };
    const item = { ...place, name };
    const labels = {
      ...(this.#chance(3) ? {} : { tier: this.#pick(tiers) }),
      ...(this.#chance(2) ? { odd: '' } : {}),
    };
    const data = { n: String(++this.#texts), text: 'x'.repeat(this.#integer(1_000)) };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data } as ApiObject;
    switch (this.#integer(8)) {
      case 0:
      case 1:
        return client.create(place, object);
      case 2:
      case 3:
        return client.update(item, object);
      case 4:
        return client.patch(item, 'merge', { metadata: { labels: { tier: this.#pick([...tiers, null]) } } });
      case 5:
      case 6:
        return client.patch(item, 'merge', { data: { n: data.n } });
      default:
        return client.delete(item);
    }
  }

  /** A watcher that is away comes back; another one leaves, stops reading for a while, or goes on reading. */
  async #act(watcher: Watcher): Promise<void> {
    if (watcher.done !== undefined) {
      const choice = this.#integer(6);
      if (choice < 2) {
        await this.#leave(watcher);
      } else if (choice < 4) watcher.stopReading();
      else watcher.resumeReading();
      return;
    }
    // Some stay away for long.
    if (this.#watchers.indexOf(watcher) % 3 > 0 || this.#chance(8)) await this.#join(watcher);
  }

  /** It is gone for good before it comes back. */
  async #leave(watcher: Watcher): Promise<void> {
    watcher.leave();
    while (watcher.done !== undefined) await turns(1);
  }

  async #join(watcher: Watcher): Promise<void> {
    // While the news is held back, no one can be shown the latest state.
    const how = this.#held ? 'cached' : this.#pick(['list', 'cached', 'stream', 'plain'] as const);
    // Some read no more than the first event for a while.
    if (this.#chance(4)) watcher.stopReading();
    await inTime(this.#world, watcher.join(how, this.#options()));
  }

  #options() {
    const timeout = this.#chance(3) ? { timeoutSeconds: this.#pick([1, 2, 60, 600]) } : {};
    return { bookmarks: this.#chance(2), ...timeout };
  }

  /** A watcher comes back with the oldest version of all that are still good. */
  async #comeFromTheEdge(): Promise<void> {
    const { client } = this.#world;
    const place = { apiVersion: 'v1', resource: 'configmaps' };
    const isExpired = async (version: number) => {
      const watch = await client.watch(place, { resourceVersion: String(version) });
      let expired = false;
      const reading = (async () => {
        for await (const _ of watch) break;
      })();
      reading.catch(() => {
        expired = true;
      });
      // The read of another watcher's history may come first.
      await settle();
      watch.close();
      return expired;
    };
    let low = 1;
    let high = this.#journal.latest;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (await isExpired(middle)) low = middle + 1;
      else high = middle;
    }
    const watcher = this.#pick(this.#watchers);
    await this.#leave(watcher);
    watcher.remember(Math.max(low, this.#journal.first));
    const { expired } = this.counts;
    if (this.#chance(2)) watcher.stopReading();
    await watcher.join('list', this.#options());
    await turns(2);
    expect(this.counts.expired).toBe(expired);
    this.counts.edges++;
  }

  async #compact(): Promise<void> {
    const { store } = this.#world;
    const latest = await store.revision();
    await store.compact(Math.max(1, latest - this.#integer(300)));
    this.counts.compactions++;
  }

  /** The cache loses the store for a while; now and then what happens meanwhile is compacted away. */
  async #cut(): Promise<void> {
    this.#held = false;
    this.#world.store.cut();
    this.counts.cuts++;
    if (!this.#chance(4)) return;
    const { latest } = this.#journal;
    while (this.#journal.latest < latest + 3) await this.#change().catch(() => {});
    await this.#world.store.compact(await this.#world.store.revision());
  }

  /** The cache hears of nothing for a while. Who asks for the latest state then is shown it when the news is there. */
  async #hold(): Promise<void> {
    const { store } = this.#world;
    this.#held = !this.#held;
    if (this.#held) {
      store.hold();
      return;
    }
    const watcher = this.#pick(this.#watchers);
    await this.#leave(watcher);
    watcher.remember(undefined);
    const joined = watcher.join(this.#pick(['list', 'stream', 'plain'] as const), this.#options());
    await Promise.race([joined, turns(2)]);
    store.release();
    await inTime(this.#world, joined);
  }

  /** All pieces of a list show one state, whatever is written between them. */
  async #listInPieces(): Promise<void> {
    if (this.#held) await this.#hold();
    const { client } = this.#world;
    const place = { apiVersion: 'v1', resource: 'configmaps' };
    const kind = this.#pick(kinds);
    const { labelSelector, fieldSelector } = kind;
    const query = {
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
      limit: 1 + this.#integer(12),
    };
    let page = await inTime(this.#world, client.list<ApiObject>(place, query));
    const { resourceVersion } = page.metadata;
    const found = [...page.items];
    while (page.metadata.continue !== undefined) {
      for (let i = this.#integer(40); i > 0; i--) await this.#write();
      if (this.#chance(12)) this.#world.clock.advance(400_000);
      try {
        page = await inTime(this.#world, client.list<ApiObject>(place, { ...query, continue: page.metadata.continue }));
      } catch (error) {
        if (!(error instanceof StatusError) || error.code !== 410) throw error;
        const rest = String(error.metadata['continue']);
        await inTime(this.#world, client.list(place, { ...query, continue: rest }));
        this.counts.inconsistent++;
        return;
      }
      expect(page.metadata.resourceVersion).toBe(resourceVersion);
      found.push(...page.items);
    }
    const expected = this.#journal.at(Number(resourceVersion), kind).map(withoutKind);
    if (!isDeepStrictEqual(found, expected)) throw new Error(`the pieces at ${resourceVersion} are not the state then`);
    this.counts.pieces++;
  }

  #check(): void {
    for (const { failure } of this.#watchers) if (failure !== undefined) throw failure;
  }

  /** Everybody comes back and is told the rest; then each holds what is listed. */
  async #finish(): Promise<void> {
    this.#world.store.release();
    this.#held = false;
    for (let i = 0; this.#watchers.some(({ done, missing }) => done === undefined || missing !== undefined); i++) {
      for (const watcher of this.#watchers) {
        if (watcher.done === undefined) await this.#join(watcher);
        watcher.resumeReading();
      }
      await settle();
      this.#check();
      if (i < 300) continue;
      const { selection, missing } = this.#watchers.find((watcher) => watcher.missing !== undefined) as Watcher;
      throw new Error(
        `never told: ${missing?.type} of ${JSON.stringify(missing?.object?.metadata)} to ${JSON.stringify(selection)}`,
      );
    }
    for (const watcher of this.#watchers) await watcher.compareWithList();
    for (const watcher of this.#watchers) watcher.leave();
  }
}

const seed = Number(process.env['WATCH_CHECKER_SEED'] ?? Date.now() % 1_000_000_000);

it(`delivers every event to every watch once and in order, through delays and failures (seed ${seed})`, async () => {
  const world = await startWorld({ featureGates: { WatchList: true } }, seed);
  for (const name of namespaces) await world.send('POST', '/api/v1/namespaces', { metadata: { name } });
  const journal = new Journal(world.store.under, await world.store.revision());
  const run = new Run(world, journal, seed);
  try {
    await run.carryOut();
  } catch (error) {
    throw new Error(`seed ${seed}, after ${journal.entries.length} writes: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    journal.close();
    await world.close();
  }
  // Everything that may happen did.
  const { joined, ...counts } = run.counts;
  const told = `seed ${seed}: ${JSON.stringify(run.counts)}`;
  expect(Math.min(...Object.values(joined)), told).toBeGreaterThan(20);
  expect(counts.expired, told).toBeGreaterThan(50);
  expect(counts.events, told).toBeGreaterThan(writes);
  expect(Math.min(...Object.values(counts)), told).toBeGreaterThan(0);
});
