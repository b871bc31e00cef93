import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../meta/index.ts';
import { rateLimited } from './request-rate.ts';
import type { Transport } from './transport.ts';

function setUp() {
  const clock = new VirtualClock();
  const stopping = new AbortController();
  const sent: string[] = [];
  const transport: Transport = (request) => {
    sent.push(request.url);
    return Promise.reject(new Error('no answer'));
  };
  const limited = rateLimited(transport, { perSecond: 20, burst: 30 }, clock, stopping.signal);
  const errors: string[] = [];
  const send = (count: number) => {
    for (let i = 0; i < count; i++) {
      limited({ method: 'GET', url: `/${i}`, headers: {} }).catch((error: Error) => errors.push(error.message));
    }
  };
  return { clock, stopping, sent, send, errors };
}

describe('requests of a limited rate', () => {
  it('are sent at once up to the burst, and then in order', async () => {
    const { clock, sent, send } = setUp();
    send(100);
    expect(sent).toHaveLength(30);
    await clock.advance(1_000, () => nextTurn());
    expect(sent).toHaveLength(50);
    await clock.advance(10_000, () => nextTurn());
    expect(sent).toEqual(Array.from({ length: 100 }, (_, i) => `/${i}`));
  });

  it('regain their burst during a pause', async () => {
    const { clock, sent, send } = setUp();
    send(30);
    await clock.advance(500, () => nextTurn());
    send(100);
    expect(sent).toHaveLength(40);
    await clock.advance(60_000, () => nextTurn());
    sent.length = 0;
    send(100);
    expect(sent).toHaveLength(30);
  });

  it('are rejected when the client stops before they are sent', async () => {
    const { clock, stopping, sent, send, errors } = setUp();
    send(31);
    stopping.abort();
    await nextTurn();
    send(1);
    await clock.advance(1_000, () => nextTurn());
    expect(sent).toHaveLength(30);
    expect(errors.filter((text) => text === 'the client has been stopped')).toHaveLength(2);
  });
});
