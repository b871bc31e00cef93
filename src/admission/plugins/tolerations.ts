import { jsonEqual } from '../../meta/index.ts';
import type { Toleration } from '../../types/core-v1.ts';

/** Merges two lists; drops a toleration that is a subset of another one, and all but the first of equal ones. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  all.forEach((toleration, i) => {
    const later = all.slice(i + 1).filter((other) => !jsonEqual(other, toleration));
    if (![...merged, ...later].some((other) => isSuperset(other, toleration))) merged.push(toleration);
  });
  return merged;
}

/** Whether `wide` tolerates every taint that `narrow` tolerates, for at least as long. */
export function isSuperset(wide: Toleration, narrow: Toleration): boolean {
  if (jsonEqual(wide, narrow)) return true;
  const same = (field: 'key' | 'effect' | 'value') => (wide[field] ?? '') === (narrow[field] ?? '');
  const exists = wide.operator === 'Exists';
  if (!same('key') && !(exists && !wide.key)) return false;
  if (!same('effect') && wide.effect) return false;
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  if (exists) return true;
  const equals = !wide.operator || wide.operator === 'Equal';
  return equals && narrow.operator === 'Equal' && same('value');
}
