import { type JsonObject, jsonEqual } from '../meta/index.ts';
import { numberOf, textOf } from './fields.ts';

/** Merges two lists; drops a toleration that is a subset of another one, and all but the first of equal ones. */
export function mergeTolerations(first: readonly JsonObject[], second: readonly JsonObject[]): JsonObject[] {
  const all = [...first, ...second];
  const merged: JsonObject[] = [];
  all.forEach((toleration, i) => {
    const later = all.slice(i + 1).filter((other) => !jsonEqual(other, toleration));
    if (![...merged, ...later].some((other) => isSuperset(other, toleration))) merged.push(toleration);
  });
  return merged;
}

/** Whether `wide` tolerates every taint that `narrow` tolerates, for at least as long. */
export function isSuperset(wide: JsonObject, narrow: JsonObject): boolean {
  if (jsonEqual(wide, narrow)) return true;
  const same = (field: string) => textOf(wide[field]) === textOf(narrow[field]);
  const exists = wide['operator'] === 'Exists';
  if (!same('key') && !(exists && textOf(wide['key']) === '')) return false;
  if (!same('effect') && textOf(wide['effect']) !== '') return false;
  const wideSeconds = numberOf(wide['tolerationSeconds']);
  if (wide['effect'] === 'NoExecute' && wideSeconds !== undefined) {
    const narrowSeconds = numberOf(narrow['tolerationSeconds']);
    if (narrowSeconds === undefined || narrowSeconds > wideSeconds) return false;
  }
  if (exists) return true;
  const equals = textOf(wide['operator']) === '' || wide['operator'] === 'Equal';
  return equals && narrow['operator'] === 'Equal' && same('value');
}
