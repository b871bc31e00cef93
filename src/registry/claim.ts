import { type ApiObject, formatGroupResource, statusError } from '../meta/index.ts';
import type { Claims } from './definition.ts';
import type { Draft, Job } from './job.ts';

/**
 * Lets the kind claim what the draft needs. Undefined when it needs nothing, or when the server has no pools.
 * @throws StatusError 422 for what cannot be had
 */
export async function claim(
  { core, target, dryRun }: Job,
  { object, remove }: Draft,
  old: ApiObject | undefined,
): Promise<Claims | undefined> {
  const { definition, id } = target.resource;
  const { claim: claimFor } = definition.strategy;
  if (claimFor === undefined || core.openClaims === undefined) return undefined;
  const { namespace = '', name = '' } = object.metadata;
  const claims = core.openClaims({ resource: formatGroupResource(id), namespace, name }, dryRun);
  const errors = await claimFor(remove ? undefined : object, old, claims.pools);
  // Findings speak of the stored form, and so does the kind that they name.
  const kind = { group: definition.storage.group, kind: definition.kind };
  if (errors.length > 0) throw statusError.invalid(kind, name, errors);
  return claims;
}
