import { describe, expect, it } from 'vitest';
import { decodeText } from '../../meta/index.ts';
import type { ApiResponse } from '../types.ts';
import { createProfiler } from './profiling.ts';

/** A clock whose tasks run when they are told to. */
function clockByHand() {
  const tasks: { readonly ms: number; readonly run: () => void }[] = [];
  let waiting = () => {};
  const after = (ms: number, run: () => void) => {
    tasks.push({ ms, run });
    waiting();
    return () => {};
  };
  const next = () =>
    new Promise<{ readonly ms: number; readonly run: () => void }>((resolve) => {
      waiting = () => {
        const task = tasks.shift();
        if (task !== undefined) resolve(task);
      };
      waiting();
    });
  return { now: () => 0, monotonic: () => 0, after, next };
}

const query = (text = '') => new URLSearchParams(text);
const never = new AbortController().signal;
const json = ({ body }: ApiResponse) => JSON.parse(decodeText(body as never)) as { readonly [name: string]: unknown };

describe('profiles', () => {
  it.each([
    ['profile', 'nodes', 'profile.cpuprofile'],
    ['heap', 'head', 'heap.heapprofile'],
  ])('of %s are V8 profiles over the requested seconds', async (name, part, file) => {
    const clock = clockByHand();
    const answer = createProfiler(clock).serve(`/debug/pprof/${name}`, query('seconds=7'), never);
    const { ms, run } = await clock.next();
    expect(ms).toBe(7_000);
    run();
    const response = (await answer) as ApiResponse;
    expect(response.status).toBe(200);
    expect(response.headers['content-disposition']).toBe(`attachment; filename="${file}"`);
    expect(json(response)).toHaveProperty(part);
  });

  it('are taken one at a time, and again after that', async () => {
    const clock = clockByHand();
    const profiler = createProfiler(clock);
    const first = profiler.serve('/debug/pprof/profile', query(), never);
    const { ms, run } = await clock.next();
    expect(ms).toBe(30_000);
    expect((await profiler.serve('/debug/pprof/heap', query(), never))?.status).toBe(429);
    run();
    expect((await first)?.status).toBe(200);
    const again = profiler.serve('/debug/pprof/heap', query(), never);
    (await clock.next()).run();
    expect((await again)?.status).toBe(200);
  });

  it('end when the client disconnects', async () => {
    const clock = clockByHand();
    const profiler = createProfiler(clock);
    const gone = new AbortController();
    const first = profiler.serve('/debug/pprof/profile', query(), gone.signal);
    await clock.next();
    gone.abort();
    await first;
    const again = profiler.serve('/debug/pprof/profile', query('seconds=1'), never);
    (await clock.next()).run();
    expect((await again)?.status).toBe(200);
  });

  it.each(['0', '301', '-1', '1.5', '', 'x', '1e2'])('reject the duration %j', async (seconds) => {
    const answer = createProfiler(clockByHand()).serve('/debug/pprof/profile', query(`seconds=${seconds}`), never);
    await expect(answer).rejects.toMatchObject({ code: 400 });
  });

  it('are listed, and others are 404', async () => {
    const profiler = createProfiler(clockByHand());
    for (const path of ['/debug/pprof', '/debug/pprof/']) {
      const { status, body } = (await profiler.serve(path, query(), never)) as ApiResponse;
      expect(status).toBe(200);
      expect(body).toContain('/debug/pprof/profile?seconds=30');
    }
    expect((await profiler.serve('/debug/pprof/constructor', query(), never))?.status).toBe(404);
    expect(profiler.serve('/debug', query(), never)).toBeUndefined();
  });
});
