import { ownMetadata, restorationOf } from '../../client/index.ts';
import { isStatus, type JsonObject } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { objectPath, pathOf, printedType } from '../cluster/resource.ts';
import { command } from '../command.ts';
import { CommandError } from '../errors.ts';
import { text } from '../flags/flag.ts';
import { readAt, singleTarget } from '../history/former.ts';
import { readMoment } from '../history/moment.ts';
import { type Target, targetsOf } from '../objects/targets.ts';

export const undoCommand = command({
  name: 'undo',
  summary: 'Restore a former version of an object',
  description: `Restore a former version of an object, by an update that fails when somebody else writes the object meanwhile. An object that has been deleted is created again, with a new UID.

 Owner references and finalizers stay as they are now, and status belongs to controllers. The server must run with --object-history.`,
  usage: '(TYPE NAME | TYPE/NAME) --to=VERSION',
  examples: [
    {
      title: 'Restore the version of a config map before resourceVersion 4711',
      lines: ['ctl undo configmap settings --to=4710'],
    },
    { title: 'Restore a deployment as it was ten minutes ago', lines: ['ctl undo deployment/web --to=10m'] },
  ],
  flags: {
    to: text('', 'The resourceVersion to restore, or how long ago the version was the latest, such as 5m.'),
    dryRun: text('none', 'Must be "none" or "server". If server, the update is checked and not stored.', {
      bare: 'server',
    }),
    fieldManager: text('', 'Name of the manager used to track field ownership. By default the name of the program.'),
  },
  run: async ({ args, flags, io, path, cluster }) => {
    if (flags.to === '') throw new CommandError(`--to is required\nSee '${path} -h' for help and examples`);
    if (!['none', 'server'].includes(flags.dryRun)) throw new CommandError('--dry-run must be none or server');
    const opened = await cluster();
    const target = singleTarget(await targetsOf(opened, args), path);
    const version = await readMoment(opened, flags.to, io.clock.now());
    const former = await readAt(opened, target, version);
    const shown = `${printedType(target.resource)}/${target.name}`;
    if (former === undefined) throw new CommandError(`${shown} did not exist at version ${version}`);
    const query = new URLSearchParams({
      ...(flags.fieldManager === '' ? {} : { fieldManager: flags.fieldManager }),
      ...(flags.dryRun === 'server' ? { dryRun: 'All' } : {}),
    });
    const current = await readCurrent(opened, target);
    const request =
      current === undefined ? recreation(target, former) : restoration(target, restorationOf(former, current));
    await opened.send({ ...request, url: `${request.url}?${String(query)}` });
    const suffix = flags.dryRun === 'server' ? ' (server dry run)' : '';
    io.stdout.write(
      `${shown} ${current === undefined ? 'created again' : 'restored'} from version ${version}${suffix}\n`,
    );
    return 0;
  },
});

async function readCurrent(
  cluster: Cluster,
  { resource, namespace, name = '' }: Target,
): Promise<JsonObject | undefined> {
  try {
    return await cluster.send({ url: objectPath(resource, namespace, name) });
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

const restoration = ({ resource, namespace, name = '' }: Target, body: JsonObject) => ({
  method: 'PUT' as const,
  url: objectPath(resource, namespace, name),
  body,
});

function recreation({ resource, namespace }: Target, former: JsonObject) {
  const body = { ...former, metadata: ownMetadata(former) };
  return { method: 'POST' as const, url: pathOf(resource, namespace), body };
}
