import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../meta/index.ts';
import type { QueuedRequest } from './queue.ts';
import { type LimitResponse, QueueSet } from './queue-set.ts';
import { type LevelSamples, LevelUsage } from './usage.ts';
import { oneSeat, type Work } from './work.ts';

const ignored = { observe() {} };
const samples: LevelSamples = {
  seatUtilization: ignored,
  requestsExecuting: ignored,
  requestsWaiting: ignored,
  seatDemand: ignored,
};
const queuing = { queues: 16, handSize: 4, queueLengthLimit: 50 };
const wide = (initialSeats: number): Work => ({ initialSeats, finalSeats: 0, extraMs: 0 });

const makeRequest = (flow: string, work: Work): QueuedRequest => ({
  schema: { name: 'schema', distinguisher: 'ByUser' },
  attributes: { user: { name: flow, groups: [] }, verb: 'get', resource: undefined, path: '/' },
  work,
  seats: Math.max(work.initialSeats, work.finalSeats),
  distinguisher: '',
  entered: 0,
  started: undefined,
  queue: undefined,
  earliestR: 0,
  place: 0,
  onStart() {},
});

function makeQueueSet(response: LimitResponse, limit: number) {
  const clock = new VirtualClock(0);
  const queueSet = new QueueSet(clock, new LevelUsage(samples, 0), { response, limit });
  const enter = (flow: string, work = oneSeat) => {
    const request = makeRequest(flow, work);
    return { request, refusal: queueSet.enter(request) };
  };
  return { clock, queueSet, enter };
}

describe('a queue set', () => {
  it('starts requests while there are seats, and the next one when a seat is free', () => {
    const { queueSet, enter } = makeQueueSet(queuing, 1);
    const [first, second] = [enter('a').request, enter('b').request];
    const started: string[] = [];
    second.onStart = () => void started.push('second');
    expect([first.started, second.started, queueSet.state.waiting]).toEqual([0, undefined, 1]);
    queueSet.finish(first);
    expect([started, second.started, queueSet.state.waiting, queueSet.state.seatsInUse]).toEqual([['second'], 0, 0, 1]);
    queueSet.finish(second);
    expect(queueSet.idle).toBe(true);
  });

  it('refuses a request whose queue is full', () => {
    const { enter } = makeQueueSet({ queues: 1, handSize: 1, queueLengthLimit: 2 }, 1);
    expect(Array.from({ length: 4 }, () => enter('a').refusal)).toEqual([
      undefined,
      undefined,
      undefined,
      'queue-full',
    ]);
  });

  it('refuses what does not fit where nothing waits, but for one request of a level without seats', () => {
    const { enter } = makeQueueSet('reject', 1);
    expect([enter('a').refusal, enter('b').refusal]).toEqual([undefined, 'concurrency-limit']);
    const none = makeQueueSet('reject', 0);
    expect([none.enter('a').refusal, none.enter('a').refusal]).toEqual([undefined, 'concurrency-limit']);
  });

  it('starts every request of an exempt level', () => {
    const { enter } = makeQueueSet('exempt', 0);
    expect(Array.from({ length: 9 }, () => enter('a').request.started)).toEqual(Array.from({ length: 9 }, () => 0));
  });

  it('starts nothing from queues without seats, until there are some', () => {
    const { queueSet, enter } = makeQueueSet(queuing, 0);
    const { request } = enter('a');
    expect(request.started).toBeUndefined();
    queueSet.resize(1);
    expect(request.started).toBe(0);
  });

  it('lets a user with one request pass the many of another', () => {
    const { clock, queueSet, enter } = makeQueueSet({ queues: 1024, handSize: 1, queueLengthLimit: 50 }, 1);
    for (let i = 0; i < 20; i++) enter('noisy');
    const finishFirst = () => {
      clock.set(clock.now() + 10);
      queueSet.finish(firstOf(queueSet) as QueuedRequest);
    };
    for (let i = 0; i < 5; i++) finishFirst();
    const { request } = enter('quiet');
    finishFirst();
    expect(request.started).toBe(clock.monotonic());
    expect(queueSet.state.waiting).toBe(14);
  });

  it('starts the request of an idle user on an extra seat, one for every ten of the level', () => {
    const { queueSet, enter } = makeQueueSet({ queues: 1024, handSize: 1, queueLengthLimit: 50 }, 20);
    for (let i = 0; i < 30; i++) enter('noisy');
    expect([queueSet.state.seatsInUse, queueSet.state.waiting]).toEqual([20, 10]);
    const started = (flow: string, work = oneSeat) => enter(flow, work).request.started !== undefined;
    expect([started('wide', wide(2)), started('first'), started('first'), started('second'), started('third')]).toEqual(
      [false, true, false, true, false],
    );
    expect(queueSet.state.seatsInUse).toBe(22);
  });

  it('keeps the final seats of a request until the events of its change are sent', () => {
    const { clock, queueSet, enter } = makeQueueSet(queuing, 4);
    const { request } = enter('a', { initialSeats: 1, finalSeats: 3, extraMs: 25 });
    expect(queueSet.state.seatsInUse).toBe(3);
    queueSet.finish(request);
    const waiting = enter('b', wide(2)).request;
    expect(waiting.started).toBeUndefined();
    clock.set(clock.now() + 25);
    expect(waiting.started).toBe(25);
  });

  it('counts each number of seats for as long as it lasted, and in the highest demand even without time', () => {
    const clock = new VirtualClock(0);
    const usage = new LevelUsage(samples, 0);
    const queueSet = new QueueSet(clock, usage, { response: 'exempt', limit: 4 });
    const [first, second] = [oneSeat, wide(2)].map((work) => makeRequest('a', work));
    queueSet.enter(first!);
    queueSet.enter(second!);
    queueSet.finish(second!);
    clock.set(10);
    queueSet.finish(first!);
    clock.set(20);
    expect(usage.endPeriod(queueSet.advance())).toMatchObject({ average: 0.5, highest: 3 });
    clock.set(30);
    expect(usage.endPeriod(queueSet.advance())).toMatchObject({ average: 0, highest: 0 });
  });

  it('does not let narrow requests overtake a wide one that is due', () => {
    const { queueSet, enter } = makeQueueSet({ queues: 1, handSize: 1, queueLengthLimit: 50 }, 4);
    const running = enter('a', wide(3)).request;
    const waiting = enter('a', wide(4)).request;
    const narrow = enter('a').request;
    expect([waiting.started, narrow.started]).toEqual([undefined, undefined]);
    queueSet.finish(running);
    expect([waiting.started, narrow.started]).toEqual([0, undefined]);
  });

  type Step = readonly ['enter', flow: number, seats: number] | readonly ['finish' | 'cancel' | 'pass', number];
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.tuple(fc.constant('enter' as const), fc.nat(5), fc.integer({ min: 1, max: 6 })),
    fc.tuple(fc.constantFrom('finish' as const, 'cancel' as const, 'pass' as const), fc.nat(20)),
  );

  it('loses no seat, exceeds its limit for no request that fits, and keeps the order of each queue', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 80 }), (limit, steps) => {
        const { clock, queueSet, enter } = makeQueueSet({ queues: 4, handSize: 2, queueLengthLimit: 5 }, limit);
        const waiting: QueuedRequest[] = [];
        const check = () => {
          const executing = [...queueSet.state.executing];
          const seats = executing.reduce((all, request) => all + request.seats, 0);
          expect(queueSet.state.seatsInUse).toBe(seats);
          expect(seats <= limit || executing.length === 1).toBe(true);
          for (const queue of queueSet.state.queues.values()) {
            const left = waiting.filter((request) => request.queue === queue && request.started === undefined);
            expect(queue.waiting).toEqual(left);
          }
          expect(queueSet.state.waiting).toBe(waiting.filter(({ started }) => started === undefined).length);
        };
        for (const [what, which, seats = 1] of steps) {
          const executing = [...queueSet.state.executing];
          const still = waiting.filter(({ started }) => started === undefined);
          if (what === 'enter') {
            const { request, refusal } = enter(`flow-${which}`, wide(seats));
            if (refusal === undefined) waiting.push(request);
          } else if (what === 'pass') clock.set(clock.now() + which);
          else if (what === 'finish' && executing.length > 0) queueSet.finish(executing[which % executing.length]!);
          else if (what === 'cancel' && still.length > 0) {
            const cancelled = still[which % still.length]!;
            queueSet.cancel(cancelled);
            waiting.splice(waiting.indexOf(cancelled), 1);
          }
          check();
        }
        for (let request = firstOf(queueSet); request !== undefined; request = firstOf(queueSet))
          queueSet.finish(request);
        expect([queueSet.idle, queueSet.state.seatsInUse, queueSet.state.waiting]).toEqual([true, 0, 0]);
      }),
    );
  });

  it('gives flows that always wait the same seats over time, however wide their requests are', () => {
    const widths = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(widths, fc.integer({ min: 4, max: 6 }), (seats, limit) => {
        const { clock, queueSet, enter } = makeQueueSet({ queues: 1024, handSize: 1, queueLengthLimit: 50 }, limit);
        const served = seats.map(() => 0);
        const add = (flow: number) => void enter(`flow-${flow}`, wide(seats[flow]!));
        seats.forEach((_, flow) => {
          for (let i = 0; i < 40; i++) add(flow);
        });
        const queuesOfFlows = new Set([...queueSet.state.queues.keys()]);
        fc.pre(queuesOfFlows.size === seats.length);
        for (let round = 0; round < 400; round++) {
          clock.set(clock.now() + 10);
          for (const request of [...queueSet.state.executing]) {
            const flow = Number(request.distinguisher.slice('flow-'.length));
            served[flow]! += request.seats;
            queueSet.finish(request);
            add(flow);
          }
        }
        const [least, most] = [Math.min(...served), Math.max(...served)];
        // Of the last round, each flow may have what fits at the same time.
        expect(most - least).toBeLessThanOrEqual(2 * Math.max(...seats) + limit);
      }),
      { numRuns: 30 },
    );
  });
});

const firstOf = ({ state: { executing } }: QueueSet): QueuedRequest | undefined => executing[0];
