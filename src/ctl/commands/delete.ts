import { isJsonObject, type JsonObject, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { printedType } from '../cluster/resource.ts';
import { type CommandContext, command } from '../command.ts';
import { CommandError, duringAction, throwAll } from '../errors.ts';
import { duration, integer, text, toggle } from '../flags/flag.ts';
import type { Io } from '../io.ts';
import { type DryRun, dryRunOf } from '../objects/change.ts';
import { filenameFlags, hasFiles, placeDocument, readDocuments, refuseArguments } from '../objects/manifests.ts';
import { objectsOfTarget } from '../objects/pages.ts';
import { selectorFlags, urlOf } from '../objects/selection.ts';
import { pathOfTarget, type Target, targetsOf } from '../objects/targets.ts';
import { untilGone } from '../objects/until-gone.ts';
import { jsonText } from '../output/json.ts';
import { warn } from '../output/terminal.ts';

const flags = {
  ...filenameFlags,
  ...selectorFlags,
  all: toggle(false, 'Delete all resources, in the namespace of the specified resource types.'),
  allNamespaces: toggle(false, 'If present, delete the requested object(s) across all namespaces.', { short: 'A' }),
  cascade: text(
    'background',
    'Must be "background", "orphan", or "foreground". Selects the deletion cascading strategy for the dependents (e.g. Pods created by a ReplicationController).',
    { bare: 'background' },
  ),
  dryRun: text('none', 'Must be "none", "server", or "client".', { bare: 'unchanged' }),
  force: toggle(false, 'If true, immediately remove resources from API and bypass graceful deletion.'),
  gracePeriod: integer(
    -1,
    'Period of time in seconds given to the resource to terminate gracefully. Ignored if negative.',
  ),
  ignoreNotFound: toggle(
    false,
    'Treat "resource not found" as a successful delete. Defaults to "true" when --all is specified.',
  ),
  interactive: toggle(false, 'If true, delete resource only when user confirms.', { short: 'i' }),
  now: toggle(false, 'If true, resources are signaled for immediate shutdown (same as --grace-period=1).'),
  output: text('', 'Output mode. Use "-o name" for shorter output (resource/name).', { short: 'o' }),
  raw: text('', 'Raw URI to DELETE to the server. Uses the transport specified by the kubeconfig file.'),
  timeout: duration(
    0,
    'The length of time to wait before giving up on a delete, zero means determine a timeout from the size of the object.',
  ),
  wait: toggle(true, 'If true, wait for resources to be gone before returning. This waits for finalizers.'),
};

type DeleteContext = CommandContext<typeof flags>;

/** An object to delete, and the file that names it. */
interface Doomed {
  readonly target: Target & { readonly name: string };
  readonly source: string | undefined;
}

export const deleteCommand = command({
  name: 'delete',
  summary: 'Delete resources by file names, stdin, resources and names, or by resources and label selector',
  usage: '([-f FILENAME] | [-k DIRECTORY] | TYPE [(NAME | -l label | --all)])',
  examples: [
    { title: 'Delete a pod using the type and name specified in pod.json', lines: ['ctl delete -f ./pod.json'] },
    { title: 'Delete pods and services with label name=myLabel', lines: ['ctl delete pods,services -l name=myLabel'] },
    { title: 'Delete a pod with minimal delay', lines: ['ctl delete pod foo --now'] },
    { title: 'Delete all pods', lines: ['ctl delete pods --all'] },
  ],
  flags,
  run: async (context) => {
    const { flags: values, io } = context;
    const cluster = await context.cluster();
    if (values.raw !== '') {
      io.stdout.write(await cluster.text({ method: 'DELETE', url: values.raw }));
      return 0;
    }
    if (values.output !== '' && values.output !== 'name') {
      throw new CommandError(`unexpected -o output mode: ${values.output}. We only support '-o name'`);
    }
    const dryRun = dryRunOf(values, io);
    const body = deletionOf(context);
    const errors: unknown[] = [];
    const doomed = await doomedOf(context, cluster, errors);
    if (doomed.length === 0 && errors.length === 0) {
      io.stdout.write('No resources found\n');
      return 0;
    }
    if (values.interactive && doomed.length > 0 && !(await isConfirmed(doomed, io))) {
      io.stdout.write('deletion is cancelled\n');
      return 0;
    }
    const deleted: { target: Doomed['target']; uid: string }[] = [];
    for (const { target, source } of doomed) {
      try {
        const uid = dryRun === 'client' ? '' : await remove(cluster, target, body, dryRun);
        deleted.push({ target, uid });
        report(context, target, dryRun);
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        if (error.code === 404 && (values.ignoreNotFound || values.all)) continue;
        errors.push(
          source === undefined ? error : duringAction(error, `error when deleting ${JSON.stringify(source)}`),
        );
      }
    }
    if (values.wait && dryRun === 'none')
      for (const each of deleted) await untilGone(io, cluster, each.target, each.uid, values.timeout);
    throwAll(errors);
    return 0;
  },
});

/** Asks whether to delete the objects; anything but `y` on standard input, or its end, means no. */
async function isConfirmed(doomed: readonly Doomed[], { stdin, stdout }: Io): Promise<boolean> {
  const names = doomed.map(({ target: { resource, name } }) => `${printedType(resource)}/${name}\n`).join('');
  stdout.write(`You are about to delete the following ${doomed.length} resource(s):\n${names}`);
  stdout.write('Do you want to continue? (y/n): ');
  let answer = '';
  for await (const bytes of stdin) {
    answer += Buffer.from(bytes).toString();
    if (answer.includes('\n') || answer.length > maxAnswer) break;
  }
  return answer.trim().toLowerCase() === 'y';
}

/** More than any answer to a question has (characters). */
const maxAnswer = 1024;

/** The options of the deletions. @throws CommandError */
function deletionOf({ flags: values, io, isSet }: DeleteContext): JsonObject {
  const { cascade, gracePeriod, now, force, ignoreNotFound } = values;
  const policies: { readonly [cascade: string]: string } = {
    background: 'Background',
    foreground: 'Foreground',
    orphan: 'Orphan',
    true: 'Background',
    false: 'Orphan',
  };
  const propagationPolicy = policies[cascade];
  if (propagationPolicy === undefined) {
    throw new CommandError(`invalid cascade value (${cascade}). Must be "background", "foreground", or "orphan"`);
  }
  if (now && gracePeriod !== -1) throw new CommandError('--now and --grace-period cannot be specified together');
  if (values.all && isSet('selector') && values.selector !== '') {
    throw new CommandError('cannot set --all and --selector at the same time');
  }
  if (gracePeriod === 0 && !force && !ignoreNotFound) return { propagationPolicy, gracePeriodSeconds: 1 };
  if (force) {
    warn(
      io,
      'Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.',
    );
  }
  const seconds = now ? 1 : force && gracePeriod < 0 ? 0 : gracePeriod;
  return { propagationPolicy, ...(seconds < 0 ? {} : { gracePeriodSeconds: seconds }) };
}

async function doomedOf(context: DeleteContext, cluster: Cluster, errors: unknown[]): Promise<Doomed[]> {
  const { args, flags: values, io } = context;
  if (hasFiles(values)) {
    refuseArguments(args);
    const documents = await readDocuments(values, io);
    const placed: Doomed[] = [];
    for (const document of documents) {
      await placeDocument(cluster, document).then(
        ({ resource, namespace, name, source }) => placed.push({ target: { resource, namespace, name }, source }),
        (error) => errors.push(error),
      );
    }
    return placed;
  }
  if (args.length === 0) {
    throw new CommandError(
      `You must provide one or more resources by argument or filename.
Example resource specifications include:
   '-f rsrc.yaml'
   '--filename=rsrc.json'
   '<resource> <name>'
   '<resource>'`,
    );
  }
  const targets = await targetsOf(cluster, args, { allNamespaces: values.allNamespaces });
  const selects = values.all || values.selector !== '' || values.fieldSelector !== '';
  const found: Doomed[] = [];
  for (const target of targets) {
    const { name } = target;
    if (name !== undefined) {
      if (selects) throw new CommandError('name cannot be provided when a selector is specified');
      found.push({ target: { ...target, name }, source: undefined });
    } else if (!selects) throw new CommandError('resource(s) were provided, but no name was specified');
    else
      for (const object of await objectsOfTarget(cluster, target, { selectors: values }))
        found.push(doomedObject(target, object));
  }
  return found;
}

function doomedObject({ resource }: Target, { metadata }: JsonObject): Doomed {
  const { name = '', namespace } = (metadata ?? {}) as { name?: string; namespace?: string };
  return { target: { resource, namespace, name }, source: undefined };
}

/** Returns the uid of the object, as far as the server tells it. */
async function remove(cluster: Cluster, target: Target, body: JsonObject, dryRun: DryRun): Promise<string> {
  const url = urlOf(pathOfTarget(target), dryRun === 'server' ? { dryRun: 'All' } : {});
  const answer = await cluster.send({ method: 'DELETE', url, body });
  const { metadata = null, details = null } = answer;
  const named = [details, metadata].filter(isJsonObject).find(({ uid }) => typeof uid === 'string');
  return named === undefined ? '' : jsonText(named['uid']);
}

function report({ flags: values, io }: DeleteContext, { resource, name }: Doomed['target'], dryRun: DryRun): void {
  const type = printedType(resource);
  if (values.output === 'name') {
    io.stdout.write(`${type}/${name}\n`);
    return;
  }
  const operation = values.gracePeriod === 0 && values.force ? 'force deleted' : 'deleted';
  const suffix = dryRun === 'none' ? '' : dryRun === 'server' ? ' (server dry run)' : ' (dry run)';
  io.stdout.write(`${type} "${name}" ${operation}${suffix}\n`);
}
