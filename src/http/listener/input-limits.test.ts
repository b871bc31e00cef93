import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { InputLimits } from './input-limits.ts';
import { LoopTurns } from './loop-turns.ts';

/** The limits of a connection, with a clock that is set by hand (ms). */
function start() {
  const seen = { pauses: 0, exceeded: false, now: 10_000 };
  const input = {
    pause: () => void seen.pauses++,
    exceed: () => {
      seen.exceeded = true;
    },
  };
  const clock = { now: () => seen.now, monotonic: () => seen.now, after: () => () => {} };
  const limits = new InputLimits(input, clock, new LoopTurns());
  return { seen, limits };
}

const times = (count: number, act: () => void) => {
  for (let i = 0; i < count; i++) act();
};

describe('a connection exceeds its limit', () => {
  it.each<[string, number, (limits: InputLimits, now: number) => void]>([
    ['brief streams that are reset', 200, (limits, now) => limits.reset(now)],
    ['control frames', 1_000, (limits) => limits.control()],
    ['small pieces of bodies', 5_000, (limits) => limits.piece(1)],
  ])('with more %s in a second than %i', (_, most, act) => {
    const { seen, limits } = start();
    for (let second = 0; second < 3; second++) {
      times(most, () => act(limits, seen.now));
      expect(seen.exceeded).toBe(false);
      seen.now += 7_000;
    }
    times(most + 1, () => act(limits, seen.now));
    expect(seen.exceeded).toBe(true);
  });

  it('with 900 resets of streams of any age at once, and 30 in each second from then on', () => {
    const { seen, limits } = start();
    const cancel = () => limits.reset(seen.now - 60_000);
    times(900, cancel);
    for (let second = 0; second < 10; second++) {
      seen.now += 1_000;
      times(30, cancel);
    }
    expect(seen.exceeded).toBe(false);
    cancel();
    expect(seen.exceeded).toBe(true);
  });

  it('never with large pieces', () => {
    const { seen, limits } = start();
    times(100_000, () => limits.piece(16 * 1024));
    expect(seen.exceeded).toBe(false);
  });
});

describe('bytes that belong to no request', () => {
  const mebibyte = 1024 * 1024;
  const traffic = () => ({ ...start(), bytes: { bytesRead: 0, bytesWritten: 0 } });

  it('are 1 MiB at once and 256 KiB in each second from then on, at most', () => {
    const { seen, limits, bytes } = traffic();
    const read = (more: number) => {
      bytes.bytesRead += more;
      limits.look(bytes, 0);
    };
    read(mebibyte);
    for (let second = 0; second < 10; second++) {
      seen.now += 1_000;
      read(256 * 1024);
    }
    expect(seen.exceeded).toBe(false);
    read(1);
    expect(seen.exceeded).toBe(true);
  });

  it('do not count what requests, bodies and acknowledgements take', () => {
    const { seen, limits, bytes } = traffic();
    for (let i = 0; i < 10_000; i++) {
      limits.request();
      for (let piece = 0; piece < 4; piece++) limits.piece(16 * 1024);
      bytes.bytesRead += 4_000 + 4 * (16 * 1024 + 9);
      bytes.bytesWritten += mebibyte;
      bytes.bytesRead += (2 * 13 * mebibyte) / 1024;
      limits.look(bytes, 0);
    }
    expect(seen.exceeded).toBe(false);
  });

  it('do not count the body of an open request that arrives later, or that is read at once', () => {
    const { seen, limits, bytes } = traffic();
    for (let round = 0; round < 100; round++) {
      times(100, () => limits.request());
      limits.look(bytes, 100);
      bytes.bytesRead += 100 * (64 * 1024 + 1_000);
      limits.look(bytes, 100);
      limits.look(bytes, 0);
    }
    expect(seen.exceeded).toBe(false);
  });

  it('have no more room after a long time, or after many requests', () => {
    const { seen, limits, bytes } = traffic();
    limits.look(bytes, 0);
    times(1_000, () => limits.request());
    limits.look(bytes, 0);
    seen.now += 3_600_000;
    bytes.bytesRead += mebibyte + 1;
    limits.look(bytes, 0);
    expect(seen.exceeded).toBe(true);
  });
});

it('a connection is not read on after 64 requests and pieces in a turn of the event loop', async () => {
  const { seen, limits } = start();
  times(32, () => limits.request());
  times(31, () => limits.piece(1_000));
  expect(seen.pauses).toBe(0);
  limits.request();
  times(100, () => limits.request());
  expect(seen.pauses).toBe(1);
  await turn();
  await turn();
  times(63, () => limits.request());
  expect(seen.pauses).toBe(1);
  limits.request();
  expect(seen.pauses).toBe(2);
});
