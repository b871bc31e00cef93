import { expect, it } from 'vitest';
import { AuditContext } from './context.ts';
import { backendFixture } from './testing/event.ts';
import type { AuditEvent } from './types.ts';

function contextFixture() {
  const events: AuditEvent[] = [];
  const { logged, log, clock } = backendFixture();
  const context = new AuditContext({
    config: { level: 'Metadata', omitStages: new Set(['RequestReceived']), omitManagedFields: false },
    event: { level: 'Metadata', auditID: 'id', requestURI: '/', verb: 'get', user: {}, received: 0 },
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
