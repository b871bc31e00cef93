import { formatAge, isJsonObject, type JsonObject, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { command } from '../command.ts';
import { CommandError, throwAll, usageError } from '../errors.ts';
import { integer, toggle } from '../flags/flag.ts';
import { filenameFlags, hasFiles, placeDocument, readDocuments } from '../objects/manifests.ts';
import { objectsOfTarget } from '../objects/pages.ts';
import { selectorFlags, urlOf } from '../objects/selection.ts';
import { type Target, targetsOf } from '../objects/targets.ts';
import { descriptionOf } from '../output/description.ts';
import { jsonText } from '../output/json.ts';

export const describeCommand = command({
  name: 'describe',
  summary: 'Show details of a specific resource or group of resources',
  description:
    'Show details of a specific resource or group of resources.\n\n Print a detailed description of the selected resources: all their fields, and the events about them.',
  usage: '(-f FILENAME | TYPE [NAME_PREFIX | -l label] | TYPE/NAME)',
  examples: [
    { title: 'Describe a node', lines: ['ctl describe nodes my-node'] },
    { title: 'Describe all pods', lines: ['ctl describe pods'] },
  ],
  flags: {
    ...filenameFlags,
    selector: selectorFlags.selector,
    allNamespaces: toggle(false, 'If present, list the requested object(s) across all namespaces.', { short: 'A' }),
    chunkSize: integer(500, 'Return large lists in chunks rather than all at once. Pass 0 to disable.'),
    showEvents: toggle(true, 'If true, display events related to the described object.'),
  },
  run: async ({ args, flags, io, path, cluster }) => {
    const opened = await cluster();
    const targets: Target[] = [];
    if (hasFiles(flags))
      for (const one of await readDocuments(flags, io)) targets.push(await placeDocument(opened, one));
    else if (args.length === 0) throw usageError('You must specify the type of resource to describe.', path);
    else for (const one of await targetsOf(opened, args, { allNamespaces: flags.allNamespaces })) targets.push(one);
    const errors: unknown[] = [];
    let count = 0;
    for (const target of targets) {
      try {
        for (const object of await described(opened, target, flags)) {
          const events = flags.showEvents ? await eventsAbout(opened, object) : undefined;
          const end = events?.length === 0 ? (['Events', '<none>'] as const) : undefined;
          const text = `${descriptionOf(object, end)}${eventsText(events ?? [], io.clock.now())}`;
          io.stdout.write(`${count++ === 0 ? '' : '\n\n'}${text}`);
        }
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        errors.push(error);
      }
    }
    if (count === 0 && errors.length === 0) {
      const where = flags.allNamespaces ? '' : ` in ${opened.namespace} namespace.`;
      io.stderr.write(`No resources found${where}\n`);
    }
    throwAll(errors);
    return 0;
  },
});

/** The object of a name, or those whose names begin with it. */
async function described(
  cluster: Cluster,
  target: Target,
  flags: { readonly selector: string; readonly chunkSize: number },
): Promise<JsonObject[]> {
  const options = { selectors: { selector: flags.selector }, chunkSize: flags.chunkSize };
  try {
    return await objectsOfTarget(cluster, target, options);
  } catch (error) {
    const { name } = target;
    if (name === undefined || !(error instanceof StatusError) || error.code !== 404) throw error;
    const all = await objectsOfTarget(cluster, { ...target, name: undefined }, options);
    const matches = all.filter(({ metadata }) => isJsonObject(metadata) && jsonText(metadata['name']).startsWith(name));
    if (matches.length === 0) throw error;
    return matches;
  }
}

/** The events about an object. Without the right to read them, there are none. */
async function eventsAbout(cluster: Cluster, { kind, metadata }: JsonObject): Promise<JsonObject[]> {
  const { name = '', namespace, uid = '' } = metadata as { name?: string; namespace?: string; uid?: string };
  const selector = [
    `involvedObject.name=${name}`,
    `involvedObject.kind=${jsonText(kind)}`,
    ...(uid === '' ? [] : [`involvedObject.uid=${uid}`]),
    ...(namespace === undefined ? [] : [`involvedObject.namespace=${namespace}`]),
  ].join(',');
  const path =
    namespace === undefined ? '/api/v1/events' : `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
  try {
    const { items } = await cluster.send({ url: urlOf(path, { fieldSelector: selector, limit: 500 }) });
    return Array.isArray(items) ? items.filter(isJsonObject) : [];
  } catch (error) {
    if (error instanceof StatusError || error instanceof CommandError) return [];
    throw error;
  }
}

function eventsText(events: readonly JsonObject[], now: number): string {
  if (events.length === 0) return '';
  const rows = events
    .toSorted((a, b) => (jsonText(a['lastTimestamp']) < jsonText(b['lastTimestamp']) ? -1 : 1))
    .map((event) => {
      const source = isJsonObject(event['source']) ? event['source'] : {};
      const age = formatAge(jsonText(event['lastTimestamp'] ?? event['eventTime']), now);
      const count = Number(event['count'] ?? 1);
      const first = formatAge(jsonText(event['firstTimestamp'] ?? event['eventTime']), now);
      const from = jsonText(source['component'] ?? event['reportingComponent']);
      return [
        jsonText(event['type']),
        jsonText(event['reason']),
        count > 1 ? `${age} (x${count} over ${first})` : age,
        from,
        jsonText(event['message']).trim(),
      ];
    });
  const table = [['Type', 'Reason', 'Age', 'From', 'Message'], ['----', '------', '----', '----', '-------'], ...rows];
  const widths = [0, 1, 2, 3].map((i) => table.reduce((longest, row) => Math.max(longest, (row[i] ?? '').length), 0));
  const lines = table.map(
    (row) => `  ${row.map((cell, i) => (i < 4 ? cell.padEnd((widths[i] ?? 0) + 2) : cell)).join('')}\n`,
  );
  return `Events:\n${lines.join('')}`;
}
