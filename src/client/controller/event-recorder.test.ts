import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { namesFor, StatusError, statusError, VirtualClock } from '../../meta/index.ts';
import type { Client } from '../client.ts';
import type { KindPlace } from '../kinds/kind.ts';
import { EventRecorder } from './event-recorder.ts';

const subject = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'n', name, uid: `uid-${name}`, resourceVersion: '7' },
});

interface Written {
  readonly metadata: { readonly name: string };
  readonly message: string;
  readonly count: number;
}

/** A recorder, and the writes that it makes. */
function recorder() {
  const clock = new VirtualClock();
  const writes: string[] = [];
  const logged: string[] = [];
  const state: { failure: StatusError | undefined } = { failure: undefined };
  const written = new Map<string, Written>();
  const client = {
    names: namesFor('k8s.io'),
    resolve: async (kind: KindPlace) => kind,
    create: async (_: unknown, event: Written) => {
      if (state.failure !== undefined) throw state.failure;
      writes.push(`create ${event.message} ${event.count}`);
      written.set(event.metadata.name, event);
      return event;
    },
    patch: async ({ name }: { name: string }, _: string, patch: { count: number }) => {
      if (state.failure !== undefined) throw state.failure;
      const before = written.get(name);
      writes.push(`patch ${before?.message} ${patch.count}`);
      return { ...before, ...patch };
    },
  } as unknown as Client;
  const log = { info: () => {}, warn: (text: string) => void logged.push(text), error: () => {} };
  const events = new EventRecorder({ client, clock, log, component: 'c' });
  const settle = async () => {
    while (!events.isIdle) await nextTurn();
  };
  return { clock, events, writes, logged, state, settle };
}

describe('events', () => {
  it('are written in order, and repetitions increase the count', async () => {
    const { events, writes, settle } = recorder();
    events.record(subject('a'), 'Normal', 'Done', 'one');
    events.record(subject('a'), 'Normal', 'Done', 'two');
    events.record(subject('a'), 'Normal', 'Done', 'one');
    events.record(subject('b'), 'Normal', 'Done', 'one');
    events.record(subject('a'), 'Normal', 'Done', 'one');
    await settle();
    expect(writes).toEqual(['create one 1', 'create two 1', 'patch one 2', 'create one 1', 'patch one 3']);
  });

  it('are created again after they have expired', async () => {
    const { events, writes, settle, state } = recorder();
    events.record(subject('a'), 'Normal', 'Done', 'one');
    await settle();
    state.failure = statusError.notFound({ group: '', resource: 'events' }, 'e');
    events.record(subject('a'), 'Normal', 'Done', 'one');
    await settle();
    state.failure = undefined;
    events.record(subject('b'), 'Normal', 'Done', 'other');
    await settle();
    expect(writes).toEqual(['create one 1', 'create other 1']);
  });

  it('have a limited rate for each subject', async () => {
    const { events, writes, clock, settle } = recorder();
    const record = (name: string, count: number) => {
      for (let i = 0; i < count; i++) events.record(subject(name), 'Normal', 'Done', `${name}${i}`);
    };
    record('a', 40);
    record('b', 1);
    await settle();
    expect(writes.length).toBe(26);
    clock.set(clock.now() + 300_000);
    record('a', 5);
    await settle();
    expect(writes.length).toBe(27);
  });

  it('log failures, except for a namespace being deleted', async () => {
    const { events, settle, logged, state } = recorder();
    state.failure = new StatusError(403, 'Forbidden', 'it is being terminated');
    events.record(subject('a'), 'Normal', 'Done', 'one');
    await settle();
    expect(logged).toEqual([]);
    state.failure = new StatusError(500, 'InternalError', 'no');
    events.record(subject('a'), 'Normal', 'Done', 'two');
    await settle();
    expect(logged).toEqual(['failed to write an event']);
  });

  it('are dropped while waiting when the recorder stops', async () => {
    const { events, writes } = recorder();
    events.record(subject('a'), 'Normal', 'Done', 'one');
    events.record(subject('a'), 'Normal', 'Done', 'two');
    await events.stop();
    events.record(subject('a'), 'Normal', 'Done', 'three');
    await events.stop();
    expect(writes).toEqual([]);
  });
});
