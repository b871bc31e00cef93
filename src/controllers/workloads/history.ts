import type { Index } from '../../client/index.ts';
import { isStatus, type Json, type JsonObject, jsonEqual, type LabelSelector } from '../../meta/index.ts';
import type { ControllerRevision as ControllerRevisionSchema } from '../../types/apps-v1.ts';
import type { Kind, Named } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import { claim, controllerReference, orphansIn } from '../shared/owners.ts';
import { createdAt } from '../shared/pods.ts';
import type { ControllerContext } from '../types.ts';
import { templateHash } from './template-hash.ts';

/** A template that an owner had, or has. */
export type Revision = ControllerRevisionSchema & Named;

/** The label of pods with the revision that they were made of. */
export const revisionLabel = 'controller-revision-hash';

/** The revisions of an owner, orphans that it selects adopted, the oldest first. */
export async function revisionsOf<O extends Named>(
  { client, names, turns }: ControllerContext,
  kind: Kind<O>,
  owner: O,
  selector: LabelSelector,
  byOwner: Index<Revision>,
): Promise<Revision[]> {
  const { uid = '', namespace = '' } = owner.metadata;
  const candidates = [...byOwner.get(uid), ...byOwner.get(orphansIn(namespace))];
  const revisions = await claim({ client, names, turns, kind, owner, selector }, kinds.controllerRevisions, candidates);
  return revisions.sort(byNumber);
}

/** Lower numbers first, of the same number older ones. */
function byNumber(a: Revision, b: Revision): number {
  return (
    (a.revision ?? 0) - (b.revision ?? 0) ||
    (createdAt(a) ?? 0) - (createdAt(b) ?? 0) ||
    ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)
  );
}

/** The data of a revision: a patch that brings the template back. */
export const templateData = (template: Json): JsonObject => ({
  spec: { template: { ...(template as JsonObject), $patch: 'replace' } },
});

/** The template of a revision. */
export function templateOf({ data }: Revision): JsonObject {
  const { spec } = (data ?? {}) as { spec?: { template?: JsonObject } };
  const { $patch: _, ...template } = spec?.template ?? {};
  return template;
}

export const hasData = (revision: Revision, data: Json): boolean => jsonEqual(revision.data as Json, data);

export interface NewRevision {
  readonly data: JsonObject;
  readonly revision: number;
  readonly labels: { readonly [key: string]: string };
  readonly annotations: { readonly [key: string]: string };
  /** The label of the revision with its hash. */
  readonly hashLabel: string;
  readonly collisionCount: number;
}

/** Creates a revision; its name is the hash of its data, with another collision count where another revision has it. */
export async function createRevision<O extends Named>(
  { client, names }: ControllerContext,
  kind: Kind<O>,
  owner: O,
  { data, revision, labels, annotations, hashLabel, ...counter }: NewRevision,
): Promise<{ readonly revision: Revision; readonly collisionCount: number }> {
  const { name: prefix = '', namespace = '' } = owner.metadata;
  for (let collisionCount = counter.collisionCount; ; collisionCount++) {
    const hash = templateHash(data, collisionCount);
    const name = `${prefix.slice(0, 223)}-${hash}`;
    const metadata = {
      namespace,
      name,
      annotations,
      labels: { ...labels, [hashLabel]: hash },
      ownerReferences: [controllerReference(kind, owner, names)],
    };
    try {
      const created = await client.kind(kinds.controllerRevisions).create({ metadata, data, revision });
      return { revision: created, collisionCount };
    } catch (error) {
      if (!isStatus(error, 409)) throw error;
      const existing = await client.kind(kinds.controllerRevisions).get({ namespace, name });
      if (hasData(existing, data)) return { revision: existing, collisionCount };
    }
  }
}

/** The revision with this number. */
export async function renumbered({ client }: ControllerContext, revision: Revision, number: number): Promise<Revision> {
  if (revision.revision === number) return revision;
  return client.kind(kinds.controllerRevisions).update({ ...revision, revision: number });
}

/** Deletes the oldest of the revisions that are not live beyond the limit. */
export async function truncateHistory(
  { client }: ControllerContext,
  revisions: readonly Revision[],
  isLive: (revision: Revision) => boolean,
  limit: number,
): Promise<void> {
  const old = revisions.filter((revision) => !isLive(revision));
  for (const revision of old.slice(0, Math.max(0, old.length - limit))) {
    try {
      await client.kind(kinds.controllerRevisions).delete(revision.metadata);
    } catch (error) {
      if (!isStatus(error, 404) && !isStatus(error, 409)) throw error;
    }
  }
}
