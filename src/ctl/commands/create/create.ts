import { pathOf } from '../../cluster/resource.ts';
import { command } from '../../command.ts';
import { CommandError, duringAction, throwAll, usageError } from '../../errors.ts';
import { text } from '../../flags/flag.ts';
import { changeFlags, changeQuery, dryRunOf, fieldValidationOf, Reporter, validateFlag } from '../../objects/change.ts';
import { filenameFlags, hasFiles, placeDocument, readDocuments } from '../../objects/manifests.ts';
import { matchesSelector } from '../../objects/matches-selector.ts';
import { selectorFlags, urlOf } from '../../objects/selection.ts';
import { configurationGenerators } from './configuration.ts';
import { rbacGenerators } from './rbac.ts';
import { serviceGenerators } from './services.ts';
import { tokenCommand } from './token.ts';
import { workloadGenerators } from './workloads.ts';

const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1);

export const createCommand = command({
  name: 'create',
  summary: 'Create a resource from a file or from stdin',
  description: 'Create a resource from a file or from stdin.\n\n JSON and YAML formats are accepted.',
  usage: '-f FILENAME',
  examples: [
    { title: 'Create a pod using the data in pod.json', lines: ['ctl create -f ./pod.json'] },
    { title: 'Create a pod based on the JSON passed into stdin', lines: ['cat pod.json | orch ctl create -f -'] },
  ],
  flags: {
    ...changeFlags('kubectl-create'),
    ...validateFlag,
    ...filenameFlags,
    selector: selectorFlags.selector,
    raw: text('', 'Raw URI to POST to the server. Uses the transport specified by the kubeconfig file.'),
  },
  subcommands: [
    ...configurationGenerators,
    ...rbacGenerators,
    ...serviceGenerators,
    ...workloadGenerators,
    tokenCommand,
  ].sort(byName),
  run: async ({ args, flags, io, path, cluster }) => {
    if (args.length > 0) throw usageError(`Unexpected args: [${args.join(' ')}]`, path);
    if (!hasFiles(flags)) throw new CommandError('must specify one of -f and -k');
    const opened = await cluster();
    if (flags.raw !== '') {
      const [file] = await readDocuments(flags, io);
      if (file === undefined) throw new CommandError('--raw can only use a single local file or stdin');
      io.stdout.write(await opened.text({ method: 'POST', url: flags.raw, body: file.object }));
      return 0;
    }
    const dryRun = dryRunOf(flags, io);
    const fieldValidation = fieldValidationOf(flags);
    const reporter = await Reporter.open(flags, dryRun, io);
    const errors: unknown[] = [];
    let count = 0;
    for (const document of await readDocuments(flags, io)) {
      if (!matchesSelector(document.object, flags.selector)) continue;
      count++;
      try {
        const { object, resource, namespace, source } = await placeDocument(opened, document);
        const url = urlOf(pathOf(resource, namespace), { ...changeQuery(flags, dryRun), fieldValidation });
        const created =
          dryRun === 'client'
            ? object
            : await opened.send({ method: 'POST', url, body: object }).catch((error: unknown) => {
                throw duringAction(error, `error when creating ${JSON.stringify(source)}`);
              });
        reporter.changed(created, 'created');
      } catch (error) {
        errors.push(error);
      }
    }
    throwAll(errors);
    if (count === 0) throw new CommandError('no objects passed to create');
    return 0;
  },
});
