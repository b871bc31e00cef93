import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type ApiObject, StatusError, VirtualClock } from '../../meta/index.ts';
import { createServer, type OrchServer } from '../../server/index.ts';
import { delivered } from '../../store/testing/late-store.ts';
import type { Client } from '../client.ts';
import { createClient } from '../create-client.ts';
import { inProcessTransport } from '../transport/in-process.ts';
import { LeaderElection, whileHeld } from './leader-election.ts';

const lease = { namespace: 'kube-system', name: 'kube-controller-manager' };
const place = { apiVersion: 'coordination.k8s.io/v1', resource: 'leases', namespace: 'kube-system' };
const settings = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 };

/** Processes that elect a leader over one server, on a virtual clock. */
class World {
  readonly clock = new VirtualClock();
  /** The events, in order. */
  readonly messages: string[] = [];
  readonly logged: string[] = [];
  readonly elections: LeaderElection[] = [];
  #server: OrchServer | undefined;

  async open(): Promise<this> {
    this.#server = await createServer({ apiDomain: 'k8s.io', controllers: '-*' }, { clock: this.clock });
    return this;
  }

  get server(): OrchServer {
    if (this.#server === undefined) throw new Error('not open');
    return this.#server;
  }

  /** A process; `reach` says what comes of its requests. */
  start(identity: string, { reach = { works: true }, stopping = () => Promise.resolve(), watches = true } = {}) {
    const transport = inProcessTransport(this.server.handler, {
      subject: { commonName: 'system:kube-controller-manager', organizations: [] },
      background: true,
    });
    const client = createClient({
      transport: (request) =>
        reach.works && (watches || !request.url.includes('watch='))
          ? transport(request)
          : Promise.reject(new Error('no route')),
    });
    const log = (text: string) => void this.logged.push(`${identity}: ${text}`);
    const election: LeaderElection = new LeaderElection({
      client,
      lease,
      clock: this.clock,
      settings,
      identity,
      random: { uuid: () => '', integer: () => 0 },
      log: { info: () => {}, warn: log, error: () => {} },
      lead: () => {
        this.messages.push(`${identity} leads`);
        return {
          stop: async () => {
            await stopping();
            this.messages.push(`${identity} has stopped`);
          },
        };
      },
      lost: () => void this.messages.push(`${identity} has lost the lease`),
    });
    this.elections.push(election);
    return election;
  }

  async settle(): Promise<void> {
    await delivered();
    for (let turn = 0; turn < 60; turn++) await nextTurn();
  }

  async advance(ms: number): Promise<void> {
    const end = this.clock.now() + ms;
    await this.settle();
    for (let next = this.clock.next; next !== undefined && next <= end; next = this.clock.next) {
      this.clock.set(next);
      await this.settle();
    }
    this.clock.set(end);
    await this.settle();
  }

  async spec(): Promise<{ [field: string]: unknown }> {
    const lease = await this.server.client.get<ApiObject>({ ...place, name: 'kube-controller-manager' });
    return lease['spec'] as { [field: string]: unknown };
  }

  async close(): Promise<void> {
    await Promise.all(this.elections.map((election) => election.stop()));
    await this.#server?.close();
  }
}

let world: World;
afterEach(() => world.close());

describe('leader election', () => {
  it('lets one of two processes lead, which renews the lease', async () => {
    world = await new World().open();
    const a = world.start('a');
    await world.advance(0);
    const b = world.start('b');
    await world.advance(60_000);
    expect(world.messages).toEqual(['a leads']);
    expect([a.holds, b.holds]).toEqual([true, false]);
    expect(await world.spec()).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:01:00.000000Z',
      leaseTransitions: 0,
    });
    expect(world.logged).toEqual([]);
  });

  it('records an event for the new leader', async () => {
    world = await new World().open();
    world.start('a');
    await world.advance(0);
    const { items } = await world.server.client.list<ApiObject>({ apiVersion: 'v1', resource: 'events' });
    expect(items).toMatchObject([
      {
        metadata: { namespace: 'kube-system' },
        involvedObject: { apiVersion: place.apiVersion, kind: 'Lease', name: 'kube-controller-manager' },
        reason: 'LeaderElection',
        message: 'a became leader',
        type: 'Normal',
        source: { component: 'kube-controller-manager' },
      },
    ]);
  });

  it('releases the lease at once when the leader stops, after its term has ended', async () => {
    world = await new World().open();
    const a = world.start('a');
    await world.advance(0);
    // Without a watch, another process does not acquire the lease before its next attempt.
    world.start('b', { watches: false });
    await world.advance(5_000);
    await a.stop();
    expect(await world.spec()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
    await world.advance(2_000);
    expect(world.messages).toEqual(['a leads', 'a has stopped', 'b leads']);
    expect(await world.spec()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  it('acquires a released lease at once, not at the next attempt', async () => {
    world = await new World().open();
    const a = world.start('a');
    await world.advance(0);
    world.start('b');
    await world.advance(5_100);
    await a.stop();
    await world.advance(0);
    expect(world.messages).toEqual(['a leads', 'a has stopped', 'b leads']);
  });

  it('acquires the lease of a killed process when it expires', async () => {
    world = await new World().open();
    const reach = { works: true };
    world.start('a', { reach });
    await world.advance(1_100);
    world.start('b');
    await world.advance(3_000);
    // Renewed last at 4 s, of which an attempt of b would learn at 5.1 s.
    reach.works = false;
    await world.advance(14_899);
    expect(world.messages).not.toContain('b leads');
    await world.advance(1);
    expect(world.messages).toContain('b leads');
  });

  it('polls the lease when it may not watch it', async () => {
    world = await new World().open();
    const a = world.start('a');
    await world.advance(0);
    world.start('b', { watches: false });
    await world.advance(5_100);
    await a.stop();
    await world.advance(0);
    expect(world.messages).not.toContain('b leads');
    await world.advance(2_000);
    expect(world.messages).toContain('b leads');
    expect(world.logged).toEqual([]);
  });

  it('ends its term when the lease cannot be renewed, before another process takes over', async () => {
    world = await new World().open();
    const reach = { works: true };
    const a = world.start('a', { reach });
    await world.advance(0);
    world.start('b');
    await world.advance(4_000);
    reach.works = false;
    await world.advance(9_000);
    expect([world.messages, a.holds]).toEqual([['a leads'], true]);
    await world.advance(1_000);
    expect([world.messages, a.holds]).toEqual([['a leads', 'a has stopped', 'a has lost the lease'], false]);
    await world.advance(8_000);
    expect(world.messages).toEqual(['a leads', 'a has stopped', 'a has lost the lease', 'b leads']);
    reach.works = true;
    await world.advance(60_000);
    expect(world.messages).toHaveLength(4);
    expect(world.logged).toEqual(['a: failed to acquire or renew the lease']);
  });

  it('acquires the lease again once it can be written', async () => {
    world = await new World().open();
    const reach = { works: true };
    world.start('a', { reach });
    await world.advance(0);
    reach.works = false;
    await world.advance(20_000);
    reach.works = true;
    await world.advance(5_000);
    expect(world.messages).toEqual(['a leads', 'a has stopped', 'a has lost the lease', 'a leads']);
    expect(await world.spec()).toMatchObject({ holderIdentity: 'a', leaseTransitions: 0 });
  });

  it('rejects requests while a term does not end in time', async () => {
    world = await new World().open();
    const reach = { works: true };
    let stopped = () => {};
    const a = world.start('a', { reach, stopping: () => new Promise((resolve) => (stopped = resolve)) });
    await world.advance(0);
    const sent: string[] = [];
    const request = { method: 'GET', url: '/', headers: {} };
    const transport = whileHeld(
      () => a.holds,
      async () => {
        sent.push('sent');
        return { status: 200, headers: {}, body: (async function* () {})() };
      },
    );
    await transport(request);
    reach.works = false;
    await world.advance(10_000);
    await expect(transport(request)).rejects.toThrow(StatusError);
    expect(sent).toEqual(['sent']);
    stopped();
  });

  it('steps down at once when another process has acquired the lease', async () => {
    world = await new World().open();
    world.start('a');
    await world.advance(0);
    const { client } = world.server;
    await client.patch({ ...place, name: 'kube-controller-manager' }, 'merge', { spec: { holderIdentity: 'other' } });
    await world.advance(2_000);
    expect(world.messages).toEqual(['a leads', 'a has stopped', 'a has lost the lease']);
    expect(await world.spec()).toMatchObject({ holderIdentity: 'other' });
    await world.advance(20_000);
    expect(world.messages.at(-1)).toBe('a leads');
    expect(await world.spec()).toMatchObject({ holderIdentity: 'a', leaseTransitions: 1 });
  });

  it('creates the lease again after its deletion', async () => {
    world = await new World().open();
    world.start('a');
    await world.advance(0);
    await world.server.client.delete({ ...place, name: 'kube-controller-manager' });
    await world.advance(2_000);
    expect(world.messages).toEqual(['a leads']);
    expect(await world.spec()).toMatchObject({ holderIdentity: 'a' });
  });

  it('waits for the lease of a killed process, but not for its own', async () => {
    world = await new World().open();
    const killed = { works: true };
    world.start('a', { reach: killed });
    await world.advance(0);
    killed.works = false;
    world.start('b');
    await world.advance(10_000);
    expect(world.messages.filter((text) => text === 'b leads')).toEqual([]);
    const again = world.start('a');
    await world.advance(0);
    expect(again.holds).toBe(true);
    expect(await world.spec()).toMatchObject({ holderIdentity: 'a', leaseTransitions: 0 });
  });

  it('stops without a lease while it waits for one', async () => {
    world = await new World().open();
    world.start('a');
    await world.advance(0);
    const b = world.start('b');
    await world.advance(1_000);
    await b.stop();
    expect(world.messages).toEqual(['a leads']);
    expect(await world.spec()).toMatchObject({ holderIdentity: 'a' });
  });
});

describe('requests of the election', () => {
  it('time out when the server does not respond', async () => {
    world = await new World().open();
    const messages: string[] = [];
    const hangs = { resolve: () => new Promise(() => {}) };
    const silent = new Proxy({} as Client, { get: () => hangs.resolve });
    const election = new LeaderElection({
      client: silent,
      lease,
      clock: world.clock,
      settings,
      identity: 'a',
      random: { uuid: () => '', integer: () => 0 },
      log: { info: () => {}, warn: () => {}, error: () => {} },
      lead: () => ({ stop: () => Promise.resolve(void messages.push('stopped')) }),
    });
    await world.advance(30_000);
    expect([election.holds, messages]).toEqual([false, []]);
    const stopped = election.stop();
    await world.advance(5_000);
    await stopped;
  });
});
