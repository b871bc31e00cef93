import { stringifyYaml } from '../../codec/index.ts';
import { StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { command } from '../command.ts';
import { CommandError, throwAll } from '../errors.ts';
import { integer, list, text, toggle } from '../flags/flag.ts';
import { pathOfTarget, type Target, targetsOf } from '../objects/targets.ts';
import { indentedJson } from '../output/json.ts';
import { cellsOf, headerOf, readTable, type TableOptions, tableAccept } from '../output/server-table.ts';
import { TabWriter } from '../output/tab-writer.ts';

export const getCommand = command({
  name: 'get',
  summary: 'Display one or many resources',
  usage: '(TYPE[.VERSION][.GROUP] [NAME | -l label] | TYPE[.VERSION][.GROUP]/NAME ...)',
  examples: [{ title: 'List all pods', lines: ['ctl get pods'] }],
  flags: {
    allNamespaces: toggle(false, 'If present, list the requested object(s) across all namespaces.', { short: 'A' }),
    chunkSize: integer(500, 'Return large lists in chunks rather than all at once. Pass 0 to disable.'),
    labelColumns: list('Labels that are presented as columns.', { short: 'L' }),
    noHeaders: toggle(false, "Don't print headers (default print headers)."),
    output: text('', 'Output format. One of: (json, yaml, wide).', { short: 'o' }),
    showLabels: toggle(false, 'When printing, show all labels as the last column (default hide labels column)'),
  },
  run: async ({ args, flags, io, path, cluster }) => {
    if (args.length === 0)
      throw new CommandError(`Required resource not specified.\nSee '${path} -h' for help and examples`);
    const opened = await cluster();
    const targets = await targetsOf(opened, args, { allNamespaces: flags.allNamespaces });
    const write = (line: string) => io.stdout.write(line);
    if (flags.output === 'json' || flags.output === 'yaml') {
      for (const target of targets) {
        const object = await opened.send({ url: pathOfTarget(target) });
        write(flags.output === 'json' ? `${indentedJson(object)}\n` : stringifyYaml(object));
      }
      return 0;
    }
    const options = {
      wide: flags.output === 'wide',
      noHeaders: flags.noHeaders,
      withNamespace: flags.allNamespaces,
      withKind: new Set(targets.map(({ resource }) => resource)).size > 1,
      showLabels: flags.showLabels,
      labelColumns: flags.labelColumns,
    };
    await printTables(opened, targets, options, write);
    return 0;
  },
});

async function printTables(
  cluster: Cluster,
  targets: readonly Target[],
  options: TableOptions,
  write: (text: string) => unknown,
): Promise<void> {
  const accept = tableAccept((await cluster.discovery()).names);
  const writer = new TabWriter(write);
  const errors: unknown[] = [];
  let before: Target['resource'] | undefined;
  for (const target of targets) {
    try {
      const table = readTable(await cluster.send({ url: pathOfTarget(target), accept }));
      if (table.rows.length === 0) continue;
      if (before !== undefined && before !== target.resource) {
        writer.flush();
        writer.reset();
        write('\n');
      }
      const shown = { ...options, withNamespace: options.withNamespace && target.resource.namespaced };
      if (before !== target.resource && !options.noHeaders) writer.row(headerOf(table.columns, shown));
      before = target.resource;
      for (const row of table.rows) writer.row(cellsOf(row, table.columns, target.resource, shown));
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      errors.push(error);
    }
  }
  writer.flush();
  throwAll(errors);
}
