import { maxShown, type OwnerReference, Pace, type Steps, shorten } from '../../meta/index.ts';
import type { WriteOptions } from '../types.ts';
import type { PendingObject } from './write-request.ts';

const warning =
  'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed:';

/** Removes duplicate owner references from the pending object, with a warning. In steps, for very many of them. */
export function* dedupeOwnerReferences(
  { object }: PendingObject,
  { warnings }: WriteOptions,
  by: 'writer' | 'admission',
): Steps<void> {
  const { ownerReferences = [] } = object.metadata;
  if (ownerReferences.length < 2) return;
  // Duplicates have the same uid.
  if (new Set(ownerReferences.map(({ uid }) => uid)).size === ownerReferences.length) return;
  const pace = new Pace();
  const seen = new Set<string>();
  const left: OwnerReference[] = [];
  const duplicates: string[] = [];
  for (const reference of ownerReferences) {
    if (pace.over(Object.keys(reference).length)) yield;
    // Decoded references have their members in the same order.
    const text = JSON.stringify(reference);
    if (seen.has(text)) duplicates.push(reference.uid);
    else left.push(reference);
    seen.add(text);
  }
  if (duplicates.length === 0) return;
  object.metadata.ownerReferences = left;
  const when = by === 'writer' ? '' : ' after mutating admission happens';
  const uids = shorten(duplicates.join(', '), maxShown);
  warnings.add(`.metadata.ownerReferences contains duplicate entries${when}; ${warning} ${uids}`);
}
