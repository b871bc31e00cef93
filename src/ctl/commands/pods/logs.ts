import { StatusError } from '../../../meta/index.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { command } from '../../command.ts';
import { CommandError } from '../../errors.ts';
import { duration, integer, text, toggle } from '../../flags/flag.ts';
import type { Io } from '../../io.ts';
import { containerNames, containerOf, type Pod, podOf, podsOf } from './pod.ts';

/** The lines of each pod of a selector by default, and the most logs that are followed at the same time. */
const selectorTail = 10;

export const logsCommand = command({
  name: 'logs',
  summary: 'Print the logs for a container in a pod',
  description:
    'Print the logs for a container in a pod or specified resource. If the pod has only one container, the container name is optional.',
  usage: '[-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]',
  examples: [
    { title: 'Return snapshot logs from pod nginx with only one container', lines: ['ctl logs nginx'] },
    { title: 'Begin streaming the logs of the ruby container in pod web-1', lines: ['ctl logs -f -c ruby web-1'] },
    { title: 'Display only the most recent 20 lines of output in pod nginx', lines: ['ctl logs --tail=20 nginx'] },
  ],
  flags: {
    allContainers: toggle(false, "Get all containers' logs in the pod(s)."),
    container: text('', 'Print the logs of this container', { short: 'c' }),
    follow: toggle(false, 'Specify if the logs should be streamed.', { short: 'f' }),
    ignoreErrors: toggle(false, 'If watching / following pod logs, allow for any errors that occur to be non-fatal'),
    limitBytes: integer(0, 'Maximum bytes of logs to return. Defaults to no limit.'),
    maxLogRequests: integer(5, 'Specify maximum number of concurrent logs to follow when using by a selector.'),
    prefix: toggle(false, 'Prefix each log line with the log source (pod name and container name)'),
    previous: toggle(
      false,
      'If true, print the logs for the previous instance of the container in a pod if it exists.',
      { short: 'p' },
    ),
    selector: text('', 'Selector (label query) to filter on.', { short: 'l' }),
    since: duration(0, 'Only return logs newer than a relative duration like 5s, 2m, or 3h. Defaults to all logs.'),
    tail: integer(
      -1,
      'Lines of recent log file to display. Defaults to -1 with no selector, showing all log lines otherwise 10, if a selector is provided.',
    ),
    timestamps: toggle(false, 'Include timestamps on each line in the log output'),
  },
  run: async ({ args, flags, io, isSet, cluster }) => {
    const [arg, containerArg, ...more] = args;
    if (more.length > 0 || (arg === undefined) === (flags.selector === '')) {
      throw new CommandError(
        "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or TYPE/NAME is a required argument for the logs command\nSee 'orch ctl logs -h' for help and examples",
      );
    }
    if (isSet('tail') && flags.tail < -1) throw new CommandError('--tail must be greater than or equal to -1');
    const opened = await cluster();
    const pods =
      arg === undefined
        ? await podsOf(opened, opened.namespace, flags.selector)
        : [await podOf(opened, arg).catch(asLogsError(opened))];
    if (pods.length === 0) io.stderr.write(`No resources found in ${opened.namespace} namespace.\n`);
    const container = containerArg ?? flags.container;
    const sources = pods.flatMap((pod) =>
      (flags.allContainers ? containerNames(pod, true) : [containerOf(pod, container, io)]).map((name) => ({
        pod,
        container: name,
      })),
    );
    if (flags.follow && sources.length > flags.maxLogRequests) {
      throw new CommandError(
        `you are attempting to follow ${sources.length} log streams, but maximum allowed concurrency is ${flags.maxLogRequests}, use --max-log-requests to increase the limit`,
      );
    }
    const tail = isSet('tail') ? flags.tail : flags.selector === '' ? -1 : selectorTail;
    const query = {
      follow: flags.follow,
      previous: flags.previous,
      timestamps: flags.timestamps,
      ...(tail < 0 ? {} : { tailLines: tail }),
      ...(flags.since === 0 ? {} : { sinceSeconds: Math.ceil(flags.since / 1000) }),
      ...(flags.limitBytes === 0 ? {} : { limitBytes: flags.limitBytes }),
    };
    const print = (source: Source) =>
      printLog(opened, io, source, query, flags.prefix).catch((error: unknown) => {
        if (io.signal.aborted || !flags.ignoreErrors) throw error;
        io.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
      });
    if (flags.follow) await Promise.all(sources.map(print));
    else for (const source of sources) await print(source);
    return 0;
  },
});

/** How kubectl words that a pod is absent when it reads logs. */
const asLogsError =
  ({ namespace }: Cluster) =>
  (error: unknown): never => {
    if (!(error instanceof StatusError) || error.code !== 404) throw error;
    throw new CommandError(`error from server (NotFound): ${error.message} in namespace ${JSON.stringify(namespace)}`);
  };

interface Source {
  readonly pod: Pod;
  readonly container: string;
}

async function printLog(
  { client }: Cluster,
  io: Io,
  { pod: { namespace, name }, container }: Source,
  query: object,
  prefixed: boolean,
): Promise<void> {
  const log = await client.log({ namespace, name }, { ...query, container, signal: io.signal });
  const prefix = prefixed ? `[pod/${name}/${container}] ` : '';
  for await (const line of log) io.stdout.write(`${prefix}${line}\n`);
}
