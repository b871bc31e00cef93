import { type ApiObject, type FieldError, fieldError } from '../meta/index.ts';
import type { DeclarativeRules } from '../schema/index.ts';
import type { Mismatch } from './types.ts';
import type { WriteRequest } from './write-request.ts';

/**
 * What counts of the findings about an object. For a kind with declarative rules beside its own, both are compared, and where
 * both speak, its own ones count, or the declarative ones when those have taken over. Subresources know none of this.
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

/** Fields of which the two do not find the same; how often and in which words something is found does not matter. */
function mismatches(
  { cover }: DeclarativeRules,
  handwritten: readonly FieldError[],
  declarative: readonly FieldError[],
): Omit<Mismatch, 'group' | 'kind'>[] {
  if (handwritten.length + declarative.length === 0) return [];
  const [hands, rules] = [reasonsByField(handwritten), reasonsByField(declarative)];
  return [...new Set([...hands.keys(), ...rules.keys()])]
    .filter(cover)
    .map((field) => ({
      field,
      handwritten: [...(hands.get(field) ?? [])].sort(),
      declarative: [...(rules.get(field) ?? [])].sort(),
    }))
    .filter((both) => both.handwritten.join() !== both.declarative.join());
}

function reasonsByField(findings: readonly FieldError[]): Map<string, Set<FieldError['reason']>> {
  const found = new Map<string, Set<FieldError['reason']>>();
  for (const { field, reason } of findings) {
    const known = found.get(field) ?? new Set();
    found.set(field, known.add(reason));
  }
  return found;
}
