import { annotationOf } from '../../meta/index.ts';
import type { WithMetadata } from '../types.ts';

/** The newest object that one of the annotations marks as the default; of the same age, the first by name. */
export function defaultOf<T extends WithMetadata>(objects: readonly T[], keys: readonly string[]): T | undefined {
  const marked = objects.filter((object) => keys.some((key) => annotationOf(object, key) === 'true'));
  const age = ({ metadata }: T) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return marked.sort((a, b) => age(b) - age(a) || byName(a, b))[0];
}

export const byName = (a: WithMetadata, b: WithMetadata): number =>
  (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
