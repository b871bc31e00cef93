import { expect, it } from 'vitest';
import type { ApiObject } from '../../meta/index.ts';
import { formatOf, selectFields } from './format.ts';

it('selectable fields may have any name', () => {
  const fields = ['__proto__', 'constructor'].map((path) => ({ path, value: () => `value of ${path}` }));
  const format = formatOf('Thing', 'example.com/v1', { namespaced: true, keyPrefix: '/things.example.com/', fields });
  expect(Object.entries(selectFields(format, {} as ApiObject))).toEqual([
    ['__proto__', 'value of __proto__'],
    ['constructor', 'value of constructor'],
  ]);
});
