import { describe, expect, it } from 'vitest';
import type { ByteString, JsonObject } from '../meta/index.ts';
import { eventMembers } from './event.ts';
import type { BatchSettings } from './mode.ts';
import { backendFixture, eventOf, settle } from './testing/event.ts';
import { createWebhookBackend, type WebhookBackendOptions } from './webhook-backend.ts';

/** A backend whose webhook answers when told to. */
function webhook(more: Partial<BatchSettings & Pick<WebhookBackendOptions, 'post' | 'truncate'>> = {}) {
  const fixture = backendFixture();
  const sent: { readonly ids: unknown[]; readonly accept: () => void; readonly refuse: () => void }[] = [];
  const post = (body: ByteString, signal: AbortSignal) =>
    new Promise<void>((accept, reject) => {
      const { items } = JSON.parse(body) as { items: JsonObject[] };
      const refuse = () => reject(new Error('refused'));
      signal.addEventListener('abort', refuse);
      sent.push({ ids: items.map(({ auditID }) => auditID), accept, refuse });
    });
  const { post: given = post, truncate, ...batch } = more;
  const settings = { mode: 'batch', bufferSize: 100, batchSize: 2, waitMs: 30_000, throttle: undefined } as const;
  const backend = createWebhookBackend(
    { post: given, initialBackoffMs: 10_000, truncate, batch: { ...settings, ...batch } },
    fixture,
  );
  const write = (...ids: string[]) => {
    for (const id of ids) void backend.write(eventOf(id));
  };
  return { ...fixture, backend, sent, write, batches: () => sent.map(({ ids }) => ids) };
}

describe('the webhook backend', () => {
  it('sends a list of events', async () => {
    const bodies: string[] = [];
    const { write, backend } = webhook({ post: async (body) => void bodies.push(body) });
    write('a');
    await backend.close(1000);
    expect(bodies.map((body) => JSON.parse(body) as unknown)).toEqual([
      {
        kind: 'EventList',
        apiVersion: 'audit.k8s.io/v1',
        metadata: {},
        items: [expect.objectContaining({ level: 'Metadata', auditID: 'a', stage: 'ResponseComplete' })],
      },
    ]);
    expect(bodies[0]).not.toContain('"kind":"Event"');
  });

  it('sends a batch when it is full, and an incomplete one when it has waited', async () => {
    const { write, clock, batches } = webhook();
    write('a', 'b', 'c');
    expect(batches()).toEqual([['a', 'b']]);
    clock.advance(29_999);
    expect(batches()).toEqual([['a', 'b']]);
    clock.advance(1);
    expect(batches()).toEqual([['a', 'b'], ['c']]);
    write('d');
    clock.advance(30_000);
    expect(batches().at(-1)).toEqual(['d']);
  });

  it('splits batches by their size', async () => {
    const item = eventMembers(eventOf('a')).length + 2;
    const truncate = { maxEventSize: 10_000, maxBatchSize: 2 * item };
    const { write, batches } = webhook({ batchSize: 3, truncate });
    write('a', 'b', 'c');
    expect(batches()).toEqual([['a', 'b']]);
  });

  it('sends as many batches at one time as are allowed, and drops events beyond its buffer', async () => {
    const { write, sent, batches, counts } = webhook({ batchSize: 1, bufferSize: 3 });
    write(...'abcdefghijklm'.split(''));
    expect(batches()).toHaveLength(8);
    expect([...counts.errors]).toEqual([['buffered', 2]]);
    sent[0]?.accept();
    await settle();
    expect(batches().at(-1)).toEqual(['i']);
  });

  it('sends no more batches than the throttle allows', async () => {
    const { write, clock, batches } = webhook({ batchSize: 1, throttle: { qps: 2, burst: 3 } });
    write(...'abcde'.split(''));
    expect(batches()).toHaveLength(3);
    clock.advance(500);
    expect(batches()).toHaveLength(4);
    clock.advance(499);
    expect(batches()).toHaveLength(4);
    clock.advance(1);
    expect(batches()).toHaveLength(5);
  });

  it('tries a batch five times, with growing pauses, then counts and logs its loss', async () => {
    const { write, clock, sent, counts, logged } = webhook();
    write('a', 'b');
    for (const [i, pause] of [10_000, 15_000, 22_500, 33_750].entries()) {
      sent.at(-1)?.refuse();
      await settle();
      clock.advance(pause - 1);
      await settle();
      expect(sent).toHaveLength(i + 1);
      clock.advance(1);
      await settle();
      expect(sent).toHaveLength(i + 2);
    }
    expect(counts.errors.size).toBe(0);
    sent.at(-1)?.refuse();
    await settle();
    expect([...counts.errors]).toEqual([['webhook', 2]]);
    expect(logged).toMatchObject([{ fields: { plugin: 'webhook', events: 2, error: { message: 'refused' } } }]);
  });

  it('sends what waits when it is closed', async () => {
    const { write, backend, sent, batches, counts } = webhook({ throttle: { qps: 1, burst: 1000 } });
    write('a', 'b', 'c');
    let closed = false;
    const closing = backend.close(1000).then(() => {
      closed = true;
    });
    expect(batches()).toEqual([['a', 'b'], ['c']]);
    sent[0]?.accept();
    await settle();
    expect(closed).toBe(false);
    sent[1]?.accept();
    await closing;
    expect(counts.errors.size).toBe(0);
  });

  it('loses what is not accepted within the grace period', async () => {
    const { write, backend, clock, counts } = webhook({ batchSize: 1 });
    write(...'abcdefghij'.split(''));
    const closing = backend.close(1000);
    clock.advance(1000);
    await closing;
    await settle();
    expect([...counts.errors]).toEqual([
      ['buffered', 2],
      ['webhook', 8],
    ]);
    write('late');
    expect(counts.errors.get('buffered')).toBe(3);
  });

  it('lets requests wait until its webhook has accepted the event, in the mode blocking-strict', async () => {
    const { backend, sent, batches } = webhook({ mode: 'blocking-strict', throttle: { qps: 1, burst: 1 } });
    const results: unknown[] = [];
    const write = async (id: string) => results.push([id, await backend.write(eventOf(id))]);
    const written = [write('a'), write('b')];
    expect(batches()).toEqual([['a'], ['b']]);
    sent[1]?.accept();
    await settle();
    expect(results).toEqual([['b', true]]);
    const closed = backend.close(1000);
    sent[0]?.accept();
    await Promise.all([...written, closed]);
    expect(results).toEqual([
      ['b', true],
      ['a', true],
    ]);
  });

  it('ends the wait of every request at the end of the shutdown', async () => {
    const { backend, clock } = webhook({ mode: 'blocking-strict', batchSize: 1 });
    const written = Array.from({ length: 10 }, async (_, i) => backend.write(eventOf(`${i}`)));
    const closed = backend.close(1000);
    clock.advance(1000);
    await closed;
    expect(await Promise.all(written)).toEqual(written.map(() => false));
  });
});
