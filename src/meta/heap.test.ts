import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Heap } from './heap.ts';

it('a heap returns its items in order, whatever the order in which they are added and taken', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer({ min: 0, max: 20 }))), (actions) => {
      const heap = new Heap<number>((a, b) => a < b);
      let model: number[] = [];
      for (const action of actions) {
        if (action === null) {
          expect(heap.take()).toBe(model[0]);
          model = model.slice(1);
        } else {
          heap.add(action);
          model = [...model, action].sort((a, b) => a - b);
        }
        expect(heap.size).toBe(model.length);
      }
    }),
  );
});
