import { type JsonObject, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { qualifiedName } from '../cluster/resource.ts';
import { command } from '../command.ts';
import { CommandError, throwAll } from '../errors.ts';
import { clusterAt } from '../history/cluster-at.ts';
import { readMoment } from '../history/moment.ts';
import { storedResources } from '../history/stored-resources.ts';
import { hasFiles, placeDocument, readDocuments, refuseArguments } from '../objects/manifests.ts';
import { objectsOfTarget, pagesOfTarget, readingText } from '../objects/pages.ts';
import { type Target, targetsOf } from '../objects/targets.ts';
import { getFormats, type Printer, printerOf } from '../output/printer.ts';
import { readTable, type ServerTable, tableAccept } from '../output/server-table.ts';
import { sortedBy } from '../output/sort.ts';
import { TablePrinter } from '../output/table-printer.ts';
import { type GetContext, getFlags, tableOptions } from './get-flags.ts';
import { watchTarget } from './get-watch.ts';

export const getCommand = command({
  name: 'get',
  summary: 'Display one or many resources',
  description: `Display one or many resources.

 Prints a table of the most important information about the specified resources. You can filter the list using a label selector and the --selector flag. If the desired resource type is namespaced you will only see results in the current namespace if you don't specify any namespace.

Use "orch ctl api-resources" for a complete list of supported resources.`,
  usage: `[(-o|--output=)${getFormats.join('|')}] (TYPE[.VERSION][.GROUP] [NAME | -l label] | TYPE[.VERSION][.GROUP]/NAME ...)`,
  examples: [
    { title: 'List all pods', lines: ['ctl get pods'] },
    { title: 'List all pods with more information (such as node name)', lines: ['ctl get pods -o wide'] },
    {
      title: 'List deployments in JSON output format, in the "v1" version of the "apps" API group',
      lines: ['ctl get deployments.v1.apps -o json'],
    },
    {
      title: 'Return only the phase value of the specified pod',
      lines: ["ctl get pod/web -o jsonpath='{.status.phase}'"],
    },
    {
      title: 'List resource information in custom columns',
      lines: ['ctl get pod web -o custom-columns=CONTAINER:.spec.containers[0].name,IMAGE:.spec.containers[0].image'],
    },
    { title: 'List all replication controllers and services together', lines: ['ctl get rc,services'] },
    { title: 'List all pods existing in all namespaces', lines: ['ctl get pods --all-namespaces'] },
  ],
  flags: getFlags,
  run: async (context) => {
    const { args, flags: values, io } = context;
    if (values.raw !== '') {
      io.stdout.write(await (await context.cluster()).text({ url: values.raw }));
      return 0;
    }
    if (values.outputWatchEvents && !values.watch && !values.watchOnly)
      throw new CommandError('--output-watch-events option can only be used with --watch or --watch-only');
    const opened = await context.cluster();
    const cluster = values.at === '' ? opened : clusterAt(opened, await readMoment(opened, values.at, io.clock.now()));
    const targets = await targetsOfGet(context, cluster);
    const write = (line: string) => io.stdout.write(line);
    const { folder } = io;
    const printer = await printerOf(values, { write, folder, noHeaders: values.noHeaders, formats: getFormats });
    if (values.watch || values.watchOnly) {
      if (values.at !== '') throw new CommandError('--at cannot be used with --watch: the past does not change');
      if (new Set(targets.map(({ resource }) => resource)).size > 1 || targets.length > 1) {
        throw new CommandError('you may only specify a single resource type');
      }
      await watchTarget(context, cluster, targets[0] as Target, printer);
      return 0;
    }
    const single =
      !hasFiles(values) && args.length === (args[0]?.includes('/') === true ? 1 : 2) && targets.length === 1;
    if (printer === undefined) await printTables(context, cluster, targets);
    else await printObjects(context, cluster, targets, printer, single);
    return 0;
  },
});

async function targetsOfGet({ args, flags: values, io, path }: GetContext, cluster: Cluster): Promise<Target[]> {
  if (hasFiles(values)) {
    refuseArguments(args);
    const targets: Target[] = [];
    for (const document of await readDocuments(values, io)) targets.push(await placeDocument(cluster, document));
    return targets;
  }
  const types = args.length === 0 && values.at !== '' ? [await everyType(cluster)] : args;
  if (types.length === 0) {
    io.stderr.write(
      'You must specify the type of resource to get. Use "orch ctl api-resources" for a complete list of supported resources.\n\n',
    );
    throw new CommandError(
      `Required resource not specified.\nUse "orch ctl explain <resource>" for a detailed description of that resource (e.g. orch ctl explain pods).\nSee '${path} -h' for help and examples`,
    );
  }
  const targets = await targetsOf(cluster, types, { allNamespaces: values.allNamespaces });
  if ((values.selector !== '' || values.fieldSelector !== '') && targets.some(({ name }) => name !== undefined)) {
    throw new CommandError('name cannot be provided when a selector is specified');
  }
  const { subresource } = values;
  if (subresource === '') return targets;
  if (targets.some(({ name }) => name === undefined)) {
    throw new CommandError('subresource cannot be used when bulk resources are specified');
  }
  return targets.map((target) => ({ ...target, subresource }));
}

/** The types of all objects. */
const everyType = async (cluster: Cluster): Promise<string> =>
  storedResources(await cluster.discovery())
    .map(qualifiedName)
    .join(',');

async function printTables(context: GetContext, cluster: Cluster, targets: readonly Target[]): Promise<void> {
  const { flags: values, io } = context;
  const accept = values.serverPrint ? tableAccept((await cluster.discovery()).names) : 'application/json';
  const printer = new TablePrinter((line) => io.stdout.write(line), tableOptions(context, targets));
  const { sortBy, chunkSize } = values;
  const errors: unknown[] = [];
  const includeObject = sortBy === '' ? undefined : ('Object' as const);
  const options = { selectors: values, chunkSize, accept, includeObject };
  for (const target of targets) {
    let count = 0;
    const printTarget = async () => {
      const tables: ServerTable[] = [];
      for await (const page of pagesOfTarget(cluster, target, options)) {
        const table = readTable(page);
        count += table.rows.length;
        if (sortBy === '') printer.add(target.resource, table);
        else tables.push(table);
      }
      const [first] = tables;
      if (first === undefined) return;
      const all = tables.flatMap(({ rows }) => rows);
      printer.add(target.resource, { ...first, rows: sortedBy(all, sortBy, ({ object }) => object) });
    };
    await io.progress
      .during(() => readingText(target.resource.name, count), printTarget)
      .catch((error: unknown) => collect(error, values.ignoreNotFound, errors));
  }
  printer.flush();
  if (printer.isEmpty && errors.length === 0 && !values.ignoreNotFound) reportNothing(context, cluster, targets);
  throwAll(errors);
}

function reportNothing({ flags: values, io }: GetContext, cluster: Cluster, targets: readonly Target[]): void {
  const inNamespace = !values.allNamespaces && targets.some(({ resource }) => resource.namespaced);
  io.stderr.write(`No resources found${inNamespace ? ` in ${cluster.namespace} namespace.` : ''}\n`);
}

/** Keeps an error of the server for the end of the command. */
function collect(error: unknown, ignoreNotFound: boolean, errors: unknown[]): void {
  if (!(error instanceof StatusError)) throw error;
  if (!(ignoreNotFound && error.reason === 'NotFound')) errors.push(error);
}

async function printObjects(
  { flags: values }: GetContext,
  cluster: Cluster,
  targets: readonly Target[],
  printer: Printer,
  single: boolean,
): Promise<void> {
  const errors: unknown[] = [];
  const found: JsonObject[] = [];
  const { chunkSize, sortBy } = values;
  for (const target of targets) {
    try {
      for (const object of await objectsOfTarget(cluster, target, { selectors: values, chunkSize })) found.push(object);
    } catch (error) {
      collect(error, values.ignoreNotFound, errors);
    }
  }
  const objects = sortBy === '' ? found : sortedBy(found, sortBy, (object) => object);
  const isColumns = values.output.startsWith('custom-columns');
  if (single || isColumns) for (const object of objects) printer.print(object);
  else if (errors.length === 0 || objects.length > 0) {
    printer.print({ apiVersion: 'v1', items: objects, kind: 'List', metadata: { resourceVersion: '' } });
  }
  if (isColumns && objects.length === 0 && errors.length > 0) throwAll(errors);
  printer.flush();
  throwAll(errors);
}
