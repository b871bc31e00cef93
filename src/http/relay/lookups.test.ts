import { describe, expect, it } from 'vitest';
import { connectionLookup, Lookups } from './lookups.ts';

/** Lookups whose answers the test gives, by name. */
function heldLookups(most: number) {
  const begun: string[] = [];
  const pending = new Map<string, (error: Error | null, address: string) => void>();
  const lookups = new Lookups(most, (name, _, done) => {
    begun.push(name);
    pending.set(name, (error, address) => done(error, error === null ? [{ address, family: 4 }] : undefined));
  });
  const answer = (name: string, address = '10.0.0.1') => pending.get(name)?.(null, address);
  const fail = (name: string) => pending.get(name)?.(new Error('no such host'), '');
  return { lookups, begun, answer, fail };
}

describe('lookups of names', () => {
  it('run a limited number at a time, in the order of the requests', () => {
    const { lookups, begun, answer, fail } = heldLookups(2);
    for (const name of ['a', 'b', 'c', 'd']) lookups.find(name, () => {});
    expect(begun).toEqual(['a', 'b']);
    answer('b');
    expect(begun).toEqual(['a', 'b', 'c']);
    fail('a');
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
  });

  it('are shared by all who wait for the same name, and begin again for those who ask later', () => {
    const { lookups, begun, answer } = heldLookups(1);
    const seen: string[] = [];
    const find = (who: string) =>
      lookups.find('a', (_, addresses) => seen.push(`${who} ${addresses.map(({ address }) => address).join()}`));
    find('one');
    find('another');
    answer('a');
    find('late');
    expect(begun).toEqual(['a', 'a']);
    answer('a', '10.0.0.2');
    expect(seen).toEqual(['one 10.0.0.1', 'another 10.0.0.1', 'late 10.0.0.2']);
  });

  it('do not begin for a connection that was closed while it waited', () => {
    const { lookups, begun, answer } = heldLookups(1);
    const seen: string[] = [];
    lookups.find('a', () => seen.push('a'));
    const leave = lookups.find('b', () => seen.push('b'));
    lookups.find('c', () => seen.push('c'));
    leave();
    answer('a');
    answer('c');
    expect(begun).toEqual(['a', 'c']);
    expect(seen).toEqual(['a', 'c']);
  });

  it('answer a connection in the form that it asks for', () => {
    const { lookups, answer, fail } = heldLookups(1);
    const seen: unknown[] = [];
    const ask = (all: boolean) =>
      connectionLookup(lookups).lookup('a', { all }, (error, addresses, family) =>
        seen.push([error?.message, addresses, family]),
      );
    ask(true);
    ask(false);
    answer('a');
    ask(true);
    fail('a');
    expect(seen).toEqual([
      [undefined, [{ address: '10.0.0.1', family: 4 }], undefined],
      [undefined, '10.0.0.1', 4],
      ['no such host', '', undefined],
    ]);
  });
});
