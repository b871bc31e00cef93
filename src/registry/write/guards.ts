import type { AdmissionRequest } from '../../admission/index.ts';
import type { Compare } from '../../store/index.ts';
import { waitForRevision } from '../context.ts';
import type { Resource } from '../resource/resource.ts';
import type { PendingObject, WriteRequest } from './write-request.ts';

/** The guards that admission may set. What is read twice in an attempt has to be as it was first. */
export function guardsOf(
  { registry, target: { namespace } }: WriteRequest,
  pending: PendingObject,
): Pick<AdmissionRequest, 'guardNamespace' | 'guardList'> {
  const { findResource } = registry.catalog;
  const guard = (resource: Resource | undefined, compareFor: (prefix: string) => Compare) => {
    if (resource === undefined) return;
    const compare = compareFor(resource.keyPrefix + namespace);
    pending.guards ??= new Map();
    if (!pending.guards.has(compare.key)) pending.guards.set(compare.key, { resource, compare });
  };
  return {
    guardNamespace: (revision) => guard(findResource('namespaces'), (key) => ({ key, revision })),
    guardList: (resource, revision) =>
      guard(findResource(resource), (prefix) => ({ key: `${prefix}/`, revision, below: true })),
  };
}

export const comparesOf = ({ guards }: PendingObject): Compare[] =>
  guards === undefined ? [] : [...guards.values()].map(({ compare }) => compare);

/** Resolves once this server has seen what refused a commit at `revision`. @throws StatusError 504 */
export async function catchUp({ guards }: PendingObject, revision: number): Promise<void> {
  for (const { resource } of guards?.values() ?? []) await waitForRevision(resource, revision);
}
