import { expect, it } from 'vitest';
import type { ByteString } from '../meta/index.ts';
import { EveryStep } from '../meta/testing/every-step.ts';
import { AuditContext } from './context.ts';
import { backendFixture } from './testing/event.ts';
import type { AuditEvent } from './types.ts';

function contextFixture(level: 'Metadata' | 'RequestResponse' = 'Metadata') {
  const events: AuditEvent[] = [];
  const { logged, log, clock } = backendFixture();
  const context = new AuditContext({
    config: { level, omitStages: new Set(['RequestReceived']), omitManagedFields: level !== 'Metadata' },
    event: { level, auditID: 'id', requestURI: '/', verb: 'get', user: {}, received: 0 },
    annotations: new Map(),
    kind: 'short',
    domain: 'k8s.io',
    now: () => clock.now(),
    blocking: false,
    emit: (event) => void events.push(event),
    reject: () => {},
    log: { warn: log.error },
  });
  return { context, events, logged };
}

it('an annotation keeps its first value; another one is logged, without the values', () => {
  const { context, events, logged } = contextFixture();
  const { annotate } = context;
  for (const value of ['first', 'first', 'second']) annotate('a/b', value);
  void context.complete();
  expect(events.map(({ annotations }) => annotations)).toEqual([{ 'a/b': 'first' }]);
  expect(logged).toEqual([
    { text: 'an audit annotation has another value already', fields: { auditID: 'id', annotation: 'a/b' } },
  ]);
});

it('an annotation is cut at 10,000 characters', () => {
  const { context, events, logged } = contextFixture();
  for (const end of ['x', 'y']) context.annotate('a/b', `${'x'.repeat(10_000)}${end}`);
  void context.complete();
  expect(events[0]?.annotations).toEqual({ 'a/b': `${'x'.repeat(10_000)}...TRUNCATED` });
  expect(logged).toEqual([]);
});

it('objects with many members are recorded in turns, without their managed fields', async () => {
  const { context, events } = contextFixture('RequestResponse');
  const data = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`k${i}`, 'v']));
  const object = { metadata: { name: 'a', managedFields: [{ manager: 'm' }] }, data };
  const shown = JSON.stringify({ metadata: { name: 'a' }, data });
  const [request, response] = [new EveryStep(), new EveryStep()];
  await context.requestObject(object, request);
  await context.responseObject(JSON.stringify(object) as ByteString, response);
  void context.complete();
  expect(events[0]?.requestObject === shown).toBe(true);
  expect(events[0]?.responseObject === shown).toBe(true);
  expect(request.count).toBeGreaterThan(50);
  expect(response.count).toBeGreaterThan(100);
});

it('the managed fields of each item of a list are left out in a step of their own', async () => {
  const { context, events } = contextFixture('RequestResponse');
  const metadata = { name: 'a', managedFields: [{ manager: 'm' }] };
  const items = Array.from({ length: 20 }, () => ({ metadata }));
  const rows = items.map((object) => ({ cells: [], object }));
  const turns = new EveryStep();
  await context.requestObject({ kind: 'List', items, rows }, turns);
  const own = turns.count;
  await context.responseObject(JSON.stringify({ kind: 'List', items, rows }) as ByteString, turns);
  void context.complete();
  const shown = { kind: 'List', items: items.map(() => ({ metadata: { name: 'a' } })) };
  const whole = JSON.stringify({ ...shown, rows: shown.items.map((object) => ({ cells: [], object })) });
  expect([events[0]?.requestObject, events[0]?.responseObject]).toEqual([whole, whole]);
  expect(own).toBeGreaterThanOrEqual(40);
  expect(turns.count - own).toBeGreaterThanOrEqual(40);
});
