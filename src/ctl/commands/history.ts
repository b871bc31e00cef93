import { resolve } from 'node:path';
import { changesText, isSecret, readVersions, type Versions, versionEntries } from '../../client/index.ts';
import { at, formatAge } from '../../meta/index.ts';
import { command } from '../command.ts';
import { CommandError } from '../errors.ts';
import { integer, list, text, toggle } from '../flags/flag.ts';
import { usersOfVersions } from '../history/audit-log.ts';
import { formerOf, readLatest, singleTarget } from '../history/former.ts';
import type { Io } from '../io.ts';
import { targetsOf } from '../objects/targets.ts';
import { indentedJson, jsonText } from '../output/json.ts';
import { printTable } from '../output/tab-writer.ts';

export const historyCommand = command({
  name: 'history',
  summary: 'Show the versions of an object',
  description: `Show the versions of an object, the newest first: when and by which field manager each was written, and what changed. Objects do not record users: --audit-log adds those that the audit log of the server has.

 The server must run with --object-history and keeps versions for a limited time. Values of secrets are not shown.`,
  usage: '(TYPE NAME | TYPE/NAME)',
  examples: [
    { title: 'Show the last versions of a config map', lines: ['ctl history configmap settings'] },
    { title: 'Show all versions that the server has', lines: ['ctl history deployment/web --limit=0'] },
  ],
  flags: {
    auditLog: list(
      'Audit logs of the server in JSON, local files: adds the user of each version. Their policy must log the writes of the object with the level RequestResponse.',
    ),
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
    const found = await io.progress.during(
      () => 'Reading versions',
      async () => readVersions(formerOf(opened, target), await readLatest(opened, target), limit),
    );
    if (flags.output === 'json') {
      const items = found.versions.map(({ object }) => object);
      io.stdout.write(`${indentedJson({ apiVersion: 'v1', kind: 'List', items })}\n`);
      return 0;
    }
    const rows = [['RESOURCEVERSION', 'AGE', 'MANAGER', 'OPERATION', 'CHANGES'], ...rowsOf(found, io.clock.now())];
    const users = flags.auditLog.length === 0 ? undefined : await userColumn(flags.auditLog, found, io);
    const shown = users === undefined ? rows : rows.map((row, i) => row.toSpliced(2, 0, users[i] ?? ''));
    printTable((line) => io.stdout.write(line), flags.noHeaders ? shown.slice(1) : shown);
    return 0;
  },
});

/** The header of the users, and those of each version. */
async function userColumn(files: readonly string[], { versions }: Versions, io: Io): Promise<string[]> {
  const uid = jsonText(at(versions[0]?.object, 'metadata', 'uid'));
  const numbers = versions.map(({ version }) => String(version));
  const users = await io.progress.during(
    () => 'Reading the audit log',
    () =>
      usersOfVersions(
        files.map((file) => resolve(io.folder, file)),
        uid,
        new Set(numbers),
      ),
  );
  const names = numbers.map((version) => [...(users.get(version) ?? ['<unknown>'])].join(' or '));
  return ['USER', ...names];
}

function rowsOf(found: Versions, now: number): string[][] {
  return versionEntries(found).map(({ version, object, time, manager, operation, changes }) => [
    String(version),
    formatAge(time, now),
    manager ?? '<unknown>',
    operation ?? '<unknown>',
    changes === undefined ? descriptionOf(operation, found.end) : changesText(changes, isSecret(object)) || '<none>',
  ]);
}

/** The description of a version that cannot be compared with the one before. */
function descriptionOf(operation: string | undefined, end: Versions['end']): string {
  if (operation === 'Create') return 'created';
  if (operation === 'Delete') return 'deleted';
  return end === 'compacted' ? '<older versions are compacted>' : '<see --limit>';
}
