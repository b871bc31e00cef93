import { changesText, isSecret, readVersions, type Versions, versionEntries } from '../../client/index.ts';
import { formatAge } from '../../meta/index.ts';
import { command } from '../command.ts';
import { CommandError } from '../errors.ts';
import { integer, text, toggle } from '../flags/flag.ts';
import { formerOf, readLatest, singleTarget } from '../history/former.ts';
import { targetsOf } from '../objects/targets.ts';
import { indentedJson } from '../output/json.ts';
import { printTable } from '../output/tab-writer.ts';

export const historyCommand = command({
  name: 'history',
  summary: 'Show the versions of an object',
  description: `Show the versions of an object, the newest first: when and by which field manager each was written, and what changed. Users are not shown: objects do not record them, the audit log does.

 The server must run with --object-history and keeps versions for a limited time. Values of secrets are not shown.`,
  usage: '(TYPE NAME | TYPE/NAME)',
  examples: [
    { title: 'Show the last versions of a config map', lines: ['ctl history configmap settings'] },
    { title: 'Show all versions that the server has', lines: ['ctl history deployment/web --limit=0'] },
  ],
  flags: {
    limit: integer(20, 'The maximum number of versions. 0 shows all.'),
    noHeaders: toggle(false, "Don't print headers."),
    output: text('', 'Output format. Empty for a table, or json for a list of the versions themselves.', {
      short: 'o',
    }),
  },
  run: async ({ args, flags, io, path, cluster }) => {
    if (!['', 'json'].includes(flags.output)) throw new CommandError('--output must be json');
    if (flags.limit < 0) throw new CommandError('--limit must not be negative');
    const opened = await cluster();
    const target = singleTarget(await targetsOf(opened, args), path);
    const limit = flags.limit === 0 ? Number.POSITIVE_INFINITY : flags.limit;
    const found = await readVersions(formerOf(opened, target), await readLatest(opened, target), limit);
    if (flags.output === 'json') {
      const items = found.versions.map(({ object }) => object);
      io.stdout.write(`${indentedJson({ apiVersion: 'v1', kind: 'List', items })}\n`);
      return 0;
    }
    const header = ['RESOURCEVERSION', 'AGE', 'MANAGER', 'OPERATION', 'CHANGES'];
    const rows = rowsOf(found, io.clock.now());
    printTable((line) => io.stdout.write(line), flags.noHeaders ? rows : [header, ...rows]);
    return 0;
  },
});

function rowsOf(found: Versions, now: number): string[][] {
  return versionEntries(found).map(({ version, object, time, manager, operation, changes }) => [
    String(version),
    formatAge(time, now),
    manager ?? '<unknown>',
    operation ?? '<unknown>',
    changes === undefined ? descriptionOf(operation, found.end) : changesText(changes, isSecret(object)) || '<none>',
  ]);
}

/** What a version did that cannot be compared with the one before. */
function descriptionOf(operation: string | undefined, end: Versions['end']): string {
  if (operation === 'Create') return 'created';
  if (operation === 'Delete') return 'deleted';
  return end === 'compacted' ? '<older versions are compacted>' : '<see --limit>';
}
