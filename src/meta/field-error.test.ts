import { describe, expect, it } from 'vitest';
import { boundedFindings, fieldError } from './field-error.ts';

describe('boundedFindings', () => {
  const each = (count: number) => Array.from({ length: count }, (_, i) => fieldError.required(`f[${i}]`));

  it('gives back what is found', () => {
    const found = each(3);
    expect(boundedFindings(() => found)).toBe(found);
  });

  it('ends a validation that has found a thousand, and makes no more', () => {
    let made = 0;
    const found = boundedFindings(() =>
      Array.from({ length: 100_000 }, (_, i) => {
        made++;
        return fieldError.required(`f[${i}]`);
      }),
    );
    expect(found).toHaveLength(1000);
    expect(found[999]?.field).toBe('f[999]');
    expect(made).toBe(1000);
  });

  it('ends one whose findings show a lot of text', () => {
    const list = Array.from({ length: 50_000 }, (_, i) => `entry ${i}`);
    const found = boundedFindings(() => list.map(() => fieldError.invalid('list', list, 'no')));
    expect(found).toHaveLength(2);
  });

  it('counts those of validations within it together', () => {
    const found = boundedFindings(() => [...boundedFindings(() => each(600)), ...boundedFindings(() => each(600))]);
    expect(found).toHaveLength(1000);
  });

  it('counts anew for the next one, also after one that fails', () => {
    const failing = () =>
      boundedFindings(() => {
        each(900);
        throw new Error('broken');
      });
    expect(failing).toThrow('broken');
    expect(boundedFindings(() => each(900))).toHaveLength(900);
    expect(each(2000)).toHaveLength(2000);
  });
});
