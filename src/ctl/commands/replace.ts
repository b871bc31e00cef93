import { StatusError } from '../../meta/index.ts';
import { objectPath, pathOf, printedType } from '../cluster/resource.ts';
import { command } from '../command.ts';
import { CommandError, duringAction, throwAll, usageError } from '../errors.ts';
import { integer, text, toggle } from '../flags/flag.ts';
import { changeFlags, changeQuery, dryRunOf, fieldValidationOf, Reporter, validateFlag } from '../objects/change.ts';
import { filenameFlags, hasFiles, placeDocument, readDocuments } from '../objects/manifests.ts';
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
    for (const document of documents) {
      try {
        const manifest = await placeDocument(opened, document);
        const { object, resource, namespace, name, source } = manifest;
        const own = objectPath(resource, namespace, name);
        if (dryRun === 'client') reporter.changed(object, 'replaced');
        else if (flags.force) {
          const body = flags.gracePeriod < 0 ? {} : { gracePeriodSeconds: flags.gracePeriod };
          const removed = await opened.send({ method: 'DELETE', url: own, body }).catch(ignoreMissing);
          if (removed !== undefined) {
            io.stdout.write(`${printedType(resource)} "${name}" deleted\n`);
            await untilGone(io, opened, manifest, '', 0);
          }
          const url = urlOf(pathOf(resource, namespace), query);
          reporter.changed(await opened.send({ method: 'POST', url, body: object }), 'replaced');
        } else {
          const url = urlOf(flags.subresource === '' ? own : `${own}/${flags.subresource}`, query);
          const replaced = await opened.send({ method: 'PUT', url, body: object }).catch((error: unknown) => {
            throw duringAction(error, `error when replacing ${JSON.stringify(source)}`);
          });
          reporter.changed(replaced, 'replaced');
        }
      } catch (error) {
        errors.push(error);
      }
    }
    throwAll(errors);
    return 0;
  },
});

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof StatusError && error.code === 404)) throw error;
}
