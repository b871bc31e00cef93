import { maxShown, shorten } from '../meta/index.ts';
import type { WriteOptions } from './types.ts';
import type { PendingObject } from './write-request.ts';

const advice =
  'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed:';

/** Takes references to owners that are there twice out of the draft, and warns whoever brought them. */
export function dedupeOwnerReferences(
  { object }: PendingObject,
  { warnings }: WriteOptions,
  by: 'writer' | 'admission',
): void {
  const { ownerReferences = [] } = object.metadata;
  // References that are the same have one uid.
  if (new Set(ownerReferences.map(({ uid }) => uid)).size === ownerReferences.length) return;
  const seen = new Set<string>();
  const double: string[] = [];
  const left = ownerReferences.filter((reference) => {
    // What has been decoded has its members in one order.
    const text = JSON.stringify(reference);
    if (seen.has(text)) double.push(reference.uid);
    return seen.size < seen.add(text).size;
  });
  if (double.length === 0) return;
  object.metadata.ownerReferences = left;
  const when = by === 'writer' ? '' : ' after mutating admission happens';
  const uids = shorten(double.join(', '), maxShown);
  warnings.add(`.metadata.ownerReferences contains duplicate entries${when}; ${advice} ${uids}`);
}
