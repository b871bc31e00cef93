import { setTimeout as pause } from 'node:timers/promises';
import { at, isJsonObject, type JsonObject, StatusError } from '../../../meta/index.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { objectPath, pathOf, type Resource } from '../../cluster/resource.ts';
import { command } from '../../command.ts';
import { CommandError } from '../../errors.ts';
import { duration, integer, text, toggle, type ValuesOf } from '../../flags/flag.ts';
import type { Io } from '../../io.ts';
import { type DryRun, dryRunOf } from '../../objects/change.ts';
import { Patcher } from '../../objects/patch.ts';
import { resourceOf } from '../../objects/targets.ts';
import { jsonText } from '../../output/json.ts';
import { warn } from '../../output/terminal.ts';
import { cordon, nodeFlags, nodesOf } from './cordon.ts';

const drainFlags = {
  ...nodeFlags,
  deleteEmptydirData: toggle(
    false,
    'Continue even if there are pods using emptyDir (local data that will be deleted when the node is drained).',
  ),
  disableEviction: toggle(
    false,
    'Force drain to use delete, even if eviction is supported. This will bypass checking PodDisruptionBudgets, use with caution.',
  ),
  force: toggle(false, 'Continue even if there are pods that do not declare a controller.'),
  gracePeriod: integer(
    -1,
    'Period of time in seconds given to each pod to terminate gracefully. If negative, the default value specified in the pod will be used.',
  ),
  ignoreDaemonsets: toggle(false, 'Ignore DaemonSet-managed pods.'),
  podSelector: text('', 'Label selector to filter pods on the node'),
  timeout: duration(0, 'The length of time to wait before giving up, zero means infinite'),
};

type DrainFlags = ValuesOf<typeof drainFlags>;

const hasCode = (error: unknown, code: number): boolean => error instanceof StatusError && error.code === code;

/** Pause before a refused eviction is tried again, and between two looks whether a pod has gone (ms). */
const retryMs = 5_000;
const lookMs = 1_000;

export const drainCommand = command({
  name: 'drain',
  summary: 'Drain node in preparation for maintenance',
  description:
    'Drain node in preparation for maintenance.\n\n The given node will be marked unschedulable to prevent new pods from arriving. Then all pods except mirror pods are evicted, or deleted with --disable-eviction.',
  usage: 'NODE',
  examples: [
    {
      title: 'Drain node "foo", even if there are pods not managed by a controller on it',
      lines: ['ctl drain foo --force'],
    },
    {
      title: 'As above, but abort if there are pods not managed by a controller, and use a grace period of 15 minutes',
      lines: ['ctl drain foo --grace-period=900'],
    },
  ],
  flags: drainFlags,
  run: async ({ args, flags, io, path, cluster }) => {
    const opened = await cluster();
    const dryRun = dryRunOf(flags, io);
    const nodes = await nodesOf(opened, args, { selector: flags.selector, path });
    const patcher = await Patcher.open(opened, flags, io);
    await cordon(patcher, nodes, true);
    const pods = await resourceOf(opened, 'pods');
    for (const { target, object } of nodes) {
      const { name = '' } = target;
      const { evicted, warnings } = choose(await podsOn(opened, pods, name, flags), flags, name);
      for (const warning of warnings) warn(io, warning);
      await evictAll(opened, io, {
        pods,
        evicted,
        flags,
        dryRun,
        node: name,
        report: (pod, done) => patcher.report(pod, done),
      });
      patcher.report(object, 'drained');
    }
    return 0;
  },
});

async function podsOn(
  cluster: Cluster,
  pods: Resource,
  node: string,
  { podSelector }: DrainFlags,
): Promise<JsonObject[]> {
  const query = new URLSearchParams({ fieldSelector: `spec.nodeName=${node}`, labelSelector: podSelector });
  const { items } = await cluster.send({ url: `${pathOf(pods, undefined)}?${String(query)}` });
  return (Array.isArray(items) ? items : []).filter(isJsonObject);
}

const nameOf = (pod: JsonObject): string => jsonText(at(pod, 'metadata', 'name'));
const namespaceOf = (pod: JsonObject): string => jsonText(at(pod, 'metadata', 'namespace'));
const fullName = (pod: JsonObject): string => `${namespaceOf(pod)}/${nameOf(pod)}`;

function controllerOf(pod: JsonObject): JsonObject | undefined {
  const references = at(pod, 'metadata', 'ownerReferences');
  return (Array.isArray(references) ? references : [])
    .filter(isJsonObject)
    .find(({ controller }) => controller === true);
}

interface Rule {
  readonly applies: (pod: JsonObject) => boolean;
  /** Whether the flags allow to go on. */
  readonly allowed: boolean;
  /** Whether such a pod stays when the flags allow it. */
  readonly stays: boolean;
  readonly refusal: string;
  readonly warning: string;
}

const hasLocalData = (pod: JsonObject): boolean => {
  const volumes = at(pod, 'spec', 'volumes');
  return Array.isArray(volumes) && volumes.some((volume) => isJsonObject(volume) && volume['emptyDir'] !== undefined);
};

const isFinished = (pod: JsonObject): boolean => ['Succeeded', 'Failed'].includes(jsonText(at(pod, 'status', 'phase')));

/** The rules of pods that are not simply evicted, in the order in which they are reported. */
const rulesOf = (flags: DrainFlags): readonly Rule[] => [
  {
    applies: (pod) => !isFinished(pod) && controllerOf(pod)?.['kind'] === 'DaemonSet',
    allowed: flags.ignoreDaemonsets,
    stays: true,
    refusal: 'cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)',
    warning: 'ignoring DaemonSet-managed Pods',
  },
  {
    applies: (pod) => !isFinished(pod) && hasLocalData(pod),
    allowed: flags.deleteEmptydirData,
    stays: false,
    refusal: 'cannot delete Pods with local storage (use --delete-emptydir-data to override)',
    warning: 'deleting Pods with local storage',
  },
  {
    applies: (pod) => !isFinished(pod) && controllerOf(pod) === undefined,
    allowed: flags.force,
    stays: false,
    refusal: 'cannot delete Pods that declare no controller (use --force to override)',
    warning: 'deleting Pods that declare no controller',
  },
];

/** The pods to evict, with warnings about others. @throws CommandError when the flags do not allow it */
function choose(pods: readonly JsonObject[], flags: DrainFlags, node: string) {
  const isMirror = (pod: JsonObject) => {
    const annotations = at(pod, 'metadata', 'annotations');
    return isJsonObject(annotations) && Object.keys(annotations).some((key) => key.endsWith('/config.mirror'));
  };
  const candidates = pods.filter((pod) => !isMirror(pod));
  const rules = rulesOf(flags).map((rule) => ({ ...rule, pods: candidates.filter(rule.applies) }));
  const refused = rules.filter((rule) => rule.pods.length > 0 && !rule.allowed);
  const list = (some: readonly JsonObject[]) => some.map(fullName).join(', ');
  if (refused.length > 0) {
    const reasons = refused.map((rule) => `${rule.refusal}: ${list(rule.pods)}`);
    const shown = reasons.length === 1 ? reasons[0] : `[${reasons.join(', ')}]`;
    throw new CommandError(
      `unable to drain node ${JSON.stringify(node)} due to error: ${shown}, continuing command...\nThere are pending nodes to be drained:\n ${node}\n${reasons.join('\n')}`,
    );
  }
  const staying = new Set(rules.filter(({ stays }) => stays).flatMap((rule) => rule.pods));
  const noted = rules.filter((rule) => rule.pods.length > 0).map((rule) => `${rule.warning}: ${list(rule.pods)}`);
  return {
    evicted: candidates.filter((pod) => !staying.has(pod)),
    warnings: noted.length === 0 ? [] : [noted.join('; ')],
  };
}

interface Eviction {
  readonly pods: Resource;
  readonly evicted: readonly JsonObject[];
  readonly flags: DrainFlags;
  readonly dryRun: DryRun;
  readonly node: string;
  readonly report: (pod: JsonObject, done: string) => void;
}

/** Evicts pods and waits until they are gone. @throws CommandError after the timeout */
async function evictAll(
  cluster: Cluster,
  io: Io,
  { pods, evicted, flags, dryRun, node, report }: Eviction,
): Promise<void> {
  const end = flags.timeout === 0 ? Number.POSITIVE_INFINITY : io.clock.now() + flags.timeout;
  const checkTime = () => {
    if (io.clock.now() >= end)
      throw new CommandError(
        `unable to drain node ${JSON.stringify(node)}: global timeout reached: ${flags.timeout / 1000}s`,
      );
  };
  const done = flags.disableEviction ? 'deleted' : 'evicted';
  let left = evicted.length;
  const evictPods = () =>
    Promise.all(
      evicted.map(async (pod) => {
        const url = objectPath(pods, namespaceOf(pod), nameOf(pod));
        if (dryRun !== 'client') {
          if (!flags.disableEviction) io.stdout.write(`evicting pod ${fullName(pod)}\n`);
          while (!(await tryToEvict(cluster, io, url, pod, flags, dryRun))) {
            checkTime();
            await pause(retryMs, undefined, { signal: io.signal });
          }
          while (dryRun === 'none' && !(await isGone(cluster, url, pod))) {
            checkTime();
            await pause(lookMs, undefined, { signal: io.signal });
          }
        }
        left--;
        report({ apiVersion: 'v1', kind: 'Pod', ...pod }, done);
      }),
    );
  await io.progress.during(() => `Waiting for ${left} of ${evicted.length} pods of ${node}`, evictPods);
}

/** Returns false when a disruption budget refuses the eviction for now. */
async function tryToEvict(
  cluster: Cluster,
  io: Io,
  url: string,
  pod: JsonObject,
  flags: DrainFlags,
  dryRun: DryRun,
): Promise<boolean> {
  const grace = flags.gracePeriod < 0 ? {} : { gracePeriodSeconds: flags.gracePeriod };
  const deleteOptions = { ...grace, ...(dryRun === 'server' ? { dryRun: ['All'] } : {}) };
  try {
    if (flags.disableEviction) {
      await cluster.send({
        method: 'DELETE',
        url,
        body: { apiVersion: 'v1', kind: 'DeleteOptions', ...deleteOptions },
      });
    } else {
      const metadata = { name: nameOf(pod), namespace: namespaceOf(pod) };
      const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata, deleteOptions };
      await cluster.send({ method: 'POST', url: `${url}/eviction`, body });
    }
    return true;
  } catch (error) {
    if (hasCode(error, 404)) return true;
    if (!hasCode(error, 429)) throw error;
    io.stderr.write(
      `error when evicting pods/${JSON.stringify(nameOf(pod))} -n ${JSON.stringify(namespaceOf(pod))} (will retry after 5s): ${(error as StatusError).message}\n`,
    );
    return false;
  }
}

/** Whether the pod has gone, or another one has its name. */
async function isGone(cluster: Cluster, url: string, pod: JsonObject): Promise<boolean> {
  try {
    const current = await cluster.send({ url });
    return at(current, 'metadata', 'uid') !== at(pod, 'metadata', 'uid');
  } catch (error) {
    if (hasCode(error, 404)) return true;
    throw error;
  }
}
