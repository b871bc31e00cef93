import { describe, expect, it } from 'vitest';
import {
  allErrors,
  errorsAfter,
  errorsInSteps,
  errorsLater,
  errorsNow,
  errorsOfEach,
  errorsWith,
  type FieldError,
  fieldError,
  maxErrors,
} from './field-error.ts';
import { atOnce } from './steps.ts';

const many = Array.from({ length: 1_000 }, (_, i) => i);
const odd = (i: number): FieldError[] => (i % 2 === 1 ? [fieldError.required(`list[${i}]`)] : []);
const fields = (errors: readonly FieldError[]) => errors.map(({ field }) => field);

function stepsOf(validation: () => readonly FieldError[]): { errors: readonly FieldError[]; steps: number } {
  const work = allErrors(validation);
  for (let steps = 1; ; steps++) {
    const { done, value } = work.next();
    if (done === true) return { errors: value, steps };
  }
}

it('errors are found in the steps of a check that has its own, in their place among others', () => {
  const check = function* () {
    for (let i = 0; i < 10; i++) yield;
    return [fieldError.required('own')];
  };
  const validation = () => [fieldError.required('before'), ...errorsInSteps(check), fieldError.required('after')];
  const { errors, steps } = stepsOf(validation);
  expect(fields(errors)).toEqual(['before', 'own', 'after']);
  expect(steps).toBeGreaterThan(10);
  expect(fields(errorsNow(validation()))).toEqual(['before', 'own', 'after']);
});

it('errors that depend on those of a check are found in its steps', () => {
  const all = (found: readonly FieldError[]) => [...found, fieldError.invalid('all', found.length, '')];
  const long = stepsOf(() => errorsWith(errorsOfEach(many, odd), all));
  expect(long.errors).toHaveLength(501);
  expect(long.errors.at(-1)?.message).toBe('Invalid value: 500');
  expect(long.steps).toBeGreaterThanOrEqual(10);
  const short = stepsOf(() => errorsWith(odd(1), all));
  expect(fields(short.errors)).toEqual(['list[1]', 'all']);
  expect(short.steps).toBe(1);
});

describe('the errors of the items of a list', () => {
  it('are found at once in a short list', () => {
    const { errors, steps } = stepsOf(() => errorsOfEach([0, 1, 2, 3], odd));
    expect(fields(errors)).toEqual(['list[1]', 'list[3]']);
    expect(steps).toBe(1);
  });

  it('are found in steps in a long one, in their place among others', () => {
    const before = fieldError.required('before');
    const after = fieldError.required('after');
    const { errors, steps } = stepsOf(() => [before, ...errorsOfEach(many, odd), after]);
    expect(fields(errors)).toEqual(['before', ...many.filter((i) => i % 2 === 1).map((i) => `list[${i}]`), 'after']);
    expect(steps).toBeGreaterThanOrEqual(10);
  });

  it('are found in lists within lists', () => {
    const nested = () => errorsOfEach(many.slice(0, 200), () => errorsOfEach(many.slice(0, 200), odd));
    expect(atOnce(allErrors(() => nested().slice()))).toHaveLength(maxErrors);
    const few = () => errorsOfEach(many, () => errorsOfEach(many.slice(0, 200), () => []));
    expect(stepsOf(few).steps).toBeGreaterThan(2_000);
  });

  it('are found in steps in many short lists within short ones, in the order of their places', () => {
    let checked = 0;
    const some = many.slice(0, 100);
    const work = allErrors(() =>
      errorsOfEach(some, (i) =>
        errorsOfEach(some, (j) => {
          checked++;
          return j === 50 ? [fieldError.required(`list[${i}][${j}]`)] : [];
        }),
      ),
    );
    const perStep: number[] = [];
    for (let step = work.next(), before = 0; ; step = work.next(), before = checked) {
      perStep.push(checked - before);
      if (step.done !== true) continue;
      expect(fields(step.value)).toEqual(some.map((i) => `list[${i}][50]`));
      break;
    }
    expect(checked).toBe(10_000);
    expect(Math.max(...perStep)).toBeLessThanOrEqual(600);
  });

  it('leave others alone that are found between two steps', () => {
    const some = many.slice(0, 100);
    const work = allErrors(() => errorsOfEach(many, () => errorsOfEach(some, odd)));
    work.next();
    expect(errorsOfEach(some, () => errorsOfEach(some, odd))).toHaveLength(5_000);
  });

  it('stop at the limit of a validation', () => {
    let checked = 0;
    const { errors } = stepsOf(() =>
      errorsOfEach([...many, ...many, ...many], () => {
        checked++;
        return [fieldError.required('a')];
      }),
    );
    expect(errors).toHaveLength(maxErrors);
    expect(checked).toBe(maxErrors + 1);
  });

  it('are found at once where a validation depends on them', () => {
    expect(errorsNow(errorsOfEach(many, odd))).toHaveLength(500);
    expect(errorsNow(errorsOfEach(many, () => []))).toEqual([]);
  });
});

describe('a check after another one', () => {
  it.each([10, 1_000])('sees what the check of %d items has found out', (count) => {
    const seen = new Set<number>();
    const first = errorsOfEach(many.slice(0, count), (i) => {
      seen.add(i);
      return [];
    });
    const all = () => [...first, ...errorsAfter(first, () => [fieldError.required(String(seen.size))])];
    expect(fields(stepsOf(all).errors)).toEqual([String(count)]);
  });
});

it('the errors of one long check are found in a step of their own, in their place', () => {
  const [before, found, after] = ['before', 'found', 'after'].map((field) => fieldError.required(field)) as [
    FieldError,
    FieldError,
    FieldError,
  ];
  const { errors, steps } = stepsOf(() => [before, ...errorsLater(() => [found]), after]);
  expect(errors).toEqual([before, found, after]);
  expect(steps).toBeGreaterThan(1);
});
