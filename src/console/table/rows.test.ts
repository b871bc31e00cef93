import { describe, expect, it } from 'vitest';
import { ageOf, type Column, rowsOf, shownRows } from './rows.ts';

const columns: Column[] = [
  { name: 'Name', type: 'string', description: '', priority: 0 },
  { name: 'Ready', type: 'string', description: '', priority: 0 },
  { name: 'Age', type: 'string', description: '', priority: 0 },
];
const row = (name: string, ready: string, creationTimestamp: string, labels = {}) => ({
  cells: [name, ready, '1d'],
  object: { metadata: { name, namespace: 'default', creationTimestamp, labels } },
});
const rows = rowsOf({
  rows: [
    row('a', '10/10', '2026-01-03T00:00:00Z', { colour: 'green' }),
    row('b', '9/10', '2026-01-01T00:00:00Z'),
    row('c', '', '2026-01-02T00:00:00Z'),
  ],
});
const names = (text: string, order?: Parameters<typeof shownRows>[3]) =>
  shownRows(rows, columns, text, order).map(({ name }) => name);

describe('shownRows', () => {
  it('has the rows with every word, in their cells or labels', () => {
    expect(names('')).toEqual(['a', 'b', 'c']);
    expect(names('COLOUR=green default/')).toEqual(['a']);
    expect(names('10 b')).toEqual(['b']);
  });

  it('sorts texts that begin with a number by that number, before other texts', () => {
    expect(names('', { by: 1, descending: false })).toEqual(['b', 'a', 'c']);
  });

  it('sorts ages by the time of the creation, not by the text of the cell', () => {
    expect(names('', { by: 2, descending: false })).toEqual(['a', 'c', 'b']);
    expect(names('', { by: 2, descending: true })).toEqual(['b', 'c', 'a']);
  });
});

describe('ageOf', () => {
  it('has the units that kubectl shows', () => {
    const ages = [45, 200, 300, 900, 5 * 3600, 12 * 86_400].map((seconds) => ageOf(1, 1 + seconds * 1000));
    expect(ages).toEqual(['45s', '3m20s', '5m', '15m', '5h', '12d']);
  });
});
