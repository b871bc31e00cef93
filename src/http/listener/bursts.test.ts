import { describe, expect, it } from 'vitest';
import { Bursts, mostInTurn, mostWoken } from './bursts.ts';
import type { LoopTurns } from './loop-turns.ts';

/** Bursts in turns of an event loop that is moved by hand, and connections that can tell whether they rest. */
function start() {
  const loop = { current: 0 };
  const deferred: (() => void)[] = [];
  const bursts = new Bursts(loop as LoopTurns, (callback) => void deferred.push(callback));
  const connect = (user: string) => {
    const connection = {
      resting: false,
      rest() {
        connection.resting = true;
      },
      wake() {
        connection.resting = false;
      },
    };
    bursts.add(user, connection);
    return connection;
  };
  const turn = () => {
    loop.current++;
    for (const callback of deferred.splice(0)) callback();
  };
  return { bursts, connect, turn, deferred };
}

describe('a burst of requests', () => {
  it('lets all connections of its user rest until the next turn of the event loop, and no others', () => {
    const { bursts, connect, turn } = start();
    const [one, two, other] = [connect('a'), connect('a'), connect('b')];
    for (let i = 1; i < mostInTurn; i++) bursts.arrived('a', i % 2 === 0 ? one : two);
    expect([one, two, other].map(({ resting }) => resting)).toEqual([false, false, false]);
    bursts.arrived('a', one);
    expect([one, two, other].map(({ resting }) => resting)).toEqual([true, true, false]);
    turn();
    expect([one, two, other].map(({ resting }) => resting)).toEqual([false, false, false]);
  });

  it('is one of a single turn', () => {
    const { bursts, connect, turn, deferred } = start();
    const one = connect('a');
    for (let i = 0; i < 4 * mostInTurn; i++) {
      bursts.arrived('a', one);
      if (i % (mostInTurn - 1) === 0) turn();
    }
    expect(one.resting).toBe(false);
    expect(deferred).toEqual([]);
  });

  it('over many connections wakes a part of them in each turn: first those that have not filled one', () => {
    const { bursts, connect, turn } = start();
    const all = Array.from({ length: 2 * mostWoken }, () => connect('a'));
    const [first] = all;
    if (first === undefined) throw new Error('there is no connection');
    for (let i = 0; i < mostInTurn; i++) bursts.arrived('a', first);
    expect(all.every(({ resting }) => resting)).toBe(true);
    turn();
    expect(all.filter(({ resting }) => resting)).toHaveLength(mostWoken);
    expect(first.resting).toBe(true);
    turn();
    expect(all.some(({ resting }) => resting)).toBe(false);
  });

  it('does not wait for the connections of another user that rest', () => {
    const { bursts, connect, turn } = start();
    const many = Array.from({ length: 10 * mostWoken }, () => connect('a'));
    const one = connect('b');
    for (let i = 0; i < mostInTurn; i++) bursts.arrived('a', many[i] as (typeof many)[number]);
    for (let i = 0; i < mostInTurn; i++) bursts.arrived('b', one);
    turn();
    expect(one.resting).toBe(false);
    expect(many.filter(({ resting }) => !resting)).toHaveLength(mostWoken / 2);
  });

  it('says nothing of a connection that has ended', () => {
    const { bursts, connect } = start();
    const [one, two] = [connect('a'), connect('a')];
    bursts.delete('a', two);
    for (let i = 0; i < mostInTurn; i++) bursts.arrived('a', one);
    expect(two.resting).toBe(false);
    bursts.delete('a', one);
    expect(() => bursts.arrived('a', one)).not.toThrow();
  });
});
