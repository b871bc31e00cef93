import { expect, it } from 'vitest';
import { WebhookFailure } from '../../admission/index.ts';
import type { ByteString } from '../../meta/index.ts';
import { withRetries } from './webhook-retries.ts';

/** Calls of a webhook with these outcomes, and the pauses that it made. */
function reviewerOf(...failures: readonly Error[]) {
  const pauses: number[] = [];
  let calls = 0;
  const review = withRetries({
    call: () => {
      const failure = failures[calls++];
      return failure === undefined ? Promise.resolve(Buffer.from('ok')) : Promise.reject(failure);
    },
    backoffMs: 500,
    clock: {
      now: () => 0,
      monotonic: () => 0,
      after: (ms, task) => {
        pauses.push(ms);
        task();
        return () => {};
      },
    },
    random: { uuid: () => '', integer: () => 0 },
  });
  return { ask: () => review('{}' as ByteString), pauses, calls: () => calls };
}
const busy = new WebhookFailure(500, 'busy');

it('tries again while the webhook is busy, after longer and longer pauses', async () => {
  const { ask, pauses } = reviewerOf(busy, new WebhookFailure(429, 'busy'), new WebhookFailure(502, 'busy'));
  expect(Buffer.from(await ask()).toString()).toBe('ok');
  expect(pauses).toEqual([500, 750, 1125]);
});

it('gives up after five attempts', async () => {
  const { ask, calls } = reviewerOf(busy, busy, busy, busy, busy);
  await expect(ask()).rejects.toBe(busy);
  expect(calls()).toBe(5);
});

it.each([
  ['another status', new WebhookFailure(403, 'no')],
  ['a service that is not there', new WebhookFailure(503, 'no')],
  ['no connection', new Error('Post', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) })],
  ['no answer', new Error('Post', { cause: Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }) })],
])('does not try again after %s', async (_, failure) => {
  const { ask, calls } = reviewerOf(failure);
  await expect(ask()).rejects.toBe(failure);
  expect(calls()).toBe(1);
});

it('tries again when the connection was reset', async () => {
  const reset = { code: 'ECONNRESET', syscall: 'read' };
  const lost = new Error('Post', { cause: Object.assign(new Error('x'), reset) });
  const { ask, calls } = reviewerOf(lost);
  await ask();
  expect(calls()).toBe(2);
});
