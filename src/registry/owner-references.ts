import type { Draft } from './job.ts';
import type { WriteOptions } from './types.ts';

const advice =
  'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed:';

/** Takes references to owners that are there twice out of the draft, and warns whoever brought them. */
export function dropDoubleOwners({ object }: Draft, { warnings }: WriteOptions, by: 'writer' | 'admission'): void {
  const { ownerReferences = [] } = object.metadata;
  if (ownerReferences.length < 2) return;
  // What has been decoded has its members in one order.
  const byText = new Map(ownerReferences.map((reference) => [JSON.stringify(reference), reference]));
  if (byText.size === ownerReferences.length) return;
  const left = new Set(byText.keys());
  const double = ownerReferences.filter((reference) => !left.delete(JSON.stringify(reference)));
  object.metadata.ownerReferences = [...byText.values()];
  const when = by === 'writer' ? '' : ' after mutating admission happens';
  const uids = double.map(({ uid }) => uid).join(', ');
  warnings.add(`.metadata.ownerReferences contains duplicate entries${when}; ${advice} ${uids}`);
}
