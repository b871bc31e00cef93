import { type JsonObject, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { objectPath } from '../cluster/resource.ts';
import { type CommandContext, command } from '../command.ts';
import { CommandError, throwAll, usageError } from '../errors.ts';
import { repeatable, text, toggle } from '../flags/flag.ts';
import { ApplySet, parseApplySet } from '../objects/apply-set.ts';
import {
  changeFlags,
  changeQuery,
  type DryRun,
  dryRunOf,
  fieldValidationOf,
  Reporter,
  validateFlag,
} from '../objects/change.ts';
import { withoutManagedFields } from '../objects/comparable.ts';
import { filenameFlags, hasFiles, type Manifest, placeDocument, readDocuments } from '../objects/manifests.ts';
import { matchesSelector } from '../objects/matches-selector.ts';
import { selectorFlags, urlOf } from '../objects/selection.ts';

const flags = {
  ...changeFlags('kubectl'),
  ...validateFlag,
  ...filenameFlags,
  selector: selectorFlags.selector,
  all: toggle(false, 'Select all resources in the namespace of the specified resource types.'),
  applyset: text(
    '',
    'The name of the ApplySet: of its parent, a secret, or a resource in the form TYPE/NAME. With --prune, objects of the set that are no longer in the files are deleted.',
  ),
  forceConflicts: toggle(false, 'If true, apply takes over fields that other managers own.'),
  prune: toggle(false, 'Delete the objects of the --applyset that are not in the files.'),
  serverSide: toggle(true, 'Apply runs in the server; this client has no other way to apply.'),
  wait: toggle(false, 'If true, wait for pruned objects to be gone before returning.'),
  pruneAllowlist: repeatable('Not supported: an apply set knows the types of its objects.'),
};

type ApplyContext = CommandContext<typeof flags>;

export const applyCommand = command({
  name: 'apply',
  summary: 'Apply a configuration to a resource by file name or stdin',
  description:
    'Apply a configuration to a resource by file name or stdin. The resource name must be specified. This resource will be created if it does not exist yet. The server merges the configuration, and tracks which manager owns which field.',
  usage: '(-f FILENAME | -k DIRECTORY)',
  examples: [
    { title: 'Apply the configuration in pod.json to a pod', lines: ['ctl apply -f ./pod.json'] },
    { title: 'Apply the kustomization in a directory', lines: ['ctl apply -k overlays/production'] },
    { title: 'Apply the JSON passed into stdin to a pod', lines: ['cat pod.json | orch ctl apply -f -'] },
    {
      title: 'Apply the files of a folder, and delete what an earlier call applied and they no longer have',
      lines: ['ctl apply -f ./dir --prune --applyset=my-app'],
    },
  ],
  flags,
  run: async (context) => {
    const { args, flags: values, io, path } = context;
    if (!hasFiles(values)) throw new CommandError('must specify one of -f and -k');
    if (args.length > 0) throw usageError(`Unexpected args: [${args.join(' ')}]`, path);
    const dryRun = checkFlags(context);
    const opened = await context.cluster();
    const manifests: Manifest[] = [];
    const errors: unknown[] = [];
    for (const document of await readDocuments(values, io)) {
      if (!matchesSelector(document.object, values.selector)) continue;
      await placeDocument(opened, document).then(
        (manifest) => manifests.push(manifest),
        (error) => errors.push(error),
      );
    }
    if (manifests.length === 0 && errors.length === 0) throw new CommandError('no objects passed to apply');
    const reporter = await Reporter.open(values, dryRun, io);
    const set = values.applyset === '' ? undefined : await openSet(context, opened, manifests, dryRun);
    let done = 0;
    const applyAll = async () => {
      for (const manifest of manifests) {
        try {
          const object = set === undefined ? manifest.object : set.labelled(manifest.object);
          reporter.changed(await applyObject(context, opened, { ...manifest, object }, dryRun), 'serverside-applied');
        } catch (error) {
          if (!(error instanceof StatusError || error instanceof CommandError)) throw error;
          errors.push(error);
        }
        done++;
      }
    };
    await io.progress.during(() => `Applying: ${done} of ${manifests.length} done`, applyAll);
    // Nothing is deleted after a failure: the set would be incomplete.
    if (set !== undefined && errors.length === 0) {
      const finish = {
        prunes: values.prune,
        dryRun,
        pruned: (object: JsonObject) => reporter.changed(object, 'pruned'),
      };
      await io.progress.during(
        () => 'Pruning what has left the set',
        () => set.finish(finish),
      );
    }
    throwAll(errors);
    return 0;
  },
});

/** @throws CommandError */
function checkFlags({ flags: values, io }: ApplyContext): DryRun {
  const dryRun = dryRunOf(values, io);
  if (!values.serverSide) {
    throw new CommandError('this client applies in the server only: leave out --server-side=false');
  }
  if (dryRun === 'client') {
    throw new CommandError("--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)");
  }
  if (values.prune && values.applyset === '') {
    throw new CommandError('--prune needs --applyset, which records the objects that belong together');
  }
  if (values.pruneAllowlist.length > 0) throw new CommandError('--prune-allowlist is not supported: use --applyset');
  if (values.applyset !== '' && values.selector !== '') {
    throw new CommandError('--selector is incompatible with --applyset');
  }
  return dryRun;
}

function openSet(
  { flags: values }: ApplyContext,
  cluster: Cluster,
  manifests: readonly Manifest[],
  dryRun: DryRun,
): Promise<ApplySet> {
  return parseApplySet(cluster, values.applyset).then((parent) =>
    ApplySet.open(cluster, parent, manifests, { fieldManager: `${values.fieldManager}-applyset`, dryRun }),
  );
}

const conflictHelp = `
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the \`--force-conflicts\` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).`;

/** @throws StatusError, CommandError */
async function applyObject(
  { flags: values }: ApplyContext,
  cluster: Cluster,
  { object, resource, namespace, name }: Manifest,
  dryRun: DryRun,
): Promise<JsonObject> {
  if (name === '') throw new CommandError('metadata.name: the name of an applied object must be set');
  const query = {
    ...changeQuery(values, dryRun),
    fieldValidation: fieldValidationOf(values),
    force: values.forceConflicts,
  };
  const url = urlOf(objectPath(resource, namespace, name), query);
  const request = {
    method: 'PATCH',
    url,
    // Manifests that were read from a server have managed fields, which a client must not apply.
    body: withoutManagedFields(object),
    contentType: 'application/apply-patch+yaml',
  } as const;
  return cluster.send(request).catch((error: unknown) => {
    if (!(error instanceof StatusError) || error.reason !== 'Conflict') throw error;
    throw new CommandError(`${error.message}${conflictHelp}`, { cause: error });
  });
}
