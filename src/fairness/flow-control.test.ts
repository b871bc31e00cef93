import { describe, expect, it } from 'vitest';
import { atOnce, VirtualClock } from '../meta/index.ts';
import type { FlowSchemaSpec } from '../types/flowcontrol-v1.ts';
import { dumpLevels, dumpQueues, dumpRequests } from './dump.ts';
import { FlowControl } from './flow-control.ts';
import type { FlowSeries } from './flow-request.ts';
import type { LevelConfiguration } from './level.ts';
import { oneSeat } from './work.ts';

const count = () => ({ value: 0 });
const ignored = { observe() {} };
const makeSeries = (): FlowSeries => {
  const rejections = count();
  return {
    executingRequests: count(),
    executingSeats: count(),
    waitingRequests: count(),
    waitingSeats: count(),
    dispatched: count(),
    rejected: () => rejections,
    waited: ignored,
    waitedInVain: ignored,
    executed: ignored,
    watchExecuted: ignored,
    queueLength: ignored,
    seats: ignored,
    watches: ignored,
  };
};
const samples = {
  seatUtilization: ignored,
  requestsExecuting: ignored,
  requestsWaiting: ignored,
  seatDemand: ignored,
};

const everything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const schemaTo = (level: string, name: string, matchingPrecedence: number): FlowSchemaSpec => ({
  priorityLevelConfiguration: { name: level },
  matchingPrecedence,
  distinguisherMethod: { type: 'ByUser' },
  rules: [{ subjects: [{ kind: 'User', user: { name } }], ...everything }],
});
const limited = (shares: number, more: object = {}): LevelConfiguration['spec'] => ({
  type: 'Limited',
  limited: { nominalConcurrencyShares: shares, limitResponse: { type: 'Reject' }, ...more },
});
const queuing = { limitResponse: { type: 'Queue', queuing: { queues: 2, handSize: 1, queueLengthLimit: 10 } } };

function makeFlowControl(seats = 10) {
  const clock = new VirtualClock();
  const observed: unknown[] = [];
  const flows: string[] = [];
  const flowControl = new FlowControl({
    clock,
    seats,
    observer: {
      flow: (schema, level) => {
        flows.push(`${schema} in ${level}`);
        return makeSeries();
      },
      level: () => samples,
      kind: (...of) => ({ observe: (value, nanoseconds) => void observed.push([...of, value, nanoseconds]) }),
    },
    mandatory: {
      schemas: new Map([['catch-all', schemaTo('catch-all', '*', 10_000)]]),
      levels: new Map([['catch-all', limited(5)]]),
    },
  });
  const of = (name: string) => ({ user: { name, groups: [] }, verb: 'get', resource: undefined, path: '/version' });
  const enter = (name: string) => {
    const request = flowControl.classify(of(name));
    request.take(oneSeat);
    return request;
  };
  const levelOf = (name: string) => flowControl.classify(of(name)).level.name;
  return { clock, flowControl, enter, levelOf, observed, flows };
}

describe('flow control', () => {
  it('has the mandatory objects where they are not stored', () => {
    const { flowControl, levelOf } = makeFlowControl();
    expect([flowControl.levels.map(({ name }) => name), levelOf('jane')]).toEqual([['catch-all'], 'catch-all']);
  });

  it('skips a schema whose level does not exist, and ends a level that is deleted once it has no requests', () => {
    const { flowControl, enter, levelOf } = makeFlowControl();
    flowControl.setSchema('own', { uid: 'u', spec: schemaTo('own', 'jane', 100) });
    expect(levelOf('jane')).toBe('catch-all');
    flowControl.setLevel('own', { uid: 'u', spec: limited(5) });
    expect([levelOf('jane'), levelOf('joe')]).toEqual(['own', 'catch-all']);
    const request = enter('jane');
    flowControl.setLevel('own', undefined);
    expect(levelOf('jane')).toBe('catch-all');
    expect(atOnce(dumpLevels(flowControl.levels))).toMatch(/^own, +0, +false, +true, +0, +1,/m);
    request.release();
    expect(flowControl.levels.map(({ name }) => name)).toEqual(['catch-all']);
  });

  it('finds the series of a schema once in each level, however often objects change', () => {
    const { flowControl, levelOf, flows } = makeFlowControl();
    for (const name of ['a', 'b', 'c']) {
      flowControl.setSchema(name, { uid: name, spec: schemaTo('catch-all', name, 100) });
      levelOf(name);
    }
    flowControl.setLevel('own', { uid: 'u', spec: limited(5) });
    flowControl.setSchema('b', { uid: 'b', spec: schemaTo('own', 'b', 100) });
    expect([levelOf('b'), levelOf('c')]).toEqual(['own', 'catch-all']);
    expect(flows.filter((flow) => !flow.startsWith('catch-all'))).toEqual([
      'a in catch-all',
      'b in catch-all',
      'c in catch-all',
      'b in own',
    ]);
  });

  it('lends seats of levels that need few to those that need more, and takes them back', () => {
    const { clock, flowControl, enter } = makeFlowControl(10);
    flowControl.setSchema('busy', { uid: 'u', spec: schemaTo('busy', 'jane', 100) });
    flowControl.setLevel('busy', { uid: 'u', spec: limited(5, queuing) });
    flowControl.setLevel('idle', { uid: 'u', spec: limited(10, { lendablePercent: 100 }) });
    const seatsOf = (name: string) => flowControl.levels.find((level) => level.name === name)?.queueSet.state.limit;
    expect([seatsOf('busy'), seatsOf('idle')]).toEqual([3, 5]);
    const requests = Array.from({ length: 8 }, () => enter('jane'));
    expect(requests.filter(({ started }) => started !== undefined)).toHaveLength(3);
    clock.set(clock.now() + 10_000);
    flowControl.adjust();
    expect(seatsOf('busy')).toBeGreaterThanOrEqual(6);
    expect(requests.filter(({ started }) => started !== undefined).length).toBe(seatsOf('busy'));
    expect(seatsOf('idle')).toBe(0);
  });

  it('shows who waits and who executes', () => {
    const { flowControl, enter } = makeFlowControl(3);
    flowControl.setSchema('own', { uid: 'u', spec: schemaTo('own', 'jane', 100) });
    flowControl.setLevel('own', { uid: 'u', spec: limited(5, queuing) });
    for (let i = 0; i < 3; i++) enter('jane');
    const { levels, clock } = flowControl;
    expect(
      atOnce(dumpRequests(levels, clock, true))
        .split('\n')
        .slice(1, 4),
    ).toEqual([
      expect.stringMatching(
        /^own, +own, +[01], +0, +jane, +2026-01-01T00:00:00.000000000Z, 1, .* jane, +get, +\/version, /,
      ),
      expect.stringMatching(/^own, +own, +[01], +-1, +jane, /),
      expect.stringMatching(/^own, +own, +[01], +-1, +jane, /),
    ]);
    expect(atOnce(dumpQueues(levels)).trim().split('\n')).toHaveLength(3);
  });

  it('shows ten thousand requests in steps of a thousand cells, as they are at the beginning', () => {
    const { flowControl, enter } = makeFlowControl(20_000);
    const all = Array.from({ length: 10_000 }, () => enter('jane'));
    const { levels, clock } = flowControl;
    const dump = dumpRequests(levels, clock, true);
    let steps = 0;
    let result = dump.next();
    for (const request of all) request.release();
    for (; result.done !== true; result = dump.next()) steps++;
    expect(result.value.trim().split('\n')).toHaveLength(10_001);
    // Three passes over rows of 18 cells; a step ends with a row.
    expect(steps).toBeGreaterThanOrEqual((3 * 10_000 * 18) / (1_000 + 18));
  });

  it('shows the beginning of a long name', () => {
    const { flowControl, enter } = makeFlowControl();
    enter('a'.repeat(100_000));
    const { levels, clock } = flowControl;
    expect(atOnce(dumpRequests(levels, clock, true)).length).toBeLessThan(5_000);
  });

  it('observes how many requests of each kind wait and execute, as a fraction of all seats', () => {
    const { flowControl, clock, enter, observed } = makeFlowControl(4);
    flowControl.setSchema('own', { uid: 'u', spec: schemaTo('own', 'jane', 100) });
    flowControl.setLevel('own', { uid: 'u', spec: limited(5, queuing) });
    const executing = [enter('jane'), enter('jane')];
    enter('jane');
    clock.set(clock.now() + 1_000);
    for (const request of executing) request.release();
    expect(observed).toEqual([
      ['readOnly', 'waiting', 1 / 4, 1e9],
      ['readOnly', 'executing', 2 / 4, 1e9],
    ]);
  });

  it('escapes line feeds of requests in its tables', () => {
    const { flowControl, enter } = makeFlowControl();
    enter('a\nb');
    const { levels, clock } = flowControl;
    expect(
      atOnce(dumpRequests(levels, clock, true))
        .trim()
        .split('\n'),
    ).toHaveLength(2);
  });
});
