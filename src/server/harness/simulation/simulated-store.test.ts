import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { StoreError } from '../../../store/index.ts';
import { storeContract } from '../../../store/testing/contract.ts';
import { drivenClock } from '../../../store/testing/driven-clock.ts';
import { choicesOf } from './seeded-random.ts';
import { SimulatedProcess } from './simulated-process.ts';
import { SimulatedStore } from './simulated-store.ts';

storeContract('a simulated store without faults', async () => {
  const clock = drivenClock();
  const random = choicesOf(1, 'store');
  const { store } = new SimulatedStore({ clock, random, historyMs: 0 }).link(new SimulatedProcess('server', clock));
  // Time passes while the cases wait: messages and the disk take some.
  let open = true;
  const pass = async () => {
    while (open) {
      clock.advance(1);
      await nextTurn();
    }
  };
  void pass();
  return {
    store,
    advance: async (ms) => {
      clock.advance(ms);
      await nextTurn();
    },
    cleanup: async () => {
      await store.close();
      open = false;
    },
  };
});

/** A store with one link, and the clock that moves both. */
function linked(seed = 1) {
  const clock = drivenClock();
  const simulated = new SimulatedStore({ clock, random: choicesOf(seed, 'store'), historyMs: 0 });
  const link = simulated.link(new SimulatedProcess('server', clock));
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed++) {
      clock.advance(1);
      await nextTurn();
    }
  };
  const put = (key: string) => ({ key, value: Buffer.from('x') });
  return { simulated, link, pass, put };
}

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    ({ code }: StoreError) => code,
  );

describe('faults of a simulated store', () => {
  it('a lost answer leaves the commit in place and its caller uncertain', async () => {
    const { simulated, link, pass, put } = linked();
    link.loseAnswers(1);
    const outcome = codeOf(link.store.commit([], [put('/a')]));
    await pass(20);
    expect([await outcome, (await simulated.state.get('/a')).entry?.revision]).toEqual(['uncertain', 2]);
  });

  it('the loss of the leader loses exactly the commits that were not on disk', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { simulated, link, pass, put } = linked(seed);
      simulated.slowDisk(50);
      const first = codeOf(link.store.commit([], [put('/a')]));
      await pass(60);
      const second = codeOf(link.store.commit([], [put('/b')]));
      await pass(10);
      simulated.loseLeader();
      await pass(100);
      expect((await simulated.state.get('/a')).entry?.revision).toBe(2);
      expect((await simulated.state.get('/b')).entry).toBeUndefined();
      simulated.electLeader();
      await pass(100);
      const stored = (await simulated.state.get('/b')).entry !== undefined;
      expect([await first, await second]).toEqual(['done', stored ? 'done' : 'uncertain']);
    }
  });

  it('a call over a cut link fails after ten seconds, or goes on when the link is healed before', async () => {
    const { link, pass, put } = linked();
    link.cut();
    const [read, commit] = [codeOf(link.store.get('/a')), codeOf(link.store.commit([], [put('/a')]))];
    await pass(10_001);
    expect([await read, await commit]).toEqual(['unavailable', 'uncertain']);
    const later = codeOf(link.store.get('/a'));
    await link.heal();
    await pass(20);
    expect(await later).toBe('done');
  });

  it('a watch over a link that was cut resumes, or ends when what it has missed is compacted', async () => {
    for (const compacts of [false, true]) {
      const { simulated, link, pass, put } = linked();
      const seen: (number | string)[] = [];
      link.store.watch('/', 1, {
        batch: (revision) => void seen.push(revision),
        error: ({ code }) => void seen.push(code),
      });
      await pass(10);
      link.cut();
      for (const key of ['/a', '/b', '/c']) await simulated.state.commit([], [put(key)]);
      if (compacts) await simulated.state.compact(4);
      await link.heal();
      await pass(20);
      expect(seen).toEqual(compacts ? ['compacted'] : [2, 3, 4]);
    }
  });

  it('a full disk takes deletions only', async () => {
    const { simulated, link, pass, put } = linked();
    await simulated.state.commit([], [put('/a')]);
    simulated.fillDisk(true);
    const outcomes = [link.store.commit([], [put('/b')]), link.store.commit([], [{ key: '/a' }])].map(codeOf);
    await pass(20);
    expect(await Promise.all(outcomes)).toEqual(['full', 'done']);
  });
});
