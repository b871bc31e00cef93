import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type ApiObject, namesFor, StatusError, VirtualClock } from '../../meta/index.ts';
import type { Client } from '../client.ts';
import type { KindPlace, TypedKind } from '../kinds/kind.ts';
import type { ListOptions } from '../kinds/place-client.ts';
import type { ClientWatchEvent } from '../transport/watch.ts';
import { Informers } from './informers.ts';

const configMaps: TypedKind<ApiObject> = { apiVersion: 'v1', kind: 'ConfigMap' };
const place: KindPlace = { apiVersion: 'v1', kind: 'ConfigMap', resource: 'configmaps', namespaced: true };

const object = (name: string, version: number, uid = `uid-${name}`): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'n', name, uid, resourceVersion: String(version), managedFields: [] },
});
const expired = () => new StatusError(410, 'Expired', 'too old');

/** An informer whose lists and watch events the test gives, one after the other. */
class World {
  readonly clock = new VirtualClock();
  readonly logged: string[] = [];
  /** The requests: continue tokens of lists, resourceVersions of watches. */
  readonly requests: string[] = [];
  readonly messages: string[] = [];
  readonly #lists: ((page: { items: ApiObject[]; metadata: object } | Error) => void)[] = [];
  #event: (event: ClientWatchEvent<ApiObject> | Error | undefined) => void = () => {};
  readonly #stop = new AbortController();
  readonly informers: Informers;
  readonly informer;

  constructor() {
    const client = {
      names: namesFor('k8s.io'),
      resolve: async () => place,
      observe: () => () => {},
      list: (_: unknown, options: ListOptions) => {
        this.requests.push(`list ${options.continue ?? ''}`);
        return new Promise((resolve, reject) => {
          this.#lists.push((page) => (page instanceof Error ? reject(page) : resolve(page)));
        });
      },
      watch: async (_: unknown, { resourceVersion }: { resourceVersion: string }) => {
        this.requests.push(`watch ${resourceVersion}`);
        return this.#events();
      },
    };
    this.informers = new Informers({
      client: client as unknown as Client,
      clock: this.clock,
      log: { info: () => {}, warn: () => {}, error: (text) => void this.logged.push(text) },
    });
    this.informer = this.informers.of(configMaps);
    this.informer.onChange((now, old) => {
      const { name, uid } = (now ?? old)?.metadata ?? {};
      const what = old === undefined ? 'added' : now === undefined ? 'deleted' : 'changed';
      this.messages.push(`${what} ${name} ${uid} ${now?.metadata.resourceVersion ?? ''}`.trim());
    });
  }

  async *#events(): AsyncGenerator<ClientWatchEvent<ApiObject>> {
    for (;;) {
      const event = await new Promise<ClientWatchEvent<ApiObject> | Error | undefined>((resolve) => {
        this.#event = resolve;
        this.#stop.signal.addEventListener('abort', () => resolve(undefined));
      });
      if (event === undefined) return;
      if (event instanceof Error) throw event;
      yield event;
    }
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await nextTurn();
  }

  async list(page: { items: ApiObject[]; metadata: object } | Error): Promise<void> {
    await this.settle();
    this.#lists.shift()?.(page);
    await this.settle();
  }

  listed = (revision: number, ...items: ApiObject[]) =>
    this.list({ items, metadata: { resourceVersion: String(revision) } });

  async event(event: ClientWatchEvent<ApiObject>['type'] | Error, eventObject = object('', 0)): Promise<void> {
    this.#event(event instanceof Error ? event : { type: event, object: eventObject });
    await this.settle();
  }

  async pass(ms: number): Promise<void> {
    this.clock.set(this.clock.now() + ms);
    await this.settle();
  }

  get held(): string[] {
    return this.informer
      .list()
      .map(({ metadata: { name, uid, resourceVersion } }) => `${name} ${uid} ${resourceVersion}`);
  }

  /** Takes the response of an own write. */
  wrote = (written: ApiObject) => this.informer.observe(written as never);

  async close(): Promise<void> {
    this.#stop.abort();
    await this.informers.stop();
  }
}

let world: World;
afterEach(() => world.close());
const open = () => {
  world = new World();
  return world;
};

describe('an informer', () => {
  it('lists page by page and watches from the version of the list', async () => {
    const { informer } = open();
    await world.list({ items: [object('a', 3)], metadata: { resourceVersion: '9', continue: 'next' } });
    expect(world.held).toEqual([]);
    await world.listed(9, object('b', 4));
    await informer.synced;
    expect([world.held, world.requests]).toEqual([
      ['a uid-a 3', 'b uid-b 4'],
      ['list ', 'list next', 'watch 9'],
    ]);
    await world.event('MODIFIED', object('a', 10));
    await world.event('BOOKMARK', object('', 20));
    await world.event(expired());
    expect(world.messages).toEqual(['added a uid-a 3', 'added b uid-b 4', 'changed a uid-a 10']);
    expect(informer.get('n', 'a')?.metadata).not.toHaveProperty('managedFields');
  });

  it('lists again after 410 and reports what was deleted and replaced in between', async () => {
    open();
    await world.listed(9, object('a', 3), object('b', 4), object('c', 5));
    world.messages.length = 0;
    await world.event(expired());
    await world.pass(1_000);
    await world.listed(30, object('a', 3), object('b', 22, 'new'));
    expect(world.messages).toEqual(['deleted b uid-b', 'deleted c uid-c', 'added b new 22']);
    expect([world.held, world.requests.at(-1), world.logged]).toEqual([['a uid-a 3', 'b new 22'], 'watch 30', []]);
  });

  it('is empty and synced while the kind is not served', async () => {
    const { informer } = open();
    await world.list(new StatusError(404, 'NotFound', 'no'));
    await informer.synced;
    await world.pass(30_000);
    await world.listed(9, object('a', 3));
    await world.event(new StatusError(404, 'NotFound', 'no'));
    expect([world.held, world.messages, world.logged]).toEqual([[], ['added a uid-a 3', 'deleted a uid-a'], []]);
  });

  it('accepts the state of a store restored from an earlier one', async () => {
    open();
    await world.listed(90, object('a', 80), object('b', 81));
    await world.event(expired());
    await world.pass(1_000);
    await world.listed(50, object('a', 40));
    expect(world.held).toEqual(['a uid-a 40']);
  });
});

describe('an own write', () => {
  it('is visible before the watch delivers it and is reported once', async () => {
    open();
    await world.listed(9);
    world.wrote(object('a', 10));
    expect(world.messages).toEqual(['added a uid-a 10']);
    await world.event('ADDED', object('a', 10));
    await world.event('MODIFIED', object('a', 12));
    expect(world.messages).toEqual(['added a uid-a 10', 'changed a uid-a 12']);
  });

  it('survives an earlier state from the watch', async () => {
    open();
    await world.listed(9, object('a', 5));
    world.wrote(object('a', 12));
    await world.event('MODIFIED', object('a', 11));
    expect(world.held).toEqual(['a uid-a 12']);
  });

  it('is ignored after the watch has delivered a later state or the deletion', async () => {
    open();
    await world.listed(9, object('a', 5), object('b', 6));
    await world.event('MODIFIED', object('a', 12));
    await world.event('DELETED', object('b', 13));
    world.wrote(object('a', 11));
    world.wrote(object('b', 10));
    expect(world.held).toEqual(['a uid-a 12']);
  });

  it('survives an older list that replaces the content', async () => {
    open();
    await world.settle();
    world.wrote(object('a', 10));
    world.wrote(object('b', 11, 'new'));
    await world.listed(9, object('b', 5), object('c', 6));
    expect(world.held.sort()).toEqual(['a uid-a 10', 'b new 11', 'c uid-c 6']);
    expect(world.messages).toEqual(['added a uid-a 10', 'added b new 11', 'added c uid-c 6']);
    await world.event('DELETED', object('b', 10));
    expect(world.held.sort()).toEqual(['a uid-a 10', 'b new 11', 'c uid-c 6']);
  });

  it('replaces an object of the same name', async () => {
    open();
    await world.listed(9, object('a', 5));
    world.wrote(object('a', 11, 'new'));
    await world.event('DELETED', object('a', 10));
    expect(world.messages.slice(1)).toEqual(['deleted a uid-a', 'added a new 11']);
  });
});

describe('an own deletion', () => {
  it('persists when the watch, a list or an own write deliver earlier states later', async () => {
    const { informer } = open();
    await world.listed(9, object('a', 5));
    informer.forget('n', 'a', 'uid-a');
    await world.event('MODIFIED', object('a', 10));
    world.wrote(object('a', 11));
    expect(world.held).toEqual([]);
    await world.event(expired());
    await world.pass(1_000);
    await world.listed(12, object('a', 11));
    expect(world.held).toEqual([]);
    await world.event('DELETED', object('a', 13));
    await world.event('ADDED', object('a', 14, 'new'));
    expect(world.held).toEqual(['a new 14']);
    expect(world.messages).toEqual(['added a uid-a 5', 'deleted a uid-a', 'added a new 14']);
  });

  it('keeps an object created again under the same name', async () => {
    const { informer } = open();
    await world.listed(9, object('a', 5));
    await world.event('DELETED', object('a', 10));
    await world.event('ADDED', object('a', 11, 'new'));
    informer.forget('n', 'a', 'uid-a');
    expect(world.held).toEqual(['a new 11']);
  });
});

it('updates an index as objects change', async () => {
  const { informer } = open();
  const index = informer.indexBy('test', ({ metadata }) => [metadata.uid ?? '']);
  await world.listed(9, object('a', 5), object('b', 6));
  expect(index.get('uid-a').map(({ metadata }) => metadata.name)).toEqual(['a']);
  world.wrote(object('a', 11, 'new'));
  await world.event('DELETED', object('b', 12));
  expect([index.get('uid-a'), index.get('uid-b'), index.get('new').length]).toEqual([[], [], 1]);
  expect(informer.list('other')).toEqual([]);
});
