import { describe, expect, it } from 'vitest';
import { stateOf, Zone } from './zones.ts';

describe('failure zones', () => {
  it.each([
    [0, 0, 'Normal'],
    [1, 0, 'Normal'],
    [0, 1, 'FullDisruption'],
    [1, 2, 'Normal'],
    [2, 3, 'PartialDisruption'],
    [3, 3, 'Normal'],
    [9, 11, 'PartialDisruption'],
    [10, 11, 'Normal'],
  ])('with %i nodes that are ready and %i that are not is in the state %s', (ready, notReady, state) => {
    expect(stateOf(ready, notReady)).toBe(state);
  });

  const waiting = (...names: string[]) => {
    const zone = new Zone();
    for (const name of names) zone.waiting.add(name);
    return zone;
  };
  it('let one node be tainted at once, and another every ten seconds', () => {
    const zone = waiting('a', 'b');
    expect(zone.delay(1_000)).toBe(0);
    zone.spend(1_000);
    expect([zone.delay(1_000), zone.delay(8_000), zone.delay(11_000)]).toEqual([10_000, 3_000, 0]);
    zone.waiting.clear();
    expect(zone.delay(1_000)).toBeUndefined();
  });

  it.each([
    ['none when it is small', 50, undefined],
    ['one every hundred seconds when it is large', 51, 100_000],
  ])('let of a partially disrupted zone %s', (_, size, delay) => {
    const zone = waiting('a', 'b');
    zone.spend(0);
    zone.enter('PartialDisruption', size, 0);
    expect(zone.delay(0)).toBe(delay);
    zone.enter('Normal', size, 5_000);
    expect(zone.delay(5_000)).toBe(10_000);
  });

  it('let none be tainted while no node of any zone is ready', () => {
    const zone = waiting('a');
    zone.enter('FullDisruption', 1, 0, { halt: true });
    expect(zone.delay(1_000_000)).toBeUndefined();
    zone.enter('FullDisruption', 1, 1_000_000);
    expect(zone.delay(1_000_000)).toBe(10_000);
  });
});
