import { type ApiObject, type FieldError, fieldError } from '../meta/index.ts';
import type { MigratedRules } from '../schema/index.ts';
import type { Job } from './job.ts';
import type { Mismatch } from './types.ts';

/**
 * What counts of the findings about an object. For a kind with declared rules beside its own, both are compared, and where
 * both speak, its own ones count, or the declared ones when those have taken over. Subresources know none of this.
 */
export function settleFindings(
  { core: { features, observer }, target: { resource, subresource } }: Job,
  object: ApiObject,
  byHand: readonly FieldError[],
): readonly FieldError[] {
  const { migrated: rules, definition } = resource;
  if (rules === undefined || subresource !== '') return byHand;
  const { group, kind } = definition;
  const takesOver = features.DeclarativeValidationTakeover;
  let declared: readonly FieldError[];
  try {
    declared = rules.validate(object);
  } catch (error) {
    observer.ruleFailure(kind, error);
    if (!takesOver) return byHand;
    declared = [fieldError.internal('', 'a declared rule failed')];
  }
  for (const mismatch of mismatches(rules, byHand, declared)) observer.mismatch({ group, kind, ...mismatch });
  return takesOver ? [...byHand.filter(({ field }) => !rules.cover(field)), ...declared] : byHand;
}

/** Fields of which the two do not find the same; how often and in which words something is found does not matter. */
function mismatches(
  { cover }: MigratedRules,
  byHand: readonly FieldError[],
  declared: readonly FieldError[],
): Omit<Mismatch, 'group' | 'kind'>[] {
  if (byHand.length + declared.length === 0) return [];
  const [hands, rules] = [reasonsByField(byHand), reasonsByField(declared)];
  return [...new Set([...hands.keys(), ...rules.keys()])]
    .filter(cover)
    .map((field) => ({
      field,
      byHand: [...(hands.get(field) ?? [])].sort(),
      declared: [...(rules.get(field) ?? [])].sort(),
    }))
    .filter((both) => both.byHand.join() !== both.declared.join());
}

function reasonsByField(findings: readonly FieldError[]): Map<string, Set<FieldError['reason']>> {
  const found = new Map<string, Set<FieldError['reason']>>();
  for (const { field, reason } of findings) {
    const known = found.get(field) ?? new Set();
    found.set(field, known.add(reason));
  }
  return found;
}
