import { at, formatTime, type JsonObject, jsonEqual } from '../../../meta/index.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { qualifiedName } from '../../cluster/resource.ts';
import { type Command, type CommandContext, command } from '../../command.ts';
import { CommandError } from '../../errors.ts';
import { duration, integer, toggle } from '../../flags/flag.ts';
import { findByName } from '../../objects/find-by-name.ts';
import { hasFiles } from '../../objects/manifests.ts';
import { objectFlags, objectsOf, Patcher, type Placed, patchFlags } from '../../objects/patch.ts';
import type { Target } from '../../objects/targets.ts';
import { podTemplateLines } from '../../output/describe/pod-template.ts';
import { jsonText } from '../../output/json.ts';
import { outputFlags, printedName, printerOf } from '../../output/printer.ts';
import { checkRevision, describedTemplate, progressOf, type Revision, revisionsOf } from './workload.ts';

const usage = '(TYPE NAME | TYPE/NAME | -f FILENAME)';

type Context = Pick<CommandContext<typeof objectFlags>, 'args' | 'flags' | 'io' | 'cluster'>;

async function workloadsOf({ args, flags, io, cluster }: Context): Promise<Placed[]> {
  if (args.length === 0 && !hasFiles(flags)) throw new CommandError('required resource not specified');
  return objectsOf(await cluster(), args, flags, io);
}

const isDeployment = ({ resource }: Target) => resource.kind === 'Deployment';

const restart = command({
  name: 'restart',
  summary: 'Restart a resource',
  description: 'Restart a resource.\n\n Resource rollout will be restarted.',
  usage,
  examples: [{ title: 'Restart a deployment', lines: ['ctl rollout restart deployment/abc'] }],
  flags: patchFlags('kubectl-rollout'),
  run: async (context) => {
    const { flags, io } = context;
    const cluster = await context.cluster();
    const patcher = await Patcher.open(cluster, flags, io);
    const { labels } = (await cluster.discovery()).names;
    for (const placed of await workloadsOf(context)) {
      const { target, object } = placed;
      if (!['Deployment', 'DaemonSet', 'StatefulSet'].includes(target.resource.kind)) {
        throw new CommandError(`${target.resource.name} ${JSON.stringify(target.name)} restarting is not supported`);
      }
      if (at(object, 'spec', 'paused') === true) {
        throw new CommandError(
          `${target.resource.name} ${JSON.stringify(target.name)} can't restart paused deployment (run rollout resume first)`,
        );
      }
      const annotations = { [`kubectl.${labels}/restartedAt`]: formatTime(io.clock.now()) };
      const patch = { spec: { template: { metadata: { annotations } } } };
      await patcher.patch(placed, 'strategic', patch, { done: 'restarted' });
    }
    return 0;
  },
});

const pauseLike = (name: 'pause' | 'resume', done: string, paused: boolean): Command =>
  command({
    name,
    summary: paused ? 'Mark the provided resource as paused' : 'Resume a paused resource',
    usage,
    examples: [
      {
        title: `${paused ? 'Mark the nginx deployment as paused' : 'Resume an already paused deployment'}`,
        lines: [`ctl rollout ${name} deployment/nginx`],
      },
    ],
    flags: patchFlags('kubectl-rollout'),
    run: async (context) => {
      const patcher = await Patcher.open(await context.cluster(), context.flags, context.io);
      for (const placed of await workloadsOf(context)) {
        const { target, object } = placed;
        const what = `${qualifiedName(target.resource)} ${JSON.stringify(target.name)}`;
        if (!isDeployment(target))
          throw new CommandError(`${what} ${paused ? 'pausing' : 'resuming'} is not supported`);
        if ((at(object, 'spec', 'paused') === true) === paused)
          throw new CommandError(`${what} ${paused ? 'is already paused' : 'is not paused'}`);
        const patch = { spec: { paused: paused ? true : null } };
        await patcher.patch(placed, 'strategic', patch, { done });
      }
      return 0;
    },
  });

const historyCommand = command({
  name: 'history',
  summary: 'View rollout history',
  description: 'View previous rollout revisions and configurations.',
  usage,
  examples: [
    { title: 'View the rollout history of a deployment', lines: ['ctl rollout history deployment/abc'] },
    { title: 'View the details of daemonset revision 3', lines: ['ctl rollout history daemonset/abc --revision=3'] },
  ],
  flags: {
    ...objectFlags,
    ...outputFlags,
    revision: integer(0, 'See the details, including podTemplate of the revision specified.'),
  },
  run: async (context) => {
    const { flags, io } = context;
    if (flags.revision < 0) throw new CommandError(`revision must be a positive integer: ${flags.revision}`);
    const write = (text: string) => io.stdout.write(text);
    const printer = await printerOf(flags, { write, folder: io.folder });
    const cluster = await context.cluster();
    const { labels } = (await cluster.discovery()).names;
    for (const { target, object } of await workloadsOf(context)) {
      const revisions = await revisionsOf(cluster, target, object);
      const shown = flags.revision === 0 ? revisions : [revisionOf(revisions, flags.revision)];
      const title = printedName(object);
      if (printer !== undefined) for (const revision of shown) printer.print(revision.object);
      else if (flags.revision === 0) {
        write(`${title} \n`);
        printRevisions(
          write,
          shown.map(({ number, cause }) => [String(number), cause === '' ? '<none>' : cause]),
        );
        write('\n');
      } else {
        for (const revision of shown) {
          const lines = podTemplateLines(describedTemplate(revision, labels));
          write(`${title} with revision #${revision.number}\n${lines.join('\n')}\n\n`);
        }
      }
    }
    printer?.flush();
    return 0;
  },
});

/** Two spaces between the columns, as kubectl prints revisions. */
function printRevisions(write: (text: string) => unknown, rows: readonly (readonly string[])[]): void {
  const all = [['REVISION', 'CHANGE-CAUSE'], ...rows];
  const width = all.reduce((widest, [number = '']) => Math.max(widest, number.length), 0);
  for (const [number = '', cause = ''] of all) write(`${number.padEnd(width)}  ${cause}\n`);
}

function revisionOf(revisions: readonly Revision[], number: number): Revision {
  const found = revisions.find((revision) => revision.number === number);
  if (found === undefined) throw new CommandError(`unable to find the specified revision`);
  return found;
}

const undo = command({
  name: 'undo',
  summary: 'Undo a previous rollout',
  description: 'Roll back to a previous rollout.',
  usage,
  examples: [
    { title: 'Roll back to the previous deployment', lines: ['ctl rollout undo deployment/abc'] },
    { title: 'Roll back to daemonset revision 3', lines: ['ctl rollout undo daemonset/abc --to-revision=3'] },
  ],
  flags: {
    ...patchFlags('kubectl-rollout'),
    toRevision: integer(0, 'The revision to rollback to. Default to 0 (last revision).'),
  },
  run: async (context) => {
    const { flags, io } = context;
    const cluster = await context.cluster();
    const patcher = await Patcher.open(cluster, flags, io);
    for (const placed of await workloadsOf(context)) {
      const { target, object } = placed;
      if (at(object, 'spec', 'paused') === true) {
        throw new CommandError(
          "you cannot rollback a paused deployment; resume it first with 'orch ctl rollout resume' and try again",
        );
      }
      const revision = targetRevision(await revisionsOf(cluster, target, object), flags.toRevision);
      const isCurrent = jsonEqual(revision.template, at(object, 'spec', 'template'));
      const skipped = `skipped rollback (current template already matches revision ${revision.number})`;
      if (isCurrent) patcher.report(object, skipped);
      else await patcher.patch(placed, 'json', replacedTemplate(object, revision), { done: 'rolled back' });
    }
    return 0;
  },
});

/** Replaces the pod template; the change fails when somebody else writes the workload meanwhile. */
const replacedTemplate = (object: JsonObject, { template }: Revision): JsonObject[] => [
  { op: 'test', path: '/metadata/resourceVersion', value: at(object, 'metadata', 'resourceVersion') ?? '' },
  { op: 'replace', path: '/spec/template', value: template },
];

function targetRevision(revisions: readonly Revision[], wanted: number): Revision {
  if (wanted !== 0) {
    const found = revisions.find(({ number }) => number === wanted);
    if (found === undefined) throw new CommandError(`unable to find specified revision ${wanted} in history`);
    return found;
  }
  const previous = revisions.at(-2);
  if (previous === undefined) throw new CommandError('no rollout history found for deployment');
  return previous;
}

const status = command({
  name: 'status',
  summary: 'Show the status of the rollout',
  description:
    'Show the status of the rollout.\n\n By default, watches the status of the latest rollout until it is done.',
  usage,
  examples: [{ title: 'Watch the rollout status of a deployment', lines: ['ctl rollout status deployment/nginx'] }],
  flags: {
    ...objectFlags,
    revision: integer(0, 'Pin to a specific revision for showing its status. Defaults to 0 (last revision).'),
    timeout: duration(0, 'The length of time to wait before ending watch, zero means never.'),
    watch: toggle(true, 'Watch the status of the rollout until it is done.', { short: 'w' }),
  },
  run: async (context) => {
    const { flags, io } = context;
    for (const { target, object } of await workloadsOf(context)) {
      const report = (state: JsonObject): boolean => {
        const { message, done } = progressOf(target.resource, state);
        io.stdout.write(`${message}\n`);
        return done || !flags.watch;
      };
      if (target.resource.kind === 'Deployment') checkRevision(object, flags.revision);
      if (report(object)) continue;
      const cluster = await context.cluster();
      await io.progress.during(
        () => `Watching ${target.resource.name}/${target.name}`,
        () => follow(cluster, target, object, flags.timeout, report),
      );
    }
    return 0;
  },
});

/** Receives the states of a workload after the first one, until one is the last. @throws CommandError */
async function follow(
  cluster: Cluster,
  target: Target,
  before: JsonObject,
  timeoutMs: number,
  isLast: (state: JsonObject) => boolean,
): Promise<void> {
  const { resource, namespace, name = '' } = target;
  const versionOf = (state: JsonObject) => jsonText(at(state, 'metadata', 'resourceVersion'));
  const { object, ...listed } = await findByName(cluster, target);
  if (object === undefined) throw new CommandError('object has been deleted');
  if (versionOf(object) !== versionOf(before) && isLast(object)) return;
  const place = { apiVersion: resource.apiVersion, resource: resource.name, namespace: namespace ?? '' };
  const late = timeoutMs > 0 ? AbortSignal.timeout(timeoutMs) : undefined;
  let { version } = listed;
  while (late?.aborted !== true) {
    const watch = await cluster.client.watch(place, {
      fieldSelector: `metadata.name=${name}`,
      resourceVersion: version,
      ...(late && { signal: late }),
    });
    for await (const { type, object: state } of watch) {
      if (type === 'DELETED') throw new CommandError('object has been deleted');
      const seen = state as unknown as JsonObject;
      version = versionOf(seen);
      if (isLast(seen)) {
        watch.close();
        return;
      }
    }
  }
  throw new CommandError('timed out waiting for the condition');
}

/** Only subcommands do something. */
export const rolloutCommand: Command = {
  name: 'rollout',
  summary: 'Manage the rollout of a resource',
  description: 'Manage the rollout of one or many resources.',
  usage: 'SUBCOMMAND',
  examples: [
    { title: 'Roll back to the previous deployment', lines: ['ctl rollout undo deployment/abc'] },
    { title: 'Check the rollout status of a daemonset', lines: ['ctl rollout status daemonset/foo'] },
  ],
  flags: {},
  subcommands: [
    historyCommand,
    pauseLike('pause', 'paused', true),
    restart,
    pauseLike('resume', 'resumed', false),
    status,
    undo,
  ],
};
