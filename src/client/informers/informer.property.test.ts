import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ApiObject, namesFor, StatusError, VirtualClock } from '../../meta/index.ts';
import type { Client } from '../client.ts';
import type { TypedKind } from '../kinds/kind.ts';
import type { ListOptions } from '../kinds/place-client.ts';
import type { ClientWatchEvent } from '../transport/watch.ts';
import { versionOf } from './informer.ts';
import { Informers } from './informers.ts';

const configMaps: TypedKind<ApiObject> = { apiVersion: 'v1', kind: 'ConfigMap' };

/** Objects in each page of a list, and events of the loop in which all that is due happens. */
const pageSize = 2;
const turns = 6;
/** Longer than any delay before a list or watch is tried again (ms). */
const retriedMs = 31_000;

/** The writes, and what of them a client has been told. */
class Server {
  readonly objects = new Map<string, ApiObject>();
  readonly log: ClientWatchEvent<ApiObject>[] = [];
  readonly deleted = new Set<string>();
  revision = 1;
  /** Answers of lists that the client waits for. */
  readonly lists: (() => void)[] = [];
  /** The position in the log of the watch that is open, and what it is to do next. */
  position = 0;
  #next: ((event: ClientWatchEvent<ApiObject> | Error | undefined) => void) | undefined;
  readonly #snapshots = new Map<string, ApiObject[]>();

  write(name: string): ApiObject {
    const old = this.objects.get(name);
    const version = ++this.revision;
    const uid = old?.metadata.uid ?? `${name}-${version}`;
    const metadata = { namespace: 'n', name, uid, resourceVersion: String(version) };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    this.objects.set(name, object);
    this.log.push({ type: old === undefined ? 'ADDED' : 'MODIFIED', object });
    return structuredClone(object);
  }

  delete(name: string): void {
    const old = this.objects.get(name);
    if (old === undefined) return;
    this.objects.delete(name);
    this.deleted.add(old.metadata.uid ?? '');
    const metadata = { ...old.metadata, resourceVersion: String(++this.revision) };
    this.log.push({ type: 'DELETED', object: { ...old, metadata } });
  }

  /** The watch delivers its next change, or a bookmark when there is none. */
  deliver(): void {
    const bookmark = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion: String(this.revision) } };
    if (this.#next === undefined) return;
    const change = this.log[this.position];
    if (change !== undefined) this.position += 1;
    this.#tell(structuredClone(change ?? { type: 'BOOKMARK', object: bookmark as ApiObject }));
  }

  /** The watch ends, and can be resumed; or it fails because it lags too far behind. */
  end(isExpired: boolean): void {
    this.#tell(isExpired ? new StatusError(410, 'Expired', 'too old') : undefined);
  }

  #tell(what: ClientWatchEvent<ApiObject> | Error | undefined): void {
    const next = this.#next;
    this.#next = undefined;
    next?.(what);
  }

  /** Lists have the state at their first request, whenever they are answered. */
  client(signal: AbortSignal): Client {
    const list = (_: unknown, { continue: token }: ListOptions) => {
      const id = token?.split('/')[0] ?? String(this.revision);
      const from = Number(token?.split('/')[1] ?? 0);
      if (token === undefined) this.#snapshots.set(id, structuredClone([...this.objects.values()]));
      const all = this.#snapshots.get(id) ?? [];
      const rest = all.length > from + pageSize ? { continue: `${id}/${from + pageSize}` } : {};
      const page = { items: all.slice(from, from + pageSize), metadata: { resourceVersion: id, ...rest } };
      return new Promise((resolve) => this.lists.push(() => resolve(page)));
    };
    const events = async function* (this: Server) {
      for (;;) {
        const event = await new Promise<ClientWatchEvent<ApiObject> | Error | undefined>((resolve) => {
          if (signal.aborted) resolve(undefined);
          this.#next = resolve;
        });
        if (event === undefined) return;
        if (event instanceof Error) throw event;
        yield event;
      }
    };
    const watch = async (_: unknown, { resourceVersion }: { readonly resourceVersion: string }) => {
      const first = this.log.findIndex(({ object }) => versionOf(object) > Number(resourceVersion));
      this.position = first < 0 ? this.log.length : first;
      return events.call(this);
    };
    const resolve = async () => ({ ...configMaps, resource: 'configmaps', namespaced: true });
    return { names: namesFor('k8s.io'), resolve, observe: () => () => {}, list, watch } as unknown as Client;
  }
}

/** An informer, and what must hold of it after every step. */
class World {
  readonly server = new Server();
  readonly #clock = new VirtualClock();
  readonly #stop = new AbortController();
  readonly #informers: Informers;
  readonly #informer;
  /** Responses of own writes that are under way. */
  readonly #answers: (() => void)[] = [];
  /** Own writes whose responses are there, and the uids of own deletions. */
  readonly #written: ApiObject[] = [];
  readonly #removed = new Set<string>();
  /** The objects last reported to handlers, by uid; undefined after the deletion. */
  readonly #reported = new Map<string, ApiObject | undefined>();

  constructor() {
    const silent = { info: () => {}, warn: () => {}, error: () => {} };
    const { signal } = this.#stop;
    const client = this.server.client(signal);
    this.#informers = new Informers({ client, clock: this.#clock, log: silent });
    this.#informer = this.#informers.of(configMaps);
    this.#informer.onChange((object, old) => this.#hear(object, old));
  }

  /** Each uid is added once, then changes to later versions, and is deleted once. */
  #hear(object: ApiObject | undefined, old: ApiObject | undefined): void {
    const uid = (object ?? old)?.metadata.uid ?? '';
    expect(this.#reported.get(uid)).toBe(old);
    if (old === undefined) expect(this.#reported.has(uid)).toBe(false);
    if (object !== undefined && old !== undefined) expect(versionOf(object)).toBeGreaterThan(versionOf(old));
    this.#reported.set(uid, object);
  }

  ownWrite(name: string): void {
    const written = this.server.write(name);
    this.#answers.push(() => {
      this.#informer.observe(structuredClone(written) as never);
      this.#written.push(written);
    });
  }

  /** Deletes an object that the informer holds. */
  ownDelete(name: string): void {
    const { uid = '' } = this.#informer.get('n', name)?.metadata ?? {};
    if (uid === '' || this.server.objects.get(name)?.metadata.uid !== uid) return;
    this.server.delete(name);
    this.#answers.push(() => {
      this.#informer.forget('n', name, uid);
      this.#removed.add(uid);
    });
  }

  /** One of the responses under way arrives. */
  answer(which: number): void {
    this.#answers.splice(which % Math.max(this.#answers.length, 1), 1)[0]?.();
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < turns; turn++) await nextTurn();
    this.#clock.set(this.#clock.now() + retriedMs);
    for (let turn = 0; turn < turns; turn++) await nextTurn();
    this.#expectOwnWrites();
  }

  /** An own write is there, or a later state of its object. */
  #expectOwnWrites(): void {
    for (const { metadata } of this.#written) {
      if (this.server.deleted.has(metadata.uid ?? '')) continue;
      const current = this.#informer.get('n', metadata.name ?? '');
      expect(current?.metadata.uid).toBe(metadata.uid);
      expect(Number(current?.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(metadata.resourceVersion));
    }
    for (const { metadata } of this.#informer.list()) expect(this.#removed).not.toContain(metadata.uid);
  }

  /** All responses arrive, and all that is listed and watched. Then the informer holds what the server does. */
  async end(): Promise<void> {
    while (this.#answers.length > 0) this.answer(0);
    await this.settle();
    while (this.server.lists.length > 0 || this.server.position < this.server.log.length) {
      this.server.lists.shift()?.();
      this.server.deliver();
      await this.settle();
    }
    const state = (objects: Iterable<ApiObject>) =>
      [...objects].map(({ metadata: { uid, resourceVersion } }) => `${uid} ${resourceVersion}`).sort();
    expect(state(this.#informer.list())).toEqual(state(this.server.objects.values()));
    const live = [...this.#reported.values()].filter((object) => object !== undefined);
    expect(state(live)).toEqual(state(this.#informer.list()));
    this.#stop.abort();
    this.server.end(false);
    await this.#informers.stop();
  }
}

const name = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ does: fc.constant('ownWrite' as const), name }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('ownDelete' as const), name }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('write' as const), name }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('delete' as const), name }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('answer' as const), which: fc.nat(5) }) },
  { weight: 6, arbitrary: fc.record({ does: fc.constant('deliver' as const) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('list' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('end' as const), isExpired: fc.boolean() }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function take(world: World, what: Step): void {
  const { server } = world;
  if (what.does === 'ownWrite') world.ownWrite(what.name);
  else if (what.does === 'ownDelete') world.ownDelete(what.name);
  else if (what.does === 'write') server.write(what.name);
  else if (what.does === 'delete') server.delete(what.name);
  else if (what.does === 'answer') world.answer(what.which);
  else if (what.does === 'deliver') server.deliver();
  else if (what.does === 'list') server.lists.shift()?.();
  else server.end(what.isExpired);
}

const c = { name: 'c' } as const;
/** Interleavings that once failed. */
const found: [Step[]][] = [
  [
    [
      { does: 'ownWrite', ...c },
      { does: 'answer', which: 0 },
      { does: 'ownDelete', ...c },
    ],
  ],
  [
    [
      { does: 'write', ...c },
      { does: 'list' },
      { does: 'deliver' },
      { does: 'ownWrite', ...c },
      { does: 'ownDelete', ...c },
      { does: 'answer', which: 0 },
      { does: 'ownWrite', ...c },
      { does: 'answer', which: 3 },
      { does: 'ownDelete', ...c },
    ],
  ],
];

it('shows every own write at once, reports each change once, and converges to the state of the server', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      const world = new World();
      for (const one of steps) {
        take(world, one);
        await world.settle();
      }
      await world.end();
    }),
    { numRuns: 100, examples: found },
  );
});
