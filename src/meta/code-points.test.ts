import { expect, it } from 'vitest';
import { countCodePoints } from './code-points.ts';

it.each([
  ['', 0],
  ['abc', 3],
  ['é', 1],
  ['😀', 1],
  ['a😀b😀', 4],
  ['\ud83d', 1],
  ['\ude00\ud83d', 2],
  ['\ud83d\ud83d\ude00\ude00', 3],
])('counts the code points of %j, lone surrogates included', (text, count) => {
  expect(countCodePoints(text)).toBe(count);
  expect(Array.from(text)).toHaveLength(count);
});
