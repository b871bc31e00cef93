import { describe, expect, it } from 'vitest';
import { type ApiObject, atOnce, type FieldError, fieldError, type JsonObject, namesFor } from '../../meta/index.ts';
import { structuralOf } from '../structural.ts';
import { budgetOfDefaults, validateByRules, validateDefaultByRules } from './strategy.ts';

const names = namesFor('k8s.io');
const even = { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self % 2 == 0', message: 'must be even' }] };
const schema = (spec: JsonObject) => structuralOf({ type: 'object', properties: { spec } }, names);
const object = (spec: number) => ({ metadata: { name: 'n' }, spec }) as unknown as ApiObject;

function run(
  now: number,
  old?: number,
  { ratcheting = true, errors = [] as FieldError[], of = even as JsonObject } = {},
) {
  const warnings = new Set<string>();
  const before = old === undefined ? undefined : object(old);
  const steps = validateByRules(schema(of), {
    object: object(now),
    old: before,
    ratcheting,
    errors,
    warn: (text: string) => void warnings.add(text),
  });
  return {
    errors: atOnce(steps).map(({ field, message }) => `${field}: ${message}`),
    warnings: [...warnings],
  };
}

const odd = 'spec: Invalid value: 3: must be even';

describe('validation by rules', () => {
  it('is not needed for a schema without rules', () => {
    expect(run(1, 1, { of: { type: 'integer' } }).errors).toEqual([]);
  });

  it('rejects objects that violate a rule, on create and update', () => {
    expect(run(2)).toEqual({ errors: [], warnings: [] });
    expect(run(3)).toEqual({ errors: [odd], warnings: [] });
    expect(run(3, 1)).toEqual({ errors: [odd], warnings: [] });
  });

  it('warns about an unchanged value that violates a rule', () => {
    expect(run(3, 3)).toEqual({ errors: [], warnings: [odd] });
    expect(run(3, 3, { ratcheting: false })).toEqual({ errors: [odd], warnings: [] });
  });

  it('does not run after an error such as a missing field', () => {
    const { errors } = run(3, undefined, { errors: [fieldError.required('a')] });
    expect(errors).toHaveLength(1);
    expect(errors?.[0]).toMatch(/^<nil>: .* some validation rules were not checked/);
  });
});

describe('defaults', () => {
  const errors = (rule: JsonObject, value: number | null = 3) =>
    atOnce(
      validateDefaultByRules(
        structuralOf({ type: 'integer', default: value, 'x-kubernetes-validations': [rule] }, names),
        'at.default',
        budgetOfDefaults(),
      ),
    ).map(({ field, message }) => `${field}: ${message}`);

  it('keep the rules, as kept and as new values', () => {
    expect(errors({ rule: 'self == 3' })).toEqual([]);
    expect(errors({ rule: 'self == 4', message: 'm' })).toEqual(['at.default: Invalid value: 3: m']);
    expect(errors({ rule: 'self > oldSelf', message: 'm' })).toEqual(['at.default: Invalid value: 3: m']);
    const first = { rule: 'oldSelf.hasValue()', message: 'm', optionalOldSelf: true };
    expect(errors(first)).toEqual(['at.default: Invalid value: 3: m']);
    expect(errors({ rule: 'false' }, null)).toEqual([]);
  });
});
