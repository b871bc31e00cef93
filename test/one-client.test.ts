import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { type ApiObject, type ClientWatch, StatusError } from '../src/server/index.ts';
import { inTime, startWorld, turns, type World } from './support/in-process.ts';
import { seededRandom } from './support/seeded-random.ts';
import { Journal, withoutKind } from './support/watch-checker.ts';

// No client is shown a state that goes backwards within one connection: gets and lists of any version, watches and
// their bookmarks, however they are mixed, while the news of writes comes late and the cache loses the store.
const namespaces = ['w0', 'w1'];
const names = ['n0', 'n1', 'n2', 'n3'];
const everything = { matches: () => true };

const nameOf = ({ metadata }: ApiObject) => `${metadata.namespace}/${metadata.name}`;
const versionOf = ({ metadata }: { metadata: { resourceVersion?: string } }) => Number(metadata.resourceVersion);

/** One client and what it has been shown. */
class Shown {
  /** A state at least as new as this one has been shown. */
  floor = 0;
  failure: Error | undefined;
  readonly counts = { gets: 0, absent: 0, lists: 0, events: 0, streams: 0, stale: 0 };
  readonly #world: World;
  readonly #journal: Journal;

  constructor(world: World, journal: Journal) {
    this.#world = world;
    this.#journal = journal;
  }

  /** One object as it is at present: `object` is undefined when it is said not to be there. */
  one(name: string, object: ApiObject | undefined, atLeast: number): void {
    this.counts[object === undefined ? 'absent' : 'gets']++;
    // Its state between two versions: some of that time must lie after the state that was shown before.
    const changes = this.#journal.entries.filter(
      (entry) => nameOf((entry.after ?? entry.before) as ApiObject) === name,
    );
    const times = [{ from: 0, after: undefined as ApiObject | undefined }].concat(
      changes.map(({ revision, after }) => ({ from: revision, after })),
    );
    const fitting = times.findIndex(({ after }, i) => {
      const until = times[i + 1]?.from ?? Number.POSITIVE_INFINITY;
      return until > atLeast && isDeepStrictEqual(after, object);
    });
    const found = times[fitting];
    if (found === undefined) {
      throw new Error(`${name} at ${object && versionOf(object)} goes back behind ${atLeast}`);
    }
    this.floor = Math.max(this.floor, found.from);
  }

  list(version: number, items: readonly ApiObject[], atLeast: number): void {
    this.counts.lists++;
    if (version < atLeast) throw new Error(`a list at ${version} goes back behind ${atLeast}`);
    if (version < this.#journal.latest) this.counts.stale++;
    if (!isDeepStrictEqual(items, this.#journal.at(version, everything).map(withoutKind))) {
      throw new Error(`the list at ${version} is not the state then`);
    }
    this.floor = Math.max(this.floor, version);
  }

  /** Reads a watch that streams its initial events, opened when `atLeast` had been shown. */
  async follow(watch: ClientWatch<ApiObject>, atLeast: number): Promise<void> {
    let last: number | undefined;
    const initial: ApiObject[] = [];
    try {
      for await (const { type, object } of watch) {
        const version = versionOf(object);
        this.counts.events++;
        if (last !== undefined) {
          if (type === 'BOOKMARK' ? version < last : version <= last) {
            throw new Error(`${type} at ${version} goes back behind ${last}`);
          }
        } else if (type === 'ADDED') {
          initial.push(object);
          continue;
        } else {
          this.counts.streams++;
          if (version < atLeast) throw new Error(`a watch begins at ${version}, behind ${atLeast}`);
          expect(initial).toEqual(this.#journal.at(version, everything));
        }
        last = version;
        this.floor = Math.max(this.floor, version);
      }
    } catch (error) {
      if (!(error instanceof StatusError) || error.code !== 410) this.failure ??= error as Error;
    }
  }

  async read(how: 'latest' | 'any' | 'known', item: boolean, namespace: string, name: string): Promise<void> {
    const { client } = this.#world;
    // `known`: not older than what was shown.
    const version = { latest: undefined, any: '0', known: String(this.floor) }[how];
    const atLeast = how === 'latest' ? Math.max(this.floor, this.#journal.latest) : this.floor;
    const place = { apiVersion: 'v1', resource: 'configmaps' };
    const query = version === undefined ? {} : { resourceVersion: version };
    if (!item) {
      const { metadata, items } = await inTime(this.#world, client.list<ApiObject>(place, query));
      this.list(versionOf({ metadata }), items, atLeast);
      return;
    }
    const url = `/api/v1/namespaces/${namespace}/configmaps/${name}${version === undefined ? '' : `?resourceVersion=${version}`}`;
    const { status, body } = await inTime(this.#world, this.#world.send('GET', url));
    if (status !== 200) expect(status).toBe(404);
    this.one(`${namespace}/${name}`, status === 200 ? body : undefined, atLeast);
  }
}

/** Mixes reads of one client with the writes of others. */
async function mix(world: World, journal: Journal, seed: number): Promise<Shown['counts']> {
  const { integer } = seededRandom(seed);
  const pick = <T>(from: readonly T[]) => from[integer(from.length)] as T;
  const shown = new Shown(world, journal);
  let held = false;
  const watches: ClientWatch<ApiObject>[] = [];
  const write = async () => {
    const [namespace, name] = [pick(namespaces), pick(names)];
    const place = { apiVersion: 'v1', resource: 'configmaps', namespace };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { n: String(integer(1e9)) } };
    const item = { ...place, name };
    const work = [
      () => world.client.create(place, object),
      () => world.client.update(item, object),
      () => world.client.delete(item),
    ];
    await inTime<unknown>(world, pick(work)()).catch((error: StatusError) => {
      if (error.code !== 404 && error.code !== 409) throw error;
    });
    world.clock.advance(integer(2_000));
  };
  for (let i = 0; i < 1_500; i++) {
    const step = integer(20);
    if (step < 8) await write();
    else if (step < 15) {
      const how = held ? pick(['any', 'known'] as const) : pick(['any', 'known', 'latest'] as const);
      await shown.read(how, step < 12, pick(namespaces), pick(names));
    } else if (step === 15) {
      held = !held;
      if (held) world.store.hold();
      else world.store.release();
    } else if (step === 16 && integer(3) === 0) {
      held = false;
      world.store.cut();
      if (integer(2) === 0) {
        for (let j = 0; j < 3; j++) await write();
        await world.store.compact(await world.store.revision());
      }
    } else if (step === 17) {
      const atLeast = shown.floor;
      const watch = await inTime(
        world,
        world.client.watch<ApiObject>(
          { apiVersion: 'v1', resource: 'configmaps' },
          {
            sendInitialEvents: true,
            resourceVersionMatch: 'NotOlderThan',
            allowWatchBookmarks: true,
            resourceVersion: pick(['0', String(atLeast)]),
          },
        ),
      );
      void shown.follow(watch, atLeast);
      watches.push(watch);
      if (watches.length > 4) watches.shift()?.close();
    } else await turns(1);
    if (shown.failure !== undefined) throw shown.failure;
  }
  for (const watch of watches) watch.close();
  return shown.counts;
}

const first = Number(process.env['ONE_CLIENT_SEED'] ?? Date.now() % 1_000_000_000);

it(`never shows a client an older state than before (seed ${first})`, async () => {
  for (let seed = first; seed < first + 3; seed++) {
    const world = await startWorld({ featureGates: { WatchList: true } }, seed);
    for (const name of namespaces) await world.send('POST', '/api/v1/namespaces', { metadata: { name } });
    // A cache is there from its first use on, which must not wait for news that is held back.
    const place = { apiVersion: 'v1', resource: 'configmaps', namespace: 'w0' };
    await world.client.create(place, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'first' } });
    await world.client.delete({ ...place, name: 'first' });
    const journal = new Journal(world.store.under, await world.store.revision());
    try {
      const counts = await mix(world, journal, seed);
      expect(Math.min(...Object.values(counts)), JSON.stringify(counts)).toBeGreaterThan(10);
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    } finally {
      journal.close();
      await world.close();
    }
  }
});
