import { getKey } from '../meta/index.ts';
import type { Change } from './change.ts';
import type { CachedObject, SubscribeOptions, WatchEvent } from './types.ts';

/** The objects that a subscriber selects. */
export type Selection = Pick<SubscribeOptions, 'namespace' | 'name' | 'field' | 'matches'>;

/**
 * The labels of an object whose stored bytes cannot be decoded. As its labels and fields are unknown, every selector
 * matches it.
 */
export const unknownLabels: CachedObject['labels'] = Object.freeze({});

/** The event of a change for this selection; undefined when it matches neither before nor after. */
export function eventFor(selection: Selection, change: Change): WatchEvent | undefined {
  const { current, previous } = change;
  const is = current !== undefined && selects(selection, current);
  const was = previous !== undefined && selects(selection, previous);
  return change.event(was, is);
}

function selects(selection: Selection, object: CachedObject): boolean {
  const { namespace, name, field, matches } = selection;
  if (namespace && namespace !== object.namespace) return false;
  if (name && name !== object.name) return false;
  if (object.labels === unknownLabels) return true;
  if (field !== undefined && field.value !== fieldOf(object, field.path)) return false;
  return matches === undefined || matches(object);
}

export function fieldOf(object: CachedObject, path: string): string {
  return getKey(object.fields, path) ?? '';
}
