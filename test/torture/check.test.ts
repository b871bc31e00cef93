import { expect, it } from 'vitest';
import type {
  History,
  Item,
  JournalEntry,
  Operation,
  Outcome,
  Request,
  WatchEvent,
  WatchSession,
} from '../../src/server/harness/checks/history.ts';
import { check } from '../../src/server/harness/checks/index.ts';

// The findings of the checker of a trial: a history in which everything is right, and others that differ from it in one
// thing.

const key = 'configmaps/t0/a';
const other = 'configmaps/t0/b';
const selection = { resource: 'configmaps' };

interface Parts {
  readonly at?: string;
  readonly uid?: string;
  readonly tier?: string;
  /** Data besides that of the writer. */
  readonly n?: string;
  readonly m?: string;
}

function item(id: number, version = 0, { at = key, uid = 'u1', tier = 'x', ...data }: Parts = {}): Item {
  const [, namespace = '', name = ''] = at.split('/');
  return {
    metadata: { name, namespace, uid, resourceVersion: String(version), labels: { tier } },
    data: { write: String(id), ...data },
  };
}

const entry = (revision: number, object: Item | undefined, at = key): JournalEntry => ({ revision, key: at, object });
const fields = (id: number, data: { [name: string]: string } = {}, tier = 'x') => ({
  tier,
  data: { write: String(id), ...data },
});
const ok = (object: Item): Outcome => ({ type: 'object', object });
const refused = (code: number, reason: string): Outcome => ({ type: 'refused', code, reason, message: '' });
const unknown: Outcome = { type: 'unknown', message: 'timeout' };

const operation = (id: number, start: number, end: number, request: Request, outcome: Outcome): Operation => ({
  id,
  client: 'c',
  replica: 'r0',
  request,
  start,
  end,
  outcome,
});

const event = (time: number, type: WatchEvent['type'], version: number, object?: Item): WatchEvent => ({
  time,
  type,
  version,
  object,
});

/** Everything is right. Operations 1 to 4 write, one after the other; those from 10 on read. */
const right = {
  operations: [
    operation(1, 0, 10, { verb: 'create', key, fields: fields(1) }, ok(item(1, 11))),
    operation(
      2,
      20,
      30,
      { verb: 'update', key, fields: fields(2, { n: '2' }, 'y'), base: 11 },
      ok(item(2, 12, { n: '2', tier: 'y' })),
    ),
    operation(3, 40, 50, { verb: 'patch', key, fields: fields(3, { m: '3' }) }, unknown),
    operation(4, 60, 70, { verb: 'delete', key, uid: 'u1' }, { type: 'deleted', uid: 'u1' }),
    operation(5, 80, 90, { verb: 'apply', key, fields: fields(5) }, ok(item(5, 15, { uid: 'u2' }))),
    operation(6, 80, 90, { verb: 'create', key: other, fields: fields(6) }, ok(item(6, 16, { at: other, uid: 'u3' }))),
    operation(7, 100, 110, { verb: 'create', key, fields: fields(7) }, refused(409, 'AlreadyExists')),
    operation(8, 100, 110, { verb: 'update', key, fields: fields(8), base: 12 }, refused(409, 'Conflict')),
    operation(9, 100, 110, { verb: 'delete', key, base: 12 }, refused(409, 'Conflict')),
    operation(10, 12, 14, { verb: 'get', key }, ok(item(1, 11))),
    operation(11, 22, 62, { verb: 'get', key }, ok(item(2, 12, { n: '2', tier: 'y' }))),
    operation(12, 75, 78, { verb: 'get', key }, refused(404, 'NotFound')),
    operation(13, 75, 78, { verb: 'get', key, version: 0 }, ok(item(1, 11))),
    operation(14, 75, 78, { verb: 'get', key, version: 12 }, ok(item(3, 13, { n: '2', m: '3' }))),
    operation(
      15,
      92,
      95,
      { verb: 'list', selection },
      {
        type: 'list',
        version: 17,
        items: [item(5, 15, { uid: 'u2' }), item(6, 16, { at: other, uid: 'u3' })],
      },
    ),
    operation(
      16,
      92,
      95,
      { verb: 'list', selection, version: 12, isExact: true },
      {
        type: 'list',
        version: 12,
        items: [item(2, 12, { n: '2', tier: 'y' })],
      },
    ),
    operation(17, 92, 95, { verb: 'list', selection, version: 9, isExact: true }, refused(410, 'Expired')),
    operation(
      18,
      92,
      95,
      { verb: 'list', selection: { ...selection, tier: 'y' }, version: 0 },
      {
        type: 'list',
        version: 12,
        items: [item(2, 12, { n: '2', tier: 'y' })],
      },
    ),
  ],
  watches: [
    {
      watcher: 'w0',
      replica: 'r0',
      selection,
      after: 10,
      start: 5,
      end: 200,
      ending: 'closed',
      events: [
        event(11, 'ADDED', 11, item(1, 11)),
        event(31, 'MODIFIED', 12, item(2, 12, { n: '2', tier: 'y' })),
        event(51, 'MODIFIED', 13, item(3, 13, { n: '2', m: '3' })),
        event(71, 'DELETED', 14, item(3, 14, { n: '2', m: '3' })),
        event(91, 'ADDED', 15, item(5, 15, { uid: 'u2' })),
        event(92, 'BOOKMARK', 15),
        event(93, 'ADDED', 16, item(6, 16, { at: other, uid: 'u3' })),
      ],
    },
    {
      watcher: 'w1',
      replica: 'r1',
      selection: { ...selection, tier: 'y' },
      after: 11,
      start: 15,
      end: 99,
      ending: 'broken',
      events: [
        event(31, 'ADDED', 12, item(2, 12, { n: '2', tier: 'y' })),
        event(51, 'DELETED', 13, item(2, 13, { n: '2', tier: 'y' })),
      ],
    },
    { watcher: 'w2', replica: 'r2', selection, after: 9, start: 95, end: 96, ending: 'expired', events: [] },
    {
      watcher: 'w3',
      replica: 'r0',
      selection,
      after: undefined,
      start: 52,
      end: 99,
      ending: 'closed',
      events: [
        event(53, 'ADDED', 13, item(3, 13, { n: '2', m: '3' })),
        { ...event(54, 'BOOKMARK', 13), endsInitial: true },
        event(71, 'DELETED', 14, item(3, 14, { n: '2', m: '3' })),
      ],
    },
  ],
  reached: [
    { watcher: 'w0', selection, position: 16, due: 16 },
    { watcher: 'w1', selection: { ...selection, tier: 'y' }, position: 13, due: 16 },
  ],
  journal: [
    entry(11, item(1)),
    entry(12, item(2, 0, { n: '2', tier: 'y' })),
    entry(13, item(3, 0, { n: '2', m: '3' })),
    entry(14, undefined),
    entry(15, item(5, 0, { uid: 'u2' })),
    entry(16, item(6, 0, { at: other, uid: 'u3' }), other),
  ],
  compactions: [
    { start: 50, revision: 0 },
    { start: 97, revision: 10 },
  ],
} satisfies History;

type Lists = Omit<History, 'unmarked'>;
type Draft = { -readonly [F in keyof Lists]: Lists[F][number][] };

/** The history with one thing changed. */
function changed(change: (draft: Draft) => void): History {
  const draft: Draft = structuredClone(right) as Draft;
  change(draft);
  return draft;
}

/** Replaces parts of an operation, or of a watch. */
const set = (id: number, parts: Partial<Operation>) => (draft: Draft) => {
  const index = draft.operations.findIndex((one) => one.id === id);
  draft.operations[index] = { ...(draft.operations[index] as Operation), ...parts };
};
const watch = (index: number, parts: (session: WatchSession) => Partial<WatchSession>) => (draft: Draft) => {
  const session = draft.watches[index] as WatchSession;
  draft.watches[index] = { ...session, ...parts(session) };
};
const events = (index: number, edit: (events: WatchEvent[]) => void) =>
  watch(index, (session) => {
    const copy = [...session.events];
    edit(copy);
    return { events: copy };
  });
const stored = (index: number, one: JournalEntry) => (draft: Draft) => void draft.journal.splice(index, 1, one);
const add = (one: Operation) => (draft: Draft) => void draft.operations.push(one);
const journal =
  (...entries: JournalEntry[]) =>
  (draft: Draft) =>
    void draft.journal.push(...entries);
const all =
  (...changes: ((draft: Draft) => void)[]) =>
  (draft: Draft) => {
    for (const change of changes) change(draft);
  };

const wrong: [title: string, rule: string, change: (draft: Draft) => void][] = [
  [
    'a write answered that is not there',
    'write lost',
    add(operation(20, 120, 130, { verb: 'create', key: other, fields: fields(20) }, ok(item(20, 19, { at: other })))),
  ],
  [
    'an answered write that the next one overwrote as if it had not been',
    'update lost',
    (draft) => {
      set(2, { request: { verb: 'update', key, fields: fields(2, { n: '2' }, 'y'), base: 10 } })(draft);
    },
  ],
  ['a patch of a state before the latest', 'not what was written', stored(2, entry(13, item(3, 0, { m: '3' })))],
  ['an answered deletion that did not take place', 'write lost', set(4, { outcome: { type: 'deleted', uid: 'u9' } })],
  [
    'one deletion answered to two',
    'done twice',
    add(operation(20, 65, 72, { verb: 'delete', key }, { type: 'deleted', uid: 'u1' })),
  ],
  ['a deletion against its precondition', 'not as requested', set(4, { request: { verb: 'delete', key, base: 12 } })],
  ['a deletion answered as not found, which is its own', 'invented', set(4, { outcome: refused(404, 'NotFound') })],
  ['a deletion before it was requested', 'invented', all(set(4, { outcome: unknown, start: 98, end: 99 }))],
  ['a change that nobody made', 'invented', journal(entry(20, item(99)))],
  ['a write to another key', 'invented', stored(5, entry(16, item(6), 'configmaps/t0/c'))],
  ['a write answered as conflict that took place', 'refused but done', set(5, { outcome: refused(409, 'Conflict') })],
  [
    'a write refused with a limit that took place',
    'refused but done',
    set(5, { outcome: refused(429, 'TooManyRequests') }),
  ],
  [
    'a write of unknown outcome that takes place twice',
    'done twice',
    (draft) => {
      journal(entry(20, item(21, 0, { uid: 'u2' })), entry(21, item(3, 0, { uid: 'u2', m: '3' })))(draft);
      add(operation(21, 120, 130, { verb: 'update', key, fields: fields(21), base: 15 }, unknown))(draft);
    },
  ],
  [
    'a write of unknown outcome that takes place before it starts',
    'done before it started',
    set(3, { start: 55, end: 56 }),
  ],
  ['two answered writes in the wrong order', 'done before it started', set(1, { start: 31, end: 32 })],
  [
    'a creation of what is there',
    'created what was there',
    set(2, { request: { verb: 'create', key, fields: fields(2, { n: '2' }, 'y') } }),
  ],
  [
    'a change of what is not there',
    'changed what was not there',
    set(5, { request: { verb: 'patch', key, fields: fields(5) } }),
  ],
  ['a write answered with another version', 'wrong version', set(5, { outcome: ok(item(5, 14, { uid: 'u2' })) })],
  [
    'a write answered with another object',
    'not what is stored',
    set(5, { outcome: ok(item(5, 15, { uid: 'u2', n: '1' })) }),
  ],
  [
    'an update that changes the uid',
    'changed the uid',
    stored(1, entry(12, item(2, 0, { n: '2', tier: 'y', uid: 'u7' }))),
  ],
  ['a creation refused although nothing is there', 'refused without cause', set(7, { start: 72, end: 74 })],
  [
    'an update refused although nobody else wrote',
    'refused without cause',
    set(8, { request: { verb: 'update', key, fields: fields(8), base: 15 } }),
  ],
  ['an update not found although it is there', 'refused without cause', set(8, { outcome: refused(404, 'NotFound') })],
  [
    'a deletion refused although its precondition holds',
    'refused without cause',
    set(9, { request: { verb: 'delete', key, base: 15 } }),
  ],
  ['a resource that is not served', 'unexpected answer', set(12, { outcome: refused(404, '') })],
  ['a request that is not allowed', 'unexpected answer', set(8, { outcome: refused(403, 'Forbidden') })],
  ['a stale read', 'stale read', set(11, { start: 31, outcome: ok(item(1, 11)) })],
  [
    'a stale read of an unknown write that another one has read',
    'stale read',
    all(
      set(11, { start: 41, end: 45, outcome: ok(item(3, 13, { n: '2', m: '3' })) }),
      add(operation(20, 46, 49, { verb: 'get', key }, ok(item(2, 12, { n: '2', tier: 'y' })))),
    ),
  ],
  ['a read of what has been deleted', 'stale read', set(12, { outcome: ok(item(3, 13, { n: '2', m: '3' })) })],
  [
    'a read of what a deletion of unknown outcome has removed, as another read has shown',
    'stale read',
    all(
      set(4, { outcome: unknown, end: 80 }),
      events(0, (list) => void list.splice(3)),
      events(3, (list) => void list.splice(2)),
      set(12, { start: 63, end: 64 }),
      set(14, { start: 65, end: 66, request: { verb: 'get', key } }),
    ),
  ],
  [
    'nothing found of what was never deleted',
    'stale read',
    set(11, { start: 31, end: 35, outcome: refused(404, 'NotFound') }),
  ],
  ['a read of a version that was never there', 'invented', set(13, { outcome: ok(item(1, 9)) })],
  ['a read of another content', 'not what is stored', set(13, { outcome: ok(item(1, 11, { n: '9' })) })],
  ['a read older than the version it asks for', 'stale read', set(14, { request: { verb: 'get', key, version: 14 } })],
  ['a stale list', 'stale read', set(15, { outcome: { type: 'list', version: 14, items: [] } })],
  [
    'a list that goes back behind another list',
    'stale read',
    (draft) => {
      const { outcome } = draft.operations.find(({ id }) => id === 15) as Operation;
      add(operation(20, 96, 97, { verb: 'list', selection }, { ...outcome, version: 16 } as Outcome))(draft);
    },
  ],
  [
    'a list at another version than asked for',
    'wrong version',
    set(16, { outcome: { type: 'list', version: 14, items: [] } }),
  ],
  [
    'a list without one of the objects',
    'list is not the state',
    set(15, { outcome: { type: 'list', version: 17, items: [item(5, 15, { uid: 'u2' })] } }),
  ],
  [
    'a list of states of different times',
    'list is not the state',
    set(15, {
      outcome: {
        type: 'list',
        version: 17,
        items: [item(3, 13, { n: '2', m: '3' }), item(6, 16, { at: other, uid: 'u3' })],
      },
    }),
  ],
  [
    'a list in another order',
    'list is not the state',
    (draft) => {
      const list = draft.operations.find(({ id }) => id === 15) as Operation & { outcome: { items: Item[] } };
      list.outcome.items.reverse();
    },
  ],
  [
    'a version called too old that had not been compacted',
    'not compacted',
    set(17, { request: { verb: 'list', selection, version: 10, isExact: true } }),
  ],
  ['a read without a version called too old', 'unexpected answer', set(12, { outcome: refused(410, 'Expired') })],
  ['a doubled event', 'event repeated', events(0, (list) => void list.splice(2, 0, list[1] as WatchEvent))],
  ['an event missing in the middle', 'event missing', events(0, (list) => void list.splice(1, 1))],
  ['an event missing at the start', 'event missing', events(0, (list) => void list.shift())],
  [
    'an event never told',
    'event missing',
    (draft) => {
      events(0, (list) => void list.pop())(draft);
      draft.reached[0] = { watcher: 'w0', selection, position: 15, due: 16 };
    },
  ],
  ['a bookmark before an event that it covers', 'event missing', events(0, (list) => void list.splice(4, 1))],
  [
    'reordered events',
    'event missing',
    events(0, (list) => void list.splice(1, 2, list[2] as WatchEvent, list[1] as WatchEvent)),
  ],
  ['an event from before the start', 'event out of order', watch(0, () => ({ after: 11 }))],
  [
    'a bookmark that goes back',
    'event out of order',
    events(0, (list) => void list.splice(3, 0, event(55, 'BOOKMARK', 12))),
  ],
  [
    'an event that never happened',
    'event invented',
    events(0, (list) => void list.push(event(99, 'ADDED', 17, item(9, 17)))),
  ],
  [
    'an addition told as a change',
    'wrong type',
    events(0, (list) => void list.splice(0, 1, event(11, 'MODIFIED', 11, item(1, 11)))),
  ],
  [
    'an object that leaves a selection told as a change',
    'wrong type',
    events(1, (list) => {
      list[1] = event(51, 'MODIFIED', 13, item(3, 13, { n: '2', m: '3' }));
    }),
  ],
  [
    'an event with another object',
    'not what is stored',
    events(0, (list) => void list.splice(0, 1, event(11, 'ADDED', 11, item(1, 11, { n: '9' })))),
  ],
  [
    'an event before the write has started',
    'done before it started',
    events(0, (list) => {
      list[1] = { ...(list[1] as WatchEvent), time: 15 };
    }),
  ],
  ['a watch that is refused', 'unexpected answer', watch(1, () => ({ ending: 'wrong' }))],
  ['a watch called too old that was not', 'not compacted', watch(2, () => ({ after: 10 }))],
  ['initial events that are not the state', 'list is not the state', events(3, (list) => void list.shift())],
  ['stale initial events', 'stale read', watch(3, () => ({ start: 72 }))],
];

it('finds nothing in a history in which everything is right', () => {
  expect(check(right)).toEqual([]);
});

it.each(wrong)('finds %s', (_, rule, change) => {
  expect(check(changed(change)).map((violation) => violation.rule)).toContain(rule);
});
