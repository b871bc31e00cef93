import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { at, isJsonObject, type JsonObject } from '../../../meta/index.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { command } from '../../command.ts';
import { CommandError } from '../../errors.ts';
import { list } from '../../flags/flag.ts';
import type { Io } from '../../io.ts';
import { pathOfTarget, targetsOf } from '../../objects/targets.ts';
import { jsonText } from '../../output/json.ts';
import { type Pod, podOf } from './pod.ts';

/** The most connections of one port at the same time. */
const maxConnections = 1_000;

interface Forward {
  /** 0: any free port. */
  readonly local: number;
  readonly remote: number;
}

export const portForwardCommand = command({
  name: 'port-forward',
  summary: 'Forward one or more local ports to a pod',
  description:
    'Forward one or more local ports to a pod.\n\n The forwarding session ends when the selected pod terminates, and a rerun of the command is needed to resume forwarding.',
  usage: 'TYPE/NAME [options] [LOCAL_PORT:]REMOTE_PORT [...[LOCAL_PORT_N:]REMOTE_PORT_N]',
  examples: [
    {
      title: 'Listen on ports 5000 and 6000 locally, forwarding data to/from ports 5000 and 6000 in the pod',
      lines: ['ctl port-forward pod/mypod 5000 6000'],
    },
    {
      title: 'Listen on a random port locally, forwarding to 5000 in the pod',
      lines: ['ctl port-forward pod/mypod :5000'],
    },
  ],
  flags: {
    address: list('Addresses to listen on (comma separated). Only accepts IP addresses or localhost as a value.', {
      default: ['localhost'],
    }),
  },
  run: async ({ args, flags, io, path, cluster }) => {
    const [arg, ...ports] = args;
    if (arg === undefined || ports.length === 0)
      throw new CommandError(
        `TYPE/NAME and list of ports are required for port-forward\nSee '${path} -h' for help and examples`,
      );
    const opened = await cluster();
    const pod = await podOf(opened, arg);
    const service = arg.includes('/') ? await serviceOf(opened, arg) : undefined;
    const forwards = ports.map((port) => readForward(port, (name) => portNamed(pod, service, name)));
    const phase = at(pod.object, 'status', 'phase');
    if (phase !== 'Running')
      throw new CommandError(`unable to forward port because pod is not running. Current status=${jsonText(phase)}`);
    const listeners: Server[] = [];
    try {
      for (const forward of forwards) {
        for (const address of flags.address.flatMap(addressesOf)) {
          const listener = await listen(opened, io, pod, forward, address);
          if (listener !== undefined) listeners.push(listener);
        }
      }
      if (listeners.length === 0)
        throw new CommandError(
          `unable to listen on any of the requested ports: [${forwards.map(({ local, remote }) => `{${local} ${remote}}`).join(' ')}]`,
        );
      if (!io.signal.aborted) await once(io.signal, 'abort');
      return 0;
    } finally {
      for (const listener of listeners) listener.close();
    }
  },
});

const addressesOf = (address: string): string[] => (address === 'localhost' ? ['127.0.0.1', '::1'] : [address]);

async function serviceOf(cluster: Cluster, arg: string): Promise<JsonObject | undefined> {
  const [target] = await targetsOf(cluster, [arg]);
  return target?.resource.kind === 'Service' ? cluster.send({ url: pathOfTarget(target) }) : undefined;
}

/** @throws CommandError */
function readForward(text: string, named: (name: string) => number | undefined): Forward {
  const parts = text.split(':');
  const [local = '', remote = ''] = parts.length === 1 ? [text, text] : parts;
  const target = /^\d+$/.test(remote) ? (named(remote) ?? Number(remote)) : named(remote);
  if (parts.length > 2 || target === undefined || target < 1 || target > 65_535)
    throw new CommandError(
      `error parsing remote port ${remote}: it is neither a number from 1 to 65535 nor the name of a port`,
    );
  const own = local === '' ? 0 : /^\d+$/.test(local) ? Number(local) : target;
  if (own > 65_535) throw new CommandError(`invalid local port: ${local}`);
  return { local: own, remote: target };
}

/** The port of the pod for a port of a service, or for the name of a port of a container. */
function portNamed({ object }: Pod, service: JsonObject | undefined, name: string): number | undefined {
  const listOf = (value: unknown) => (Array.isArray(value) ? (value as JsonObject[]).filter(isJsonObject) : []);
  const inContainers = (wanted: unknown) =>
    listOf(at(object, 'spec', 'containers'))
      .flatMap(({ ports }) => listOf(ports))
      .find((port) => port['name'] === wanted)?.['containerPort'];
  const found = listOf(at(service, 'spec', 'ports')).find(
    ({ name: own, port }) => own === name || jsonText(port) === name,
  );
  const target = found === undefined ? inContainers(name) : (found['targetPort'] ?? found['port']);
  const resolved = typeof target === 'string' ? inContainers(target) : target;
  return typeof resolved === 'number' ? resolved : undefined;
}

/** Listens on an address. Undefined: the address cannot be used, which is reported. */
async function listen(
  cluster: Cluster,
  io: Io,
  pod: Pod,
  { local, remote }: Forward,
  address: string,
): Promise<Server | undefined> {
  const server = createServer((socket) => void handle(cluster, io, pod, socket, remote));
  server.maxConnections = maxConnections;
  server.listen(local, address);
  try {
    await once(server, 'listening');
  } catch (error) {
    io.stderr.write(`Unable to listen on port ${local}: ${error instanceof Error ? error.message : String(error)}\n`);
    return undefined;
  }
  const { port } = server.address() as AddressInfo;
  io.stdout.write(`Forwarding from ${address.includes(':') ? `[${address}]` : address}:${port} -> ${remote}\n`);
  return server;
}

async function handle({ client }: Cluster, io: Io, pod: Pod, socket: Socket, port: number): Promise<void> {
  io.stdout.write(`Handling connection for ${socket.localPort}\n`);
  socket.on('error', () => socket.destroy());
  try {
    const forwarded = await client.portForward(pod, port, { signal: io.signal });
    const upload = (async () => {
      for await (const chunk of socket) await forwarded.send(chunk as Uint8Array);
    })();
    upload.catch(() => socket.destroy());
    for await (const chunk of forwarded.received) {
      if (!socket.write(chunk)) await once(socket, 'drain');
    }
    socket.end();
    forwarded.close();
  } catch (error) {
    if (!io.signal.aborted)
      io.stderr.write(`error: lost connection to pod: ${error instanceof Error ? error.message : String(error)}\n`);
    socket.destroy();
  }
}
