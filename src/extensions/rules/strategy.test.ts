import { describe, expect, it } from 'vitest';
import { type ApiObject, atOnce, type FieldError, fieldError, type JsonObject, namesFor } from '../../meta/index.ts';
import type { WriteContext } from '../../registry/index.ts';
import { structuralOf } from '../structural.ts';
import { validateByRules } from './strategy.ts';

const names = namesFor('k8s.io');
const even = { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self % 2 == 0', message: 'must be even' }] };
const schema = (spec: JsonObject) => structuralOf({ type: 'object', properties: { spec } }, names);
const object = (spec: number) => ({ metadata: { name: 'n' }, spec }) as unknown as ApiObject;

function run(now: number, old?: number, { ratcheting = true, found = [] as FieldError[] } = {}) {
  const warnings = new Set<string>();
  const validate = validateByRules(schema(even), ratcheting);
  const context = { warnings } as unknown as WriteContext;
  const steps = validate?.(object(now), old === undefined ? undefined : object(old), context, found);
  return {
    errors: steps && atOnce(steps).map(({ field, message }) => `${field}: ${message}`),
    warnings: [...warnings],
  };
}

const odd = 'spec: Invalid value: 3: must be even';

describe('validation by rules', () => {
  it('is not needed for a schema without rules', () => {
    expect(validateByRules(schema({ type: 'integer' }), true)).toBeUndefined();
  });

  it('refuses what breaks a rule, on create and update', () => {
    expect(run(2)).toEqual({ errors: [], warnings: [] });
    expect(run(3)).toEqual({ errors: [odd], warnings: [] });
    expect(run(3, 1)).toEqual({ errors: [odd], warnings: [] });
  });

  it('warns of what an update leaves broken', () => {
    expect(run(3, 3)).toEqual({ errors: [], warnings: [odd] });
    expect(run(3, 3, { ratcheting: false })).toEqual({ errors: [odd], warnings: [] });
  });

  it('does not run when other errors leave nothing to rely on', () => {
    const { errors } = run(3, undefined, { found: [fieldError.required('a')] });
    expect(errors).toHaveLength(1);
    expect(errors?.[0]).toMatch(/^<nil>: .* some validation rules were not checked/);
  });
});
