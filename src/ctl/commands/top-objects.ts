import { writerOf } from '../../client/index.ts';
import { at, type JsonObject, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { pathOf, qualifiedName, type Resource } from '../cluster/resource.ts';
import { command } from '../command.ts';
import { CommandError } from '../errors.ts';
import { duration, integer, list } from '../flags/flag.ts';
import { storedResources } from '../history/stored-resources.ts';
import type { Io } from '../io.ts';
import { followEvents } from '../objects/events-of-watch.ts';
import { jsonText } from '../output/json.ts';
import { printTable } from '../output/tab-writer.ts';

/** The groups by which changes are counted. */
const groupings = ['kind', 'namespace', 'manager', 'name'] as const;
type Grouping = (typeof groupings)[number];

/** The most rows that are counted; changes beyond them count as `<others>`. */
const maxRows = 10_000;

export const topObjectsCommand = command({
  name: 'top-objects',
  summary: 'Show which objects change most',
  description: `Count the changes of all objects as they happen, by kind, namespace and field manager, until Ctrl-C. On a terminal the table is painted again at each interval.

 All resources are watched that you may list and watch, in all namespaces, or in that of --namespace.`,
  usage: '',
  examples: [
    { title: 'Show what changes', lines: ['ctl top-objects'] },
    {
      title: 'Show which objects of a namespace change, and end after 100 changes',
      lines: ['ctl top-objects -n web --by=kind,name --count=100'],
    },
  ],
  flags: {
    by: list(`What to count by: one or more of ${groupings.join(', ')}.`, {
      default: ['kind', 'namespace', 'manager'],
    }),
    count: integer(0, 'End after so many changes. 0 counts until Ctrl-C.'),
    interval: duration(2_000, 'How often the table is painted on a terminal.'),
    limit: integer(20, 'The maximum number of rows.'),
  },
  run: async ({ args, flags, io, path, cluster }) => {
    if (args.length > 0)
      throw new CommandError(`unexpected arguments: [${args.join(' ')}]\nSee '${path} -h' for help and examples`);
    const by = flags.by.filter((name): name is Grouping => (groupings as readonly string[]).includes(name));
    if (by.length === 0 || by.length < flags.by.length)
      throw new CommandError(`--by must be a list of ${groupings.join(', ')}`);
    const opened = await cluster();
    const counter = new Counter(by);
    const paint = () => counter.print(io, flags.limit);
    const timer =
      io.stdout.isTTY === true
        ? setInterval(
            () => {
              // The cursor goes to the first line; what was there is erased.
              io.stdout.write('\u001b[H\u001b[2J');
              paint();
            },
            Math.max(flags.interval, 100),
          )
        : undefined;
    try {
      await countChanges(opened, io, (change) => {
        counter.add(change);
        return flags.count > 0 && counter.total >= flags.count;
      });
    } finally {
      clearInterval(timer);
    }
    paint();
    return 0;
  },
});

interface Change {
  readonly resource: Resource;
  readonly object: JsonObject;
}

/** Receives the changes of all resources until it returns true, or Ctrl-C. */
async function countChanges(cluster: Cluster, io: Io, changed: (change: Change) => boolean): Promise<void> {
  const namespace = cluster.isNamespaceSet ? cluster.namespace : undefined;
  const discovery = await cluster.discovery();
  const resources = storedResources(discovery).filter(({ namespaced }) => namespaced || namespace === undefined);
  const accept = `application/json;as=PartialObjectMetadata;v=v1;g=meta.${discovery.names.domain}`;
  const end = new AbortController();
  const until = AbortSignal.any([io.signal, end.signal]);
  const start = await cluster.send({ url: '/api/v1/namespaces?limit=1' });
  const resourceVersion = jsonText(at(start, 'metadata', 'resourceVersion'));
  const refused: string[] = [];
  const follow = async (resource: Resource) => {
    const event = ({ object }: { readonly object: JsonObject }) => {
      if (until.aborted || changed({ resource, object })) end.abort();
      return until.aborted;
    };
    try {
      await followEvents(io, cluster, {
        path: pathOf(resource, namespace),
        query: { resourceVersion },
        accept,
        until,
        event,
      });
    } catch (error) {
      if (!(error instanceof StatusError) || ![403, 404, 405].includes(error.code)) throw error;
      refused.push(qualifiedName(resource));
    }
  };
  io.stderr.write(`Watching ${resources.length} resources. Press Ctrl-C to end.\n`);
  await Promise.all(resources.map(follow));
  if (refused.length > 0) io.stderr.write(`Not watched, because the server refused: ${refused.join(', ')}\n`);
}

/** Counts changes by what they have in common. */
class Counter {
  total = 0;
  readonly #by: readonly Grouping[];
  /** The last state of the objects that have changed, by UID: what differs from it tells who wrote. */
  readonly #last = new Map<string, JsonObject>();
  readonly #rows = new Map<string, { readonly cells: readonly string[]; changes: number }>();

  constructor(by: readonly Grouping[]) {
    this.#by = by;
  }

  add({ resource, object }: Change): void {
    this.total++;
    const uid = jsonText(at(object, 'metadata', 'uid'));
    const before = this.#last.get(uid);
    if (before !== undefined || this.#last.size < maxRows) this.#last.set(uid, object);
    const values: { readonly [name in Grouping]: string } = {
      kind: resource.kind,
      namespace: jsonText(at(object, 'metadata', 'namespace') ?? '<none>'),
      manager: writerOf(object, before)?.manager ?? '<none>',
      name: jsonText(at(object, 'metadata', 'name')),
    };
    const own = this.#by.map((name) => values[name]);
    const cells = this.#rows.size < maxRows || this.#rows.has(own.join('/')) ? own : own.map(() => '<others>');
    const key = cells.join('/');
    this.#rows.set(key, { cells, changes: (this.#rows.get(key)?.changes ?? 0) + 1 });
  }

  /** Prints the rows with the most changes. */
  print({ stdout }: Io, limit: number): void {
    const rows = [...this.#rows.values()].toSorted((a, b) => b.changes - a.changes).slice(0, limit);
    const share = (changes: number) => `${Math.round((100 * changes) / this.total)}%`;
    printTable(
      (line) => stdout.write(line),
      [
        [...this.#by.map((name) => name.toUpperCase()), 'CHANGES', 'SHARE'],
        ...rows.map(({ cells, changes }) => [...cells, String(changes), share(changes)]),
      ],
    );
  }
}
