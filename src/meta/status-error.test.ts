import { describe, expect, it } from 'vitest';
import { fieldError } from './field-error.ts';
import { boundedCauses, StatusError, statusError } from './status-error.ts';

const kind = { group: 'apps', kind: 'Deployment' };

describe('invalid', () => {
  it('has each error as a cause, and once in the message', () => {
    const error = statusError.invalid(kind, 'a', [fieldError.required('x'), fieldError.required('x')]);
    expect(error.message).toBe('Deployment.apps "a" is invalid: x: Required value');
    expect(error.details?.causes).toEqual(
      Array(2).fill({ reason: 'FieldValueRequired', message: 'Required value', field: 'x' }),
    );
  });

  it('has as many errors as fit, and the number of the others', () => {
    const errors = Array.from({ length: 10_000 }, (_, i) =>
      fieldError.invalid(`spec.list[${i}]`, 'x'.repeat(500), 'y'),
    );
    const { message, details } = statusError.invalid(kind, 'a', errors);
    const causes = details?.causes ?? [];
    const shown = causes.length - 1;
    expect(shown).toBeGreaterThan(100);
    expect(causes.at(-1)).toEqual({ message: `and ${10_000 - shown} more` });
    expect(message.endsWith(`, and ${10_000 - shown} more]`)).toBe(true);
    expect(message.length).toBeLessThan(300_000);
    expect(JSON.stringify(causes).length).toBeLessThan(400_000);
  });

  it('shortens long names and paths', () => {
    const long = 'x'.repeat(3e6);
    const errors = Array.from({ length: 1_000 }, () => fieldError.required(`spec.limits[${long}]`));
    const status = statusError.invalid(kind, long, errors).toStatus();
    expect(JSON.stringify(status).length).toBeLessThan(700_000);
    expect(status.details?.causes?.[0]?.field).toBe(`spec.limits[${long}`.slice(0, 10_240).concat('...'));
    expect(status.details?.name).toBe(`${long.slice(0, 500)}...`);
  });
});

describe('boundedCauses', () => {
  it('returns as many causes as fit', () => {
    let taken = 0;
    function* causes() {
      for (; taken < 1e6; taken++) yield { field: `.data.k${taken}`, message: 'conflict with "a"' };
    }
    const bounded = boundedCauses(causes(), 1e6);
    expect([taken, bounded.length]).toEqual([500, 501]);
    expect(bounded.at(-1)).toEqual({ message: `and ${1e6 - taken} more` });
  });

  it('returns at least one, shortened when it is too long', () => {
    const [first, ...rest] = boundedCauses([{ message: 'x'.repeat(3e6) }], 1);
    expect(first?.message?.length).toBeLessThan(300_000);
    expect(rest).toEqual([]);
  });
});

describe('the message of a failure', () => {
  it('is shortened when it is too long', () => {
    const error = new StatusError(400, 'BadRequest', 'x'.repeat(3e6));
    expect(error.message.length).toBeLessThan(300_000);
    expect(error.message.endsWith('...')).toBe(true);
  });
});
