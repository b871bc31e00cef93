import { expect, it } from 'vitest';
import { type ApiObject, namesFor } from '../../meta/index.ts';
import { describeText } from '../stored/describe.ts';
import { formatOf } from '../stored/format.ts';
import { storedText } from '../stored/write.ts';
import { agesAt, rowOf } from './cells.ts';
import { AgeCell, type Column } from './column.ts';

const names = namesFor('k8s.io');
const born = Date.parse('2024-01-01T00:00:00Z');
const format = formatOf('Note', 'v1', { namespaced: true, keyPrefix: '/notes/', fields: [] });
const note = (text: string) => {
  const metadata = { name: 'a', namespace: 'n', uid: 'u', creationTimestamp: '2024-01-01T00:00:00Z' };
  const object = { kind: 'Note', apiVersion: 'v1', metadata, text } as unknown as ApiObject;
  return describeText(format, '/notes/n/a', storedText(format, object), 7);
};

let made = 0;
const column = (cell: Column['cell']): Column => ({ name: 'C', type: 'string', cell });
const text = column((object) => {
  made++;
  return object['text'] ?? '';
});
const age = column(({ metadata }) => new AgeCell(metadata.creationTimestamp));
const shown = (columns: readonly Column[], object: ReturnType<typeof note>, now: number) => {
  const age = agesAt(now);
  const parts = rowOf({ columns, names, format }, object, now).map((part) =>
    typeof part === 'number' ? age(part) : part,
  );
  const row = JSON.parse(Buffer.from(`${parts.join('')}null}`, 'latin1').toString()) as { cells: unknown };
  return row.cells;
};

it('are computed once, with the age at the time of each table', () => {
  made = 0;
  const columns = [
    text,
    age,
    column(() => new AgeCell(undefined)),
    column(() => new AgeCell('2024-01-01', '3 (', ' ago)')),
  ];
  const object = note('"ü"');
  expect(shown(columns, object, born + 5_000)).toEqual(['"ü"', '5s', '<unknown>', '3 (5s ago)']);
  expect(shown(columns, object, born + 180_000)).toEqual(['"ü"', '3m', '<unknown>', '3 (3m ago)']);
  expect(made).toBe(1);
});

it('are computed for each table where one reads the time', () => {
  made = 0;
  const columns = [text, column((_, { now }) => now)];
  const object = note('x');
  expect(shown(columns, object, 1)).toEqual(['x', 1]);
  expect(shown(columns, object, 2)).toEqual(['x', 2]);
  expect(made).toBe(2);
});

it('are computed again for other columns and another state of the object', () => {
  const object = note('x');
  expect(shown([text], object, 0)).toEqual(['x']);
  expect(shown([text, text], object, 0)).toEqual(['x', 'x']);
  expect(shown([text], note('y'), 0)).toEqual(['y']);
});

it('are empty where the cell function fails', () => {
  const broken = column(() => {
    throw new Error('no such field');
  });
  expect(shown([broken, text], note('x'), 0)).toEqual(['', 'x']);
});

it('take no more than their object, or 64 Ki characters', () => {
  const lengths = (size: number): number[] =>
    (shown([text, text, text, text], note('x'.repeat(size)), 0) as string[]).map((cell) => cell.length);
  expect(lengths(10_000)).toEqual([10_000, 10_000, 10_000, 10_000]);
  expect(lengths(30_000)).toEqual([30_000, 30_000, 0, 0]);
  expect(lengths(100_000)).toEqual([100_000, 0, 0, 0]);
  made = 0;
  shown(Array<Column>(1_000).fill(text), note('x'.repeat(100_000)), 0);
  expect(made).toBe(2);
});
