import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Event, isSettled, settle, startWorld, turns, type Watching, type World } from './support/in-process.ts';

// Watches as the specification has them: "Resource version semantics", "Streaming list", "Watch event", "Events".
const configMaps = '/api/v1/namespaces/default/configmaps';
const merge = { 'content-type': 'application/merge-patch+json' };

let world: World;
beforeEach(async () => {
  world = await startWorld({ featureGates: { WatchList: true } });
});
afterEach(() => world.close());

const make = async (name: string, meta = {}, collection = configMaps): Promise<string> =>
  (await world.send('POST', collection, { metadata: { name, ...meta }, data: { n: name } })).body.metadata
    .resourceVersion;
const patch = async (name: string, change: unknown): Promise<string> =>
  (await world.send('PATCH', `${configMaps}/${name}`, change, merge)).body.metadata.resourceVersion;
const remove = (name: string) => world.send('DELETE', `${configMaps}/${name}`);
const present = async (): Promise<string> => (await world.send('GET', configMaps)).body.metadata.resourceVersion;
const watch = (parameters: string, headers = {}, url = configMaps): Promise<Watching> =>
  world.watch(`${url}?watch=1${parameters === '' ? '' : `&${parameters}`}`, headers);
const versions = (events: readonly Event[]): number[] =>
  events.map(({ object }) => Number(object.metadata.resourceVersion));

/** Two objects that the server knows of, and a third that is stored and of which the news has not come yet. */
async function behind(): Promise<{ old: string; new: string }> {
  await make('b');
  await make('a');
  const old = await present();
  world.store.hold();
  return { old, new: await make('c') };
}

describe('where a watch starts: the table', () => {
  it('unset: gets the state and starts at most recent', async () => {
    await behind();
    const opened = watch('');
    expect(await isSettled(opened)).toBe(false);
    world.store.release();
    const watching = await opened;
    await make('d');
    await settle();
    expect(watching.seen).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'ADDED d']);
  });

  it('0: gets the state and starts at any', async () => {
    await behind();
    const watching = await watch('resourceVersion=0');
    expect(watching.seen).toEqual(['ADDED a', 'ADDED b']);
    world.store.release();
    await settle();
    expect(watching.seen).toEqual(['ADDED a', 'ADDED b', 'ADDED c']);
  });

  it('non-zero: starts at exact, without synthetic events', async () => {
    const { old, new: later } = await behind();
    const [fromOld, fromNew] = [await watch(`resourceVersion=${old}`), await watch(`resourceVersion=${later}`)];
    expect([fromOld.seen, fromNew.seen]).toEqual([[], []]);
    world.store.release();
    await patch('a', { data: { n: '2' } });
    await settle();
    expect([fromOld.seen, fromNew.seen]).toEqual([['ADDED c', 'MODIFIED a'], ['MODIFIED a']]);
  });

  it('a version from the future is waited for, and what comes before it is not told', async () => {
    await make('a');
    const future = Number(await present()) + 2;
    const watching = await watch(`resourceVersion=${future}&timeoutSeconds=60`);
    for (const n of ['1', '2', '3']) await patch('a', { data: { n } });
    await settle();
    expect(watching.events.map(({ object }) => object.data.n)).toEqual(['3']);
    expect(versions(watching.events)).toEqual([future + 1]);
  });

  it('a version far from now is waited for until the time is over, and no bookmark lies behind it', async () => {
    await make('a');
    const watching = await watch('resourceVersion=1000000&timeoutSeconds=150&allowWatchBookmarks=true');
    await patch('a', { data: { n: '2' } });
    for (let i = 0; i < 15; i++) {
      expect(watching.ended).toBe(false);
      world.clock.advance(10_000);
      await settle();
    }
    expect([watching.ended, watching.events]).toEqual([true, []]);
  });

  it('the history of a version is told as it happened', async () => {
    const start = await present();
    await make('w');
    await patch('w', { data: { n: '2' } });
    await patch('w', { metadata: { finalizers: ['example.com/f'] } });
    await remove('w');
    await patch('w', { metadata: { finalizers: null } });
    const expected = ['ADDED w', 'MODIFIED w', 'MODIFIED w', 'MODIFIED w', 'DELETED w'];
    const watching = await watch(`resourceVersion=${start}`);
    expect(watching.seen).toEqual(expected);
    // From the version of any event on, it is the rest.
    for (const [i, version] of versions(watching.events).entries()) {
      expect((await watch(`resourceVersion=${version}`)).seen).toEqual(expected.slice(i + 1));
    }
  });
});

describe('events', () => {
  it('1: come over HTTP as lines of JSON', async () => {
    await make('a');
    const { status, headers, events } = await watch('');
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(events).toEqual([{ type: 'ADDED', object: (await world.send('GET', `${configMaps}/a`)).body }]);
  });

  it('2: ADDED and MODIFIED carry the object as the write was answered', async () => {
    const watching = await watch('');
    const created = await world.send('POST', configMaps, { metadata: { name: 'a' }, data: { n: 'ü' } });
    const changed = await world.send('PUT', `${configMaps}/a`, { metadata: { name: 'a' }, data: { n: '2' } });
    await settle();
    expect(watching.events).toEqual([
      { type: 'ADDED', object: created.body },
      { type: 'MODIFIED', object: changed.body },
    ]);
  });

  it('DELETED carries the last state with the deleting version', async () => {
    await make('a', { labels: { l: '1' } });
    const watching = await watch(`resourceVersion=${await present()}`);
    const last = (await world.send('GET', `${configMaps}/a`)).body;
    await remove('a');
    const deleting = await present();
    await settle();
    const { metadata, ...rest } = last;
    expect(watching.events).toEqual([
      { type: 'DELETED', object: { ...rest, metadata: { ...metadata, resourceVersion: deleting } } },
    ]);
    expect(Number(deleting)).toBeGreaterThan(Number(metadata.resourceVersion));
  });

  it('a write that changes nothing is none', async () => {
    await make('a');
    const watching = await watch(`resourceVersion=${await present()}`);
    await patch('a', { data: { n: 'a' } });
    await world.send('PATCH', `${configMaps}/a?dryRun=All`, { data: { n: 'z' } }, merge);
    await world.send('DELETE', `${configMaps}/a?dryRun=All`);
    await world.send('POST', `${configMaps}?dryRun=All`, { metadata: { name: 'z' } });
    await settle();
    expect(watching.seen).toEqual([]);
  });

  it('4: a version that is no longer kept is told by an ERROR event with a Status of 410, and the watch ends', async () => {
    const start = await make('a');
    for (let i = 0; i < 12; i++) {
      world.clock.advance(30_000);
      await patch('a', { data: { n: String(i) } });
    }
    const { status, events, ended } = await watch(`resourceVersion=${start}`);
    expect([status, ended]).toEqual([200, true]);
    expect(events).toEqual([
      {
        type: 'ERROR',
        object: {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: expect.stringMatching(/^too old resource version: \d+ \(\d+\)$/),
          reason: 'Expired',
          code: 410,
        },
      },
    ]);
  });

  it('4: history is kept for five minutes', async () => {
    await make('a');
    const start = await present();
    for (let i = 0; i < 29; i++) {
      world.clock.advance(10_000);
      await patch('a', { data: { n: String(i) } });
    }
    expect((await watch(`resourceVersion=${start}`)).seen).toHaveLength(29);
  });

  it('a gap that cannot be closed ends a watch with a 410, and none is told twice when it can', async () => {
    await make('a');
    const watching = await watch('');
    world.store.cut();
    await patch('a', { data: { n: '2' } });
    world.clock.advance(10_000);
    await settle();
    expect(watching.seen).toEqual(['ADDED a', 'MODIFIED a']);
    world.store.cut();
    await patch('a', { data: { n: '3' } });
    await patch('a', { data: { n: '4' } });
    await world.store.compact(await world.store.revision());
    for (let i = 0; i < 4; i++) {
      world.clock.advance(10_000);
      await settle();
    }
    expect([watching.ended, watching.seen.slice(2)]).toEqual([true, ['ERROR']]);
    expect(watching.events.at(-1)?.object).toMatchObject({ kind: 'Status', code: 410, reason: 'Expired' });
  });

  it('are those of one namespace, of one name, or of all', async () => {
    const system = '/api/v1/namespaces/kube-system/configmaps';
    const all = await watch('', {}, '/api/v1/configmaps');
    const here = await watch('');
    const one = await watch('fieldSelector=metadata.name%3Da');
    const named = await watch('fieldSelector=metadata.name%3Da', {}, '/api/v1/configmaps');
    const placed = await watch('fieldSelector=metadata.namespace%3Dkube-system', {}, '/api/v1/configmaps');
    await make('a');
    await make('b');
    await make('a', {}, system);
    await settle();
    expect([all, here, one, named, placed].map(({ seen }) => seen)).toEqual([
      ['ADDED a', 'ADDED b', 'ADDED a'],
      ['ADDED a', 'ADDED b'],
      ['ADDED a'],
      ['ADDED a', 'ADDED a'],
      ['ADDED a'],
    ]);
  });

  it('of one item: a GET of it with `watch`', async () => {
    await make('a');
    await make('b');
    const watching = await watch('', {}, `${configMaps}/a`);
    await patch('b', { data: { n: '2' } });
    await patch('a', { data: { n: '2' } });
    await remove('a');
    await make('a');
    await settle();
    expect(watching.seen).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED a']);
    // It may be of one that is not there yet.
    const absent = await watch('', {}, `${configMaps}/absent`);
    await make('absent');
    await settle();
    expect(absent.seen).toEqual(['ADDED absent']);
  });
});

describe('selectors', () => {
  it('an object that enters the selection is ADDED, one that leaves it DELETED as it was when it was in it', async () => {
    const watching = await watch(`labelSelector=in%3Dyes&resourceVersion=${await present()}`);
    await make('t', { labels: { in: 'no' } });
    const made: string[] = [];
    made.push(await patch('t', { metadata: { labels: { in: 'yes' } } }));
    made.push(await patch('t', { data: { n: '2' } }));
    made.push(await patch('t', { metadata: { labels: { in: 'no' } }, data: { n: '3' } }));
    await patch('t', { data: { n: '4' } });
    made.push(await patch('t', { metadata: { labels: { in: 'yes' } } }));
    await remove('t');
    made.push(await present());
    await settle();
    const shown = watching.events.map(({ type, object }) => [type, object.metadata.labels.in, object.data.n]);
    expect(shown).toEqual([
      ['ADDED', 'yes', 't'],
      ['MODIFIED', 'yes', '2'],
      ['DELETED', 'yes', '2'],
      ['ADDED', 'yes', '4'],
      ['DELETED', 'yes', '4'],
    ]);
    expect(versions(watching.events)).toEqual(made.map(Number));
  });

  it('replayed, it is the same', async () => {
    const start = await present();
    await make('t', { labels: { in: 'no' } });
    for (const label of ['yes', 'no', 'yes', 'yes', null]) {
      await patch('t', { metadata: { labels: { in: label } }, data: { n: String(label) } });
    }
    const expected = ['ADDED t', 'DELETED t', 'ADDED t', 'DELETED t'];
    const watching = await watch(`labelSelector=in%3Dyes&resourceVersion=${start}`);
    expect(watching.seen).toEqual(expected);
    const outside = await watch(`labelSelector=in!%3Dyes&resourceVersion=${start}`);
    expect(outside.seen).toEqual(['ADDED t', 'DELETED t', 'ADDED t', 'DELETED t', 'ADDED t']);
  });

  it('by a field of the kind', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const pod = (name: string, node?: string) => ({
      metadata: { name },
      spec: { containers: [{ name: 'c', image: 'i' }], ...(node === undefined ? {} : { nodeName: node }) },
    });
    await world.send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
    const here = await watch('fieldSelector=spec.nodeName%3Dn1', {}, pods);
    const waiting = await watch('fieldSelector=spec.nodeName%3D', {}, pods);
    for (const body of [pod('a', 'n1'), pod('b', 'n2'), pod('c')]) await world.send('POST', pods, body);
    const bound = await world.send('POST', `${pods}/c/binding`, {
      metadata: { name: 'c' },
      target: { kind: 'Node', name: 'n1' },
    });
    expect(bound.status).toBe(201);
    await settle();
    expect(here.seen).toEqual(['ADDED a', 'ADDED c']);
    expect(waiting.seen).toEqual(['ADDED c', 'DELETED c']);
  });

  it('that cannot be read are refused', async () => {
    const refused = await watch('labelSelector=a%20b');
    expect([refused.status, refused.refusal?.message]).toEqual([
      400,
      "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
    ]);
    expect((await watch('fieldSelector=data.n%3Da')).status).toBe(400);
  });
});

describe('bookmarks', () => {
  it('come to those who ask for them alone, each minute, and carry nothing but a version', async () => {
    await make('a');
    const asking = await watch('allowWatchBookmarks=true&resourceVersion=0');
    const other = await watch('resourceVersion=0');
    for (const denied of ['false', '0']) expect((await watch(`allowWatchBookmarks=${denied}`)).status).toBe(200);
    // Another resource changes: the version moves on all the same.
    await world.send('POST', '/api/v1/namespaces/default/secrets', { metadata: { name: 's' } });
    const moved = Number(await present());
    for (let i = 0; i < 3; i++) {
      world.clock.advance(60_000);
      await settle();
    }
    // A watch from the current state begins as a streaming list does: its first bookmark says that the objects have been sent.
    expect(asking.seen).toEqual(['ADDED a', 'END', 'BOOKMARK', 'BOOKMARK', 'BOOKMARK']);
    expect(other.seen).toEqual(['ADDED a']);
    const { object } = asking.events.at(-1) as Event;
    expect(object).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { creationTimestamp: null, resourceVersion: expect.stringMatching(/^\d+$/) as string },
    });
    expect(Number(object.metadata.resourceVersion)).toBeGreaterThanOrEqual(moved);
  });

  it('3: say that all changes up to their version were sent', async () => {
    await make('a');
    const watching = await watch('allowWatchBookmarks=true&labelSelector=in');
    await patch('a', { metadata: { labels: { in: '' } } });
    await make('b');
    world.clock.advance(60_000);
    await settle();
    world.clock.advance(60_000);
    await make('c', { labels: { in: '' } });
    await settle();
    const [, added, , bookmark, next] = watching.events;
    expect(watching.seen).toEqual(['END', 'ADDED a', 'BOOKMARK', 'BOOKMARK', 'ADDED c']);
    const [first, mark, later] = versions([added, bookmark, next] as Event[]) as [number, number, number];
    expect([first < mark, mark < later]).toEqual([true, true]);
    // Whoever comes back with it misses nothing and sees nothing twice.
    expect((await watch(`labelSelector=in&resourceVersion=${mark}`)).seen).toEqual(['ADDED c']);
  });

  it('come before the end of a watch', async () => {
    const watching = await watch('allowWatchBookmarks=true&timeoutSeconds=30');
    await make('a');
    await world.send('POST', '/api/v1/namespaces/default/secrets', { metadata: { name: 's' } });
    const version = await present();
    await settle();
    world.clock.advance(30_000);
    await settle();
    expect([watching.seen, watching.ended]).toEqual([['END', 'ADDED a', 'BOOKMARK'], true]);
    expect(watching.events.at(-1)?.object.metadata.resourceVersion).toBe(version);
  });

  it('at the end claim nothing that was not sent, even amid a long replay', async () => {
    const start = await present();
    const count = 2_500;
    for (let i = 0; i < count; i++) await make(`n${i}`, i === count - 1 ? { labels: { in: '' } } : {});
    const opened = world.watch(
      `${configMaps}?watch=1&labelSelector=in&resourceVersion=${start}&allowWatchBookmarks=true&timeoutSeconds=1`,
    );
    // Its time is over while it still looks for the one object that it is to tell of.
    for (let i = 0; i < 3; i++) await turns(1);
    world.clock.advance(1_000);
    const watching = await opened;
    expect(watching.ended).toBe(true);
    const reached = versions(watching.events).at(-1) ?? Number(start);
    const rest = await watch(`labelSelector=in&resourceVersion=${reached}`);
    expect([...watching.seen, ...rest.seen].filter((text) => text !== 'BOOKMARK')).toEqual([`ADDED n${count - 1}`]);
  });
});

describe('timeoutSeconds', () => {
  it.each([1, 45, 7_200])('%s: the watch ends then, without an error', async (seconds) => {
    const watching = await watch(`timeoutSeconds=${seconds}`);
    world.clock.advance(seconds * 1_000 - 1);
    await settle();
    expect(watching.ended).toBe(false);
    world.clock.advance(1);
    await settle();
    expect([watching.ended, watching.events]).toEqual([true, []]);
  });

  it('by default it lies between 30 and 60 minutes, and not at the same time for all', async () => {
    const open = await Promise.all(Array.from({ length: 20 }, () => watch('')));
    world.clock.advance(1_799_000);
    await settle();
    expect(open.filter(({ ended }) => ended)).toEqual([]);
    const ends = new Set<number>();
    for (let minute = 30; minute < 60; minute++) {
      world.clock.advance(60_000);
      await settle();
      ends.add(open.filter(({ ended }) => ended).length);
    }
    world.clock.advance(1_000);
    await settle();
    expect(open.every(({ ended }) => ended)).toBe(true);
    expect(ends.size).toBeGreaterThan(5);
  });

  it('that is not a number is refused', async () => {
    expect((await watch('timeoutSeconds=soon')).status).toBe(400);
  });
});

describe('paths', () => {
  it.each([
    ['/api/v1/watch/configmaps', ['ADDED a', 'ADDED b', 'ADDED z']],
    ['/api/v1/watch/namespaces/default/configmaps', ['ADDED a', 'ADDED b']],
    ['/api/v1/watch/namespaces/default/configmaps/a', ['ADDED a']],
    ['/api/v1/watch/namespaces/default', ['ADDED default']],
    ['/api/v1/watch/namespaces/default/configmaps?watch=false', ['ADDED a', 'ADDED b']],
    ['/api/v1/watch/namespaces/default/configmaps?fieldSelector=metadata.name%3Db', ['ADDED b']],
    [`${configMaps}?watch=true`, ['ADDED a', 'ADDED b']],
    [`${configMaps}?watch`, ['ADDED a', 'ADDED b']],
    [`${configMaps}?watch=`, ['ADDED a', 'ADDED b']],
    [`${configMaps}/b?watch=1`, ['ADDED b']],
  ])('%s', async (url, expected) => {
    await make('a');
    await make('b');
    await make('z', {}, '/api/v1/namespaces/kube-system/configmaps');
    const watching = await world.watch(url);
    expect([watching.status, watching.ended, watching.seen]).toEqual([200, false, expected]);
  });

  it.each(['/apis/apps/v1/watch/deployments', '/apis/apps/v1/watch/namespaces/default/deployments/d'])(
    '%s',
    async (url) => {
      const watching = await world.watch(url);
      await world.send('POST', '/apis/apps/v1/namespaces/default/deployments', {
        metadata: { name: 'd' },
        spec: {
          selector: { matchLabels: { a: 'b' } },
          template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        },
      });
      await settle();
      expect(watching.seen).toEqual(['ADDED d']);
    },
  );

  it.each([
    [`${configMaps}?watch=0`, 'ConfigMapList'],
    [`${configMaps}?watch=false`, 'ConfigMapList'],
  ])('%s is none', async (url, kind) => {
    expect((await world.send('GET', url)).body.kind).toBe(kind);
  });

  it('of a subresource there is none', async () => {
    const refused = await watch('', {}, '/api/v1/namespaces/default/configmaps/x/status');
    expect([refused.status, refused.refusal?.message]).toEqual([
      404,
      'the server could not find the requested resource',
    ]);
  });
});

describe('other representations', () => {
  const accept = (as: string) => ({ accept: `application/json;as=${as};g=meta.k8s.io;v=v1` });

  it('as a Table: the columns come with the first event', async () => {
    await make('a');
    const watching = await watch('allowWatchBookmarks=true&timeoutSeconds=60', accept('Table'));
    await make('b');
    await remove('a');
    const version = await present();
    await settle();
    world.clock.advance(60_000);
    await settle();
    expect(watching.events.map(({ type, object }) => [type, object.kind, object.apiVersion])).toEqual(
      ['ADDED', 'BOOKMARK', 'ADDED', 'DELETED', 'BOOKMARK', 'BOOKMARK']
        .map((type) => [type, 'Table', 'meta.k8s.io/v1'])
        .slice(0, watching.events.length),
    );
    const [first, ...rest] = watching.events.map(({ object }) => object);
    expect(first.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual(['Name', 'Data', 'Age']);
    expect(rest.map(({ columnDefinitions }) => columnDefinitions)).toEqual(rest.map(() => null));
    const objects = watching.events.filter(({ type }) => type !== 'BOOKMARK');
    expect(objects.map(({ object }) => object.rows[0].cells[0])).toEqual(['a', 'b', 'a']);
    expect(first.rows[0].object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } });
    // A bookmark is a table too, whose one row tells the version.
    expect(rest.at(-1).rows[0].object.metadata.resourceVersion).toBe(version);
  });

  it.each(['None', 'Metadata', 'Object'])('as a Table with includeObject=%s', async (includeObject) => {
    await make('a');
    const [event] = (await watch(`includeObject=${includeObject}`, accept('Table'))).events as [Event];
    const kinds = { None: undefined, Metadata: 'PartialObjectMetadata', Object: 'ConfigMap' };
    expect(event.object.rows[0].object?.kind).toBe(kinds[includeObject as keyof typeof kinds]);
  });

  it('as metadata', async () => {
    await make('a', { labels: { l: '1' } });
    const watching = await watch('allowWatchBookmarks=true', accept('PartialObjectMetadata'));
    await patch('a', { metadata: { labels: { l: '2' } } });
    await remove('a');
    const deleting = await present();
    await settle();
    world.clock.advance(60_000);
    await settle();
    expect(watching.events.map(({ type, object }) => [type, object.kind, object.apiVersion])).toEqual(
      ['ADDED', 'BOOKMARK', 'MODIFIED', 'DELETED', 'BOOKMARK'].map((type) => [
        type,
        'PartialObjectMetadata',
        'meta.k8s.io/v1',
      ]),
    );
    const [added, , , deleted] = watching.events.map(({ object }) => object);
    expect(Object.keys(added)).toEqual(['kind', 'apiVersion', 'metadata']);
    expect(deleted.metadata).toMatchObject({ labels: { l: '2' }, resourceVersion: deleting });
  });

  it('as a list of metadata: each event tells of one object', async () => {
    await make('a');
    const { status, events } = await watch('', accept('PartialObjectMetadataList'));
    if (status === 200) expect(events.map(({ object }) => object.metadata.name)).toEqual(['a']);
    else expect(status).toBe(406);
  });

  it('in another version of the kind', async () => {
    const scalers = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
    const watching = await watch('', {}, scalers('v1'));
    await world.send('POST', scalers('v2'), {
      metadata: { name: 's' },
      spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } },
    });
    await world.send('DELETE', `${scalers('v2')}/s`);
    await settle();
    expect(watching.events.map(({ type, object }) => [type, object.apiVersion])).toEqual([
      ['ADDED', 'autoscaling/v1'],
      ['DELETED', 'autoscaling/v1'],
    ]);
  });
});

describe('streaming lists', () => {
  const stream = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  const mark = ({ events }: Watching) =>
    events.find(({ object }) => object.metadata.annotations !== undefined)?.object.metadata.resourceVersion;

  it('without a version: consistent, with a bookmark when the state is told, then what changes', async () => {
    const { new: later } = await behind();
    const opened = watch(stream);
    expect(await isSettled(opened)).toBe(false);
    world.store.release();
    const watching = await opened;
    await make('d');
    await settle();
    expect(watching.seen).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'END', 'ADDED d']);
    expect(Number(mark(watching))).toBeGreaterThanOrEqual(Number(later));
    const { object } = watching.events[3] as Event;
    expect(object).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        resourceVersion: mark(watching),
        creationTimestamp: null,
        annotations: { 'k8s.io/initial-events-end': 'true' },
      },
    });
  });

  it('with an empty version: the same', async () => {
    await behind();
    const opened = watch(`${stream}&resourceVersion=`);
    expect(await isSettled(opened)).toBe(false);
    world.store.release();
    expect((await opened).seen).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'END']);
  });

  it('version 0: at once, from the cache', async () => {
    const { old } = await behind();
    const watching = await watch(`${stream}&resourceVersion=0`);
    expect([watching.seen, mark(watching)]).toEqual([['ADDED a', 'ADDED b', 'END'], old]);
    world.store.release();
    await settle();
    expect(watching.seen.at(-1)).toBe('ADDED c');
  });

  it('a version: once the state is at least that', async () => {
    const { old, new: later } = await behind();
    expect((await watch(`${stream}&resourceVersion=${old}`)).seen).toEqual(['ADDED a', 'ADDED b', 'END']);
    const opened = watch(`${stream}&resourceVersion=${later}`);
    expect(await isSettled(opened)).toBe(false);
    world.store.release();
    const watching = await opened;
    expect(watching.seen).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'END']);
    expect(Number(mark(watching))).toBeGreaterThanOrEqual(Number(later));
  });

  it('a version from the future: an event with the error after a while', async () => {
    await make('a');
    const opened = watch(`${stream}&resourceVersion=1000000`);
    expect(await isSettled(opened)).toBe(false);
    world.clock.advance(5_000);
    const watching = await opened;
    await settle();
    expect(watching.status).toBe(200);
    expect(watching.events).toMatchObject([
      {
        type: 'ERROR',
        object: { code: 504, reason: 'Timeout', message: expect.stringContaining('Too large resource version') },
      },
    ]);
  });

  it('no bookmark for those who do not allow it', async () => {
    await make('a');
    const watching = await watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan');
    await make('b');
    world.clock.advance(60_000);
    await settle();
    expect(watching.seen).toEqual(['ADDED a', 'ADDED b']);
  });

  it('of nothing: the bookmark alone', async () => {
    expect((await watch(stream)).seen).toEqual(['END']);
    expect((await watch(`${stream}&labelSelector=none`)).seen).toEqual(['END']);
  });

  it('of a selection and of one item', async () => {
    await make('a', { labels: { in: '' } });
    await make('b');
    expect((await watch(`${stream}&labelSelector=in`)).seen).toEqual(['ADDED a', 'END']);
    expect((await watch(stream, {}, `${configMaps}/b`)).seen).toEqual(['ADDED b', 'END']);
  });

  it('its bookmark is where a later watch goes on', async () => {
    await make('a');
    const watching = await watch(stream);
    await make('b');
    expect((await watch(`resourceVersion=${mark(watching)}`)).seen).toEqual(['ADDED b']);
  });

  it.each(['', '&resourceVersion=0'])('sendInitialEvents=false: what changes from now on%s', async (version) => {
    await make('a');
    const watching = await watch(`sendInitialEvents=false&resourceVersionMatch=NotOlderThan${version}`);
    await make('b');
    await settle();
    expect(watching.seen).toEqual(['ADDED b']);
  });

  it('sendInitialEvents=false with a version: what changes from there on', async () => {
    const version = await make('a');
    await make('b');
    const parameters = `sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=${version}`;
    expect((await watch(parameters)).seen).toEqual(['ADDED b']);
  });

  it('in other representations', async () => {
    await make('a');
    const shown = async (as: string) =>
      (await watch(stream, { accept: `application/json;as=${as};g=meta.k8s.io;v=v1` })).events;
    const [, table] = (await shown('Table')) as [Event, Event];
    expect([table.type, table.object.kind]).toEqual(['BOOKMARK', 'Table']);
    expect(table.object.rows[0].object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
    const [, metadata] = (await shown('PartialObjectMetadata')) as [Event, Event];
    expect(metadata.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
  });
});

describe('combinations without a meaning', () => {
  const requires = 'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
  const unless = 'Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
  const exact = 'Unsupported value: "Exact": supported values: "NotOlderThan"';
  const refusals: [string, string[]][] = [
    ['sendInitialEvents=true', [requires]],
    ['sendInitialEvents=false', [requires]],
    ['sendInitialEvents=true&resourceVersion=5', [requires]],
    ['resourceVersionMatch=NotOlderThan', [unless]],
    ['resourceVersionMatch=NotOlderThan&resourceVersion=5', [unless]],
    ['resourceVersionMatch=Exact&resourceVersion=5', [unless, exact]],
    ['sendInitialEvents=true&resourceVersionMatch=Exact', [requires, exact]],
  ];
  it.each(refusals)('%s', async (parameters, messages) => {
    const { status, refusal } = await watch(parameters);
    expect([status, refusal?.reason]).toEqual([422, 'Invalid']);
    expect(refusal?.details?.causes?.map(({ message }) => message)).toEqual(messages);
    const told = messages.map((message) => `resourceVersionMatch: ${message}`);
    expect(refusal?.message).toBe(
      `ListOptions.meta.k8s.io "" is invalid: ${told.length === 1 ? told[0] : `[${told.join(', ')}]`}`,
    );
  });

  it.each(['abc', '-1', '1.5'])('resourceVersion=%s', async (text) => {
    const { status, refusal } = await watch(`resourceVersion=${text}`);
    expect([status, refusal?.message]).toEqual([
      500,
      `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`,
    ]);
  });
});
