import * as kinds from '../../shared/kinds.ts';
import { allOf, annotationsFor, type ReplicaSet, revisionOf, type Sync, sameTemplate, withoutHash } from './model.ts';
import { isOwn, syncRevision } from './replica-sets.ts';

/** The revision to roll back to, from an annotation; 0 means the previous one. */
export function rollbackTarget({ context, deployment }: Sync): number | undefined {
  const text = deployment.metadata.annotations?.[annotationsFor(context.names).rollback] ?? '';
  return /^[+-]?[0-9]{1,18}$/.test(text) ? Number(text) : undefined;
}

/** Brings back the template of a revision, and takes the annotation away that asked for it. */
export async function rollBack(sync: Sync, all: readonly ReplicaSet[], target: number): Promise<void> {
  const { context, deployment } = sync;
  const { revision: annotation } = annotationsFor(context.names);
  const sets = allOf(await syncRevision(sync, all, true));
  const warn = (reason: string, message: string) => context.events.record(deployment, 'Warning', reason, message);
  const revision = target === 0 ? lastRevision(sets, annotation) : target;
  const targetSet = sets.find((set) => revisionOf(set, annotation) === revision);
  if (revision === 0) warn('DeploymentRollbackRevisionNotFound', 'Unable to find last revision.');
  else if (targetSet === undefined) {
    warn('DeploymentRollbackRevisionNotFound', 'Unable to find the revision to rollback to.');
  } else if (sameTemplate(deployment.spec?.template, targetSet.spec?.template)) {
    const { name } = deployment.metadata;
    warn(
      'DeploymentRollbackTemplateUnchanged',
      `The rollback revision contains the same template as current deployment "${name}"`,
    );
  } else {
    await context.client.kind(kinds.deployments).update(rolledBack(sync, targetSet));
    const message = `Rolled back deployment "${deployment.metadata.name}" to revision ${revision}`;
    context.events.record(deployment, 'Normal', 'DeploymentRollback', message);
    return;
  }
  const { [annotationsFor(context.names).rollback]: _, ...annotations } = deployment.metadata.annotations ?? {};
  await context.client
    .kind(kinds.deployments)
    .update({ ...deployment, metadata: { ...deployment.metadata, annotations } });
}

/** The deployment with the template and the annotations of a replica set. */
function rolledBack({ context, deployment }: Sync, set: ReplicaSet): Sync['deployment'] {
  const names = annotationsFor(context.names);
  const own = Object.entries(deployment.metadata.annotations ?? {}).filter(
    ([key]) => isOwn(key, names) && key !== names.rollback,
  );
  const copied = Object.entries(set.metadata.annotations ?? {}).filter(([key]) => !isOwn(key, names));
  return {
    ...deployment,
    metadata: { ...deployment.metadata, annotations: Object.fromEntries([...own, ...copied]) },
    spec: { ...deployment.spec, template: withoutHash(set.spec?.template) },
  };
}

/** The highest revision but one; 0 when there is none. */
function lastRevision(sets: readonly ReplicaSet[], annotation: string): number {
  const revisions = sets.map((set) => revisionOf(set, annotation) ?? 0).sort((a, b) => b - a);
  return revisions[1] ?? 0;
}
