import { expect, it } from 'vitest';
import { isBase64, isDate, isDateTime, isUuid } from './string-formats.ts';

it.each([
  ['2024-02-29', true],
  ['2023-02-29', false],
  ['0000-02-29', true],
  ['0099-12-31', true],
  ['2024-00-10', false],
  ['2024-13-10', false],
  ['2024-06-31', false],
  ['2024-6-3', false],
])('isDate(%j) is %s', (text, valid) => {
  expect(isDate(text)).toBe(valid);
});

it.each([
  ['2024-02-29T23:59:59Z', true],
  ['2024-02-29t23:59:59.123+01:00', true],
  ['2024-02-29T24:00:00Z', false],
  ['2024-02-29T23:59:59', false],
  ['2023-02-29T00:00:00Z', false],
  ['2024-02-29T23:59:59ZTother', true],
  ['2024-02-29T23:59:59\n1Z', false],
])('isDateTime(%j) is %s', (text, valid) => {
  expect(isDateTime(text)).toBe(valid);
});

it.each([
  ['', false],
  ['YQ==', true],
  ['YWI=', true],
  ['YWJj', true],
  ['YQ=', false],
  ['Y===', false],
  ['Y-_j', false],
])('isBase64(%j) is %s', (text, valid) => {
  expect(isBase64(text)).toBe(valid);
});

it('takes UUIDs with and without hyphens', () => {
  expect(isUuid('00000000-0000-4000-8000-00000000000A')).toBe(true);
  expect(isUuid('0000000000004000800000000000000a')).toBe(true);
  expect(isUuid('00000000-0000-4000-8000-00000000000')).toBe(false);
});
