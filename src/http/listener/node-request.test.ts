import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { NodeRequest } from './node-request.ts';

/** A request whose body is written by hand, and a clock whose timers fire by hand. */
function start(bodyMs: number) {
  const message = new PassThrough();
  Object.assign(message, { method: 'POST', url: '/', headers: { 'transfer-encoding': 'chunked' } });
  const timers: { ms: number; task: () => void }[] = [];
  const after = (ms: number, task: () => void) => {
    const timer = { ms, task };
    timers.push(timer);
    return () => void timers.splice(timers.indexOf(timer), 1);
  };
  const request = new NodeRequest(
    message as unknown as IncomingMessage,
    message as unknown as IncomingMessage,
    { peer: { address: '', network: '', certificate: undefined }, received: () => {} },
    { clock: { now: () => 0, monotonic: () => 0, after }, bodyMs, pace: { bytes: 1_000, ms: 100 } },
  );
  const span = async (bytes: number) => {
    message.write(Buffer.alloc(bytes, 'x'));
    await turn();
    const timer = timers.shift();
    timer?.task();
    return timer?.ms;
  };
  return { message, request, span, timers };
}

it('a body that arrives at the minimum rate is read over any number of intervals', async () => {
  const { message, request, span, timers } = start(60_000);
  const body = request.body(1_000_000);
  for (let i = 0; i < 20; i++) expect(await span(1_000)).toBe(100);
  message.end();
  expect((await body).length).toBe(20_000);
  expect(timers).toEqual([]);
});

it('a body is aborted in the first interval below the minimum rate', async () => {
  const { request, span } = start(60_000);
  const body = request.body(1_000_000);
  const outcome = expect(body).rejects.toMatchObject({ code: 408 });
  await span(5_000);
  await span(1_000);
  await span(999);
  await outcome;
});

it('a body is aborted when it takes too long in total', async () => {
  const { request, span } = start(250);
  const body = request.body(1_000_000);
  const outcome = expect(body).rejects.toMatchObject({ code: 408 });
  expect([await span(9_000), await span(9_000), await span(9_000)]).toEqual([100, 100, 50]);
  await outcome;
});
