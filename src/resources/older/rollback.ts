/** The `rollback` subresource of deployments in their first beta versions. */
import { fieldError, parseGroupVersion, statusError } from '../../meta/index.ts';
import type { CreateHandler, Subresource } from '../../registry/index.ts';
import { field, int64, map, string, struct } from '../../schema/index.ts';
import { Deployment } from '../../types/apps-v1.ts';
import { typeMeta } from '../../types/meta-v1.ts';

/** The revision to go back to; 0 is the last one. */
export const rollbackConfig = (groupVersion: string) =>
  struct(`${groupVersion}.RollbackConfig`, { revision: field(1, int64) });

/** Posts a DeploymentRollback: the deployment is asked to go back to a revision. */
export function rollback(groupVersion: string): Subresource {
  const { group = '', version = '' } = parseGroupVersion(groupVersion) ?? {};
  return {
    name: 'rollback',
    type: 'create',
    verbs: ['create'],
    kind: 'DeploymentRollback',
    group,
    version,
    schema: struct(`${groupVersion}.DeploymentRollback`, {
      ...typeMeta,
      name: field(1, string, { required: true, emptyOk: true, always: true }),
      updatedAnnotations: field(2, map(string)),
      rollbackTo: field(3, rollbackConfig(groupVersion), { required: true, always: true }),
    }),
    nameOf: ({ name }) => (typeof name === 'string' ? name : ''),
    onCreate: startRollback,
  };
}

const startRollback: CreateHandler = async (posted, { namespace, name, objects, dryRun }) => {
  const { rollbackTo, updatedAnnotations } = posted as {
    rollbackTo?: { revision?: number };
    updatedAnnotations?: { [key: string]: string };
  };
  const { revision = 0 } = rollbackTo ?? {};
  if (revision < 0) {
    const why = 'must be greater than or equal to 0';
    const kind = { group: 'apps', kind: 'DeploymentRollback' };
    throw statusError.invalid(kind, name, [fieldError.invalid('rollbackTo.revision', revision, why)]);
  }
  if (dryRun) return void (await objects.read(Deployment, namespace, name));
  await objects.guaranteedUpdate(Deployment, namespace, name, ({ metadata }) => {
    metadata.annotations = {
      ...metadata.annotations,
      ...updatedAnnotations,
      'deprecated.deployment.rollback.to': String(revision),
    };
  });
};
