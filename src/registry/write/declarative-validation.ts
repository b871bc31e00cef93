import { type ApiObject, type FieldError, fieldError } from '../../meta/index.ts';
import type { DeclarativeRules } from '../../schema/index.ts';
import type { Mismatch } from '../types.ts';
import type { WriteRequest } from './write-request.ts';

/**
 * The field errors that count for an object. For a kind with declarative rules, both validations are compared; for the
 * fields of those rules the handwritten errors count, or the declarative ones with `DeclarativeValidationTakeover`.
 * Subresources have no declarative validation.
 */
export function reconcileValidation(
  { registry: { features, observer }, target: { resource, subresource } }: WriteRequest,
  object: ApiObject,
  handwritten: readonly FieldError[],
): readonly FieldError[] {
  const { declarativeRules: rules, definition } = resource;
  if (rules === undefined || subresource !== '') return handwritten;
  const { group, kind } = definition;
  const takesOver = features.DeclarativeValidationTakeover;
  let declarative: readonly FieldError[];
  try {
    declarative = rules.validate(object);
  } catch (error) {
    observer.ruleFailure(kind, error);
    if (!takesOver) return handwritten;
    declarative = [fieldError.internal('', 'a declarative rule failed')];
  }
  for (const mismatch of mismatches(rules, handwritten, declarative)) observer.mismatch({ group, kind, ...mismatch });
  return takesOver ? [...handwritten.filter(({ field }) => !rules.cover(field)), ...declarative] : handwritten;
}

/** Fields whose errors differ in their reasons; number and messages do not matter. */
function mismatches(
  { cover }: DeclarativeRules,
  handwritten: readonly FieldError[],
  declarative: readonly FieldError[],
): Omit<Mismatch, 'group' | 'kind'>[] {
  if (handwritten.length + declarative.length === 0) return [];
  const [handwrittenReasons, declarativeReasons] = [reasonsByField(handwritten), reasonsByField(declarative)];
  return [...new Set([...handwrittenReasons.keys(), ...declarativeReasons.keys()])]
    .filter(cover)
    .map((field) => ({
      field,
      handwritten: [...(handwrittenReasons.get(field) ?? [])].sort(),
      declarative: [...(declarativeReasons.get(field) ?? [])].sort(),
    }))
    .filter((both) => both.handwritten.join() !== both.declarative.join());
}

function reasonsByField(errors: readonly FieldError[]): Map<string, Set<FieldError['reason']>> {
  const found = new Map<string, Set<FieldError['reason']>>();
  for (const { field, reason } of errors) {
    const known = found.get(field) ?? new Set();
    found.set(field, known.add(reason));
  }
  return found;
}
