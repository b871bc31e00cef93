import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../meta/index.ts';
import { nanoseconds, type SpanData, spanKind } from './span-data.ts';
import { SpanExporter } from './span-exporter.ts';

const span = (name: string): SpanData => ({
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  name,
  kind: spanKind.internal,
  startTimeUnixNano: nanoseconds(0),
  endTimeUnixNano: nanoseconds(1),
  attributes: [],
  events: [],
  links: [],
  status: { code: 0, message: '' },
});
const spans = (count: number) => Array.from({ length: count }, (_, i) => span(String(i)));
const turn = () => new Promise((resolve) => setImmediate(resolve));

function open() {
  const clock = new VirtualClock();
  const batches: number[] = [];
  const warnings: unknown[] = [];
  const state = { failure: '', hold: false, release: () => {}, closed: false };
  const collector = {
    send: async (sent: readonly SpanData[]) => {
      batches.push(sent.length);
      if (state.hold) {
        await new Promise<void>((resolve) => {
          state.release = resolve;
        });
      }
      if (state.failure !== '') throw new Error(state.failure);
    },
    close: () => {
      state.closed = true;
    },
  };
  const warn = (text: string, fields: object) => void warnings.push([text, fields]);
  const exporter = new SpanExporter({ collector, endpoint: 'collector:4318', clock, warn });
  return { clock, batches, warnings, state, exporter };
}

describe('the export of spans', () => {
  it('sends a batch after five seconds, or as soon as it is full', async () => {
    const { clock, batches, exporter } = open();
    exporter.add(spans(3));
    await clock.advance(4_999, turn);
    expect(batches).toEqual([]);
    exporter.add(spans(2));
    await clock.advance(1, turn);
    expect(batches).toEqual([5]);
    exporter.add(spans(600));
    await turn();
    expect(batches).toEqual([5, 512]);
    await clock.advance(5_000, turn);
    expect(batches).toEqual([5, 512, 88]);
  });

  it('sends one batch at a time, queues 2048 spans, and warns of lost spans once a minute', async () => {
    const { clock, batches, warnings, state, exporter } = open();
    state.hold = true;
    exporter.add(spans(512));
    exporter.add(spans(2_048));
    exporter.add(spans(7));
    exporter.add(spans(2));
    expect(batches).toEqual([512]);
    const lost = (count: number, why: string) => [
      'spans were not exported',
      { endpoint: 'collector:4318', spans: count, why },
    ];
    expect(warnings).toEqual([lost(7, 'the queue of 2048 spans is full')]);
    await clock.advance(60_000, turn);
    state.failure = 'UNAVAILABLE: no connection';
    state.release();
    await turn();
    expect(warnings.slice(1)).toEqual([lost(514, 'UNAVAILABLE: no connection')]);
  });

  it('sends the queued spans when it is closed, and nothing afterwards', async () => {
    const { batches, state, exporter } = open();
    exporter.add(spans(4));
    await exporter.close(1_000);
    exporter.add(spans(4));
    await exporter.close(1_000);
    expect([batches, state.closed]).toEqual([[4], true]);
  });

  it('closes even if the collector does not respond', async () => {
    const { clock, state, exporter } = open();
    state.hold = true;
    exporter.add(spans(512));
    const closing = exporter.close(1_000);
    await clock.advance(1_000, turn);
    await closing;
    expect(state.closed).toBe(true);
  });
});
