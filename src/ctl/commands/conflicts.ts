import { writersOf } from '../../client/index.ts';
import { formatAge, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { objectPath } from '../cluster/resource.ts';
import { command } from '../command.ts';
import { CommandError } from '../errors.ts';
import { text, toggle } from '../flags/flag.ts';
import { filenameFlags, hasFiles, type Manifest, placeDocument, readDocuments } from '../objects/manifests.ts';
import { urlOf } from '../objects/selection.ts';
import { printedName } from '../output/printer.ts';
import { printTable } from '../output/tab-writer.ts';

/** The exit status when an apply would conflict, and after a failure. */
const found = 1;
const failed = 2;

export const conflictsCommand = command({
  name: 'conflicts',
  summary: 'Show whom an apply would override',
  description: `Show the fields of files that other managers own and that an apply would change: it fails, or takes them over with --force-conflicts. Nothing is written.

Exit status: 0 No conflicts. 1 Conflicts. >1 The command failed.`,
  usage: '-f FILENAME',
  examples: [{ title: 'Show the conflicts of a file', lines: ['ctl conflicts -f web.yaml'] }],
  flags: {
    ...filenameFlags,
    fieldManager: text('kubectl', 'Name of the manager that would apply.'),
    noHeaders: toggle(false, "Don't print headers."),
  },
  run: async ({ args, flags, io, cluster }) => {
    if (args.length > 0 || !hasFiles(flags))
      throw new CommandError('must specify -f and nothing else', { status: failed });
    const opened = await cluster();
    const rows: string[][] = [];
    for (const document of await readDocuments(flags, io)) {
      const manifest = await placeDocument(opened, document);
      for (const row of await conflictsOf(opened, manifest, flags.fieldManager, io.clock.now())) rows.push(row);
    }
    if (rows.length === 0) return 0;
    const header = ['OBJECT', 'FIELD', 'MANAGER', 'OPERATION', 'AGE'];
    printTable((line) => io.stdout.write(line), flags.noHeaders ? rows : [header, ...rows]);
    return found;
  },
});

/** A row for each conflict of an object. */
async function conflictsOf(
  cluster: Cluster,
  { object, resource, namespace, name }: Manifest,
  fieldManager: string,
  now: number,
): Promise<string[][]> {
  const path = objectPath(resource, namespace, name);
  try {
    const url = urlOf(path, { fieldManager, dryRun: 'All' });
    await cluster.send({ method: 'PATCH', url, contentType: 'application/apply-patch+yaml', body: object });
    return [];
  } catch (error) {
    const causes = error instanceof StatusError && error.code === 409 ? (error.details?.causes ?? []) : [];
    const conflicts = causes.filter(({ reason }) => reason === 'FieldManagerConflict');
    if (conflicts.length === 0) throw error;
    const writers = writersOf(await cluster.send({ url: path }));
    return conflicts.map(({ field = '', message = '' }) => {
      const [, manager = ''] = /^conflict with "([^"]*)"/.exec(message) ?? [];
      const writer = writers.find((one) => one.manager === manager);
      return [
        printedName(object),
        field.replace(/^\./, ''),
        manager,
        writer?.operation ?? '<unknown>',
        formatAge(writer?.time, now),
      ];
    });
  }
}
