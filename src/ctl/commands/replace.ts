import { StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { objectPath, pathOf, printedType } from '../cluster/resource.ts';
import { command } from '../command.ts';
import { CommandError, duringAction, throwAll, usageError } from '../errors.ts';
import { integer, text, toggle } from '../flags/flag.ts';
import type { Io } from '../io.ts';
import { changeFlags, changeQuery, dryRunOf, fieldValidationOf, Reporter, validateFlag } from '../objects/change.ts';
import { filenameFlags, hasFiles, type Manifest, placeDocument, readDocuments } from '../objects/manifests.ts';
import { urlOf } from '../objects/selection.ts';
import { untilGone } from '../objects/until-gone.ts';

export const replaceCommand = command({
  name: 'replace',
  summary: 'Replace a resource by file name or stdin',
  description:
    'Replace a resource by file name or stdin.\n\n JSON and YAML formats are accepted. If replacing an existing resource, the complete resource spec must be provided.',
  usage: '-f FILENAME',
  examples: [{ title: 'Replace a pod using the data in pod.json', lines: ['ctl replace -f ./pod.json'] }],
  flags: {
    ...changeFlags('kubectl-replace'),
    ...validateFlag,
    ...filenameFlags,
    force: toggle(false, 'If true, delete the objects and create them again.'),
    gracePeriod: integer(-1, 'Period of time in seconds for graceful deletion, with --force. Ignored if negative.'),
    subresource: text('', 'If specified, replace will operate on the subresource of the requested object.'),
  },
  run: async ({ args, flags, io, path, cluster }) => {
    if (!hasFiles(flags)) throw new CommandError('must specify one of -f and -k');
    if (args.length > 0) throw usageError(`Unexpected args: [${args.join(' ')}]`, path);
    const dryRun = dryRunOf(flags, io);
    if (flags.force && dryRun !== 'none') throw new CommandError('--dry-run can not be used when --force is set');
    const query = { ...changeQuery(flags, dryRun), fieldValidation: fieldValidationOf(flags) };
    const opened = await cluster();
    const reporter = await Reporter.open(flags, dryRun, io);
    const documents = await readDocuments(flags, io);
    if (documents.length === 0) throw new CommandError('no objects passed to replace');
    const errors: unknown[] = [];
    const manifests: Manifest[] = [];
    for (const document of documents) {
      await placeDocument(opened, document).then(
        (manifest) => manifests.push(manifest),
        (error) => errors.push(error),
      );
    }
    if (flags.force) for (const manifest of manifests) await remove(opened, io, manifest, flags.gracePeriod);
    for (const { object, resource, namespace, name, source } of manifests) {
      const own = objectPath(resource, namespace, name);
      const path = flags.subresource === '' ? own : `${own}/${flags.subresource}`;
      try {
        if (dryRun === 'client') reporter.changed(object, 'replaced');
        else {
          const request = flags.force
            ? ({ method: 'POST', url: urlOf(pathOf(resource, namespace), query), body: object } as const)
            : ({ method: 'PUT', url: urlOf(path, query), body: object } as const);
          reporter.changed(await opened.send(request), 'replaced');
        }
      } catch (error) {
        errors.push(duringAction(error, `error when replacing ${JSON.stringify(source)}`));
      }
    }
    throwAll(errors);
    return 0;
  },
});

/** Deletes an object, if it exists, and waits until it is gone. */
async function remove(cluster: Cluster, io: Io, manifest: Manifest, gracePeriod: number): Promise<void> {
  const { resource, namespace, name } = manifest;
  const body = gracePeriod < 0 ? {} : { gracePeriodSeconds: gracePeriod };
  const url = objectPath(resource, namespace, name);
  const removed = await cluster.send({ method: 'DELETE', url, body }).catch(ignoreMissing);
  if (removed === undefined) return;
  io.stdout.write(`${printedType(resource)} "${name}" deleted\n`);
  await untilGone(io, cluster, manifest, '', 0);
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof StatusError && error.code === 404)) throw error;
}
