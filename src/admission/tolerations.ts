import { type JsonObject, jsonEqual } from '../meta/index.ts';
import { numberOf, textOf } from './fields.ts';

/** Both lists as one, without what another of them covers; of equal ones the first stays. */
export function mergeTolerations(first: readonly JsonObject[], second: readonly JsonObject[]): JsonObject[] {
  const all = [...first, ...second];
  const merged: JsonObject[] = [];
  all.forEach((toleration, i) => {
    const later = all.slice(i + 1).filter((other) => !jsonEqual(other, toleration));
    if (![...merged, ...later].some((other) => covers(other, toleration))) merged.push(toleration);
  });
  return merged;
}

/** Whether whatever `narrow` tolerates, `wide` tolerates too, and for no less time. */
export function covers(wide: JsonObject, narrow: JsonObject): boolean {
  if (jsonEqual(wide, narrow)) return true;
  const same = (field: string) => textOf(wide[field]) === textOf(narrow[field]);
  const exists = wide['operator'] === 'Exists';
  if (!same('key') && !(exists && textOf(wide['key']) === '')) return false;
  if (!same('effect') && textOf(wide['effect']) !== '') return false;
  const patience = numberOf(wide['tolerationSeconds']);
  if (wide['effect'] === 'NoExecute' && patience !== undefined) {
    const asked = numberOf(narrow['tolerationSeconds']);
    if (asked === undefined || asked > patience) return false;
  }
  if (exists) return true;
  const equals = textOf(wide['operator']) === '' || wide['operator'] === 'Equal';
  return equals && narrow['operator'] === 'Equal' && same('value');
}
