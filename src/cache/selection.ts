import { getKey } from '../meta/index.ts';
import type { Change } from './change.ts';
import type { CachedObject, SubscribeOptions, WatchEvent } from './types.ts';

/** Which objects a subscriber wants. */
export type Selection = Pick<SubscribeOptions, 'namespace' | 'name' | 'field' | 'matches'>;

/**
 * The labels of an object whose stored bytes cannot be read. Nobody knows who would select it: it concerns all who
 * watch its place.
 */
export const unknownLabels: CachedObject['labels'] = Object.freeze({});

/** What the change is to someone with this selection; undefined when it does not concern it. */
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
