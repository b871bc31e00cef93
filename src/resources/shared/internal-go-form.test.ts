import { expect, test } from 'vitest';
import { PodSpec } from '../../types/core-v1.ts';
import { internalDiff } from './internal-go-form.ts';

test('the difference of two values shows their fields', () => {
  expect(internalDiff({ nodeName: 'a' }, { nodeName: 'b' }, PodSpec)).toContain(
    '-  "NodeName": "a",\n+  "NodeName": "b",\n'.replaceAll('  "', ' "'),
  );
});

test('the rest of a value with more lines than are compared is not printed', () => {
  let printed = 0;
  const volume = {
    get name() {
      printed++;
      return 'v';
    },
  };
  expect(internalDiff({ volumes: Array(20_000).fill(volume) }, {}, PodSpec)).toBe('');
  expect(printed).toBeLessThan(4_000);
});
