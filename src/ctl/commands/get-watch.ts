import { isJsonObject, type JsonObject } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { eventVersion, followEvents } from '../objects/events-of-watch.ts';
import { pagesOfTarget } from '../objects/pages.ts';
import { pathOfTarget, type Target } from '../objects/targets.ts';
import { jsonText } from '../output/json.ts';
import type { Printer } from '../output/printer.ts';
import { readTable, tableAccept } from '../output/server-table.ts';
import { TablePrinter } from '../output/table-printer.ts';
import { type GetContext, tableOptions } from './get-flags.ts';

/** Prints the objects of a target, and each change of them until Ctrl-C. */
export async function watchTarget(
  context: GetContext,
  cluster: Cluster,
  target: Target,
  printer: Printer | undefined,
): Promise<void> {
  const show = printer === undefined ? await showTables(context, cluster, target) : showObjects(context, printer);
  const { watchOnly } = context.flags;
  let version = '';
  for await (const page of pagesOfTarget(cluster, target, { selectors: context.flags, accept: show.accept })) {
    version = eventVersion(page) ?? '';
    if (!watchOnly) show.page(page);
  }
  // A watch of one object selects it by its name.
  const { name, ...all } = target;
  const fieldSelector = name === undefined ? context.flags.fieldSelector : `metadata.name=${name}`;
  await followEvents(context.io, cluster, {
    path: pathOfTarget({ ...all, name: undefined }),
    // The version of one object may be too old for a watch, unlike that of a list: zero begins with the present object.
    query: {
      labelSelector: context.flags.selector,
      fieldSelector,
      resourceVersion: name === undefined ? version : '0',
    },
    accept: show.accept,
    event: ({ type, object }) => {
      const isShown = name !== undefined && type === 'ADDED' && eventVersion(object) === version;
      if (!isShown) show.event(type, object);
    },
  });
}

interface Show {
  readonly accept: string;
  readonly page: (page: JsonObject) => void;
  readonly event: (type: string, object: JsonObject) => void;
}

async function showTables(context: GetContext, cluster: Cluster, target: Target): Promise<Show> {
  const { io, flags } = context;
  const printer = new TablePrinter((line) => io.stdout.write(line), tableOptions(context, [target]));
  const table = (body: JsonObject, type?: string) => {
    const read = readTable(body);
    const shown = type === undefined || !flags.outputWatchEvents ? read : withEvent(read, type);
    printer.add(target.resource, shown);
    printer.flush();
  };
  return {
    accept: tableAccept((await cluster.discovery()).names),
    page: (page) => table(page, 'ADDED'),
    event: (type, object) => table(object, type),
  };
}

type Table = ReturnType<typeof readTable>;

/** Puts a column with the type of the event first. */
const withEvent = (table: Table, type: string): Table => ({
  ...table,
  columns: table.columns.length === 0 ? [] : [{ name: 'Event', priority: 0, isName: false }, ...table.columns],
  rows: table.rows.map(({ cells, object }) => ({ cells: [type, ...cells], object })),
});

function showObjects({ flags }: GetContext, printer: Printer): Show {
  const print = (type: string, object: JsonObject) => {
    printer.print(flags.outputWatchEvents ? { type, object } : object);
    printer.flush();
  };
  return {
    accept: 'application/json',
    page: (page) => {
      const { items, apiVersion, kind } = page;
      if (!Array.isArray(items)) print('ADDED', page);
      for (const item of Array.isArray(items) ? items.filter(isJsonObject) : []) {
        print('ADDED', { apiVersion: apiVersion ?? 'v1', kind: jsonText(kind).replace(/List$/, ''), ...item });
      }
    },
    event: print,
  };
}
