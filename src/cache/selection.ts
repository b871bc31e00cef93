import { getKey } from '../meta/index.ts';
import type { CachedObject, SubscribeOptions } from './types.ts';

/** The objects that a subscriber selects. */
export type Selection = Pick<SubscribeOptions, 'namespace' | 'name' | 'field' | 'matches'>;

/**
 * The labels of an object whose stored bytes cannot be decoded. As its labels and fields are unknown, every selector
 * matches it.
 */
export const unknownLabels: CachedObject['labels'] = Object.freeze({});

export function fieldOf(object: CachedObject, path: string): string {
  return getKey(object.fields, path) ?? '';
}
