import { isJsonObject, type Json, type JsonObject, jsonEqual, StatusError } from '../../../meta/index.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { objectPath, pathOf } from '../../cluster/resource.ts';
import { type CommandContext, command } from '../../command.ts';
import { CommandError, throwAll } from '../../errors.ts';
import { toggle } from '../../flags/flag.ts';
import { changeFlags, changeQuery, type DryRun, dryRunOf, Reporter } from '../../objects/change.ts';
import { filenameFlags, hasFiles, type Manifest, placeDocument, readDocuments } from '../../objects/manifests.ts';
import { urlOf } from '../../objects/selection.ts';

const { fieldManager: _, ...shared } = changeFlags('kubectl-auth');
const flags = {
  ...shared,
  ...filenameFlags,
  removeExtraPermissions: toggle(false, 'If true, removes extra permissions added to roles.'),
  removeExtraSubjects: toggle(false, 'If true, removes extra subjects added to rolebindings.'),
};

type ReconcileContext = CommandContext<typeof flags>;

/** The list of each kind that is reconciled. */
const lists: { readonly [kind: string]: 'rules' | 'subjects' } = {
  ClusterRole: 'rules',
  Role: 'rules',
  ClusterRoleBinding: 'subjects',
  RoleBinding: 'subjects',
};

export const reconcileCommand = command({
  name: 'reconcile',
  summary: 'Reconciles rules for RBAC role, role binding, cluster role, and cluster role binding objects',
  description: `Reconciles rules for RBAC role, role binding, cluster role, and cluster role binding objects.

 Missing objects are created. Existing roles are updated to include the permissions in the input objects, and existing bindings to include the subjects in the input objects.`,
  usage: '-f FILENAME',
  examples: [{ title: 'Reconcile RBAC resources from a file', lines: ['ctl auth reconcile -f my-rbac-rules.yaml'] }],
  flags,
  run: async (context) => {
    const { flags: values, io } = context;
    if (!hasFiles(values)) throw new CommandError('must specify one of -f and -k');
    const dryRun = dryRunOf(values, io);
    const cluster = await context.cluster();
    const reporter = await Reporter.open(values, dryRun, io);
    const errors: unknown[] = [];
    for (const document of await readDocuments(values, io)) {
      try {
        const manifest = await placeDocument(cluster, document);
        reporter.changed(await reconcile(context, cluster, manifest, dryRun), 'reconciled');
      } catch (error) {
        if (!(error instanceof StatusError || error instanceof CommandError)) throw error;
        errors.push(error);
      }
    }
    throwAll(errors);
    return 0;
  },
});

async function reconcile(
  { flags: values }: ReconcileContext,
  cluster: Cluster,
  { object, resource, namespace, name }: Manifest,
  dryRun: DryRun,
): Promise<JsonObject> {
  const list = lists[resource.kind];
  if (list === undefined || !resource.group.startsWith('rbac.')) {
    throw new CommandError(`only roles and their bindings can be reconciled, not ${resource.kind}`);
  }
  const path = objectPath(resource, namespace, name);
  const live = await cluster.send({ url: path }).catch((error: unknown) => {
    if (error instanceof StatusError && error.code === 404) return undefined;
    throw error;
  });
  const query = changeQuery({ fieldManager: 'kubectl-auth' }, dryRun);
  if (live === undefined) {
    if (dryRun === 'client') return object;
    return cluster.send({ method: 'POST', url: urlOf(pathOf(resource, namespace), query), body: object });
  }
  const replaces = list === 'rules' ? values.removeExtraPermissions : values.removeExtraSubjects;
  const [before, wanted] = [itemsOf(live, list), itemsOf(object, list)];
  const missing = wanted.filter((item) => !before.some((one) => jsonEqual(one, item)));
  const after = replaces ? wanted : [...before, ...missing];
  if (jsonEqual(before, after) || dryRun === 'client') return { ...live, [list]: after };
  return cluster.send({ method: 'PUT', url: urlOf(path, query), body: { ...live, [list]: after } });
}

const itemsOf = (object: JsonObject, list: string): Json[] => {
  const items = object[list];
  return Array.isArray(items) ? items.filter(isJsonObject) : [];
};
