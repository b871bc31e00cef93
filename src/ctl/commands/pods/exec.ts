import type { RemoteCommand } from '../../../client/index.ts';
import { at } from '../../../meta/index.ts';
import { command } from '../../command.ts';
import { CommandError, usageError } from '../../errors.ts';
import { text, toggle, type ValuesOf } from '../../flags/flag.ts';
import type { Io } from '../../io.ts';
import { containersOf, defaultContainer, podOf } from './pod.ts';

const streamFlags = {
  container: text('', 'Container name. If omitted, use the first container in the pod.', { short: 'c' }),
  quiet: toggle(false, 'Only print output from the remote session', { short: 'q' }),
  stdin: toggle(false, 'Pass stdin to the container', { short: 'i' }),
  tty: toggle(false, 'Stdin is a TTY', { short: 't' }),
};

export const execCommand = command({
  name: 'exec',
  summary: 'Execute a command in a container',
  description: 'Execute a command in a container.',
  usage: '(POD | TYPE/NAME) [-c CONTAINER] -- COMMAND [args...]',
  examples: [
    {
      title: "Get output from running the 'date' command from pod mypod, using the first container by default",
      lines: ['ctl exec mypod -- date'],
    },
    {
      title: "Run 'bash' in ruby-container from pod mypod with a terminal",
      lines: ['ctl exec mypod -c ruby-container -i -t -- bash -il'],
    },
  ],
  flags: streamFlags,
  run: async ({ args, argsBeforeDash, flags, io, path, cluster }) => {
    const words = args.slice(argsBeforeDash ?? 1);
    const [arg] = args;
    if (arg === undefined || argsBeforeDash === 0)
      throw new CommandError(`pod, type/name or --filename must be specified\nSee '${path} -h' for help and examples`);
    if (words.length === 0) throw new CommandError(`you must specify at least one command for the container`);
    if (argsBeforeDash === undefined) {
      throw new CommandError(
        `exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead\nSee '${path} -h' for help and examples`,
      );
    }
    const opened = await cluster();
    const pod = await podOf(opened, arg);
    const container = flags.container === '' ? defaultContainer(pod, io, flags.quiet) : flags.container;
    const streams = streamsOf(flags, io);
    const remote = await opened.client.exec(pod, { container, ...streams, command: words, signal: io.signal });
    return relay(remote, io, streams);
  },
});

export const attachCommand = command({
  name: 'attach',
  summary: 'Attach to a running container',
  description: 'Attach to a process that is already running inside an existing container.',
  usage: '(POD | TYPE/NAME) [-c CONTAINER]',
  examples: [{ title: 'Get output from running pod mypod', lines: ['ctl attach mypod'] }],
  flags: streamFlags,
  run: async ({ args, flags, io, path, cluster }) => {
    if (args.length === 0) throw new CommandError('at least 1 argument is required for attach');
    if (args.length > 2)
      throw usageError(
        `expected POD, TYPE/NAME, or TYPE NAME, (at most 2 arguments) saw ${args.length}: [${args.join(' ')}]`,
        path,
      );
    const opened = await cluster();
    const pod = await podOf(opened, args.join('/'));
    const phase = at(pod.object, 'status', 'phase');
    if (phase === 'Succeeded' || phase === 'Failed')
      throw new CommandError(`cannot attach a container in a completed pod; current phase is ${phase}`);
    const name = flags.container === '' ? defaultContainer(pod, io, flags.quiet) : flags.container;
    const container = containersOf(pod, true).find((one) => one['name'] === name);
    if (container === undefined)
      throw new CommandError(`cannot attach to the container: container ${name} not found in pod ${pod.name}`);
    // The streams of a container with a terminal are those of its terminal, whatever the flags say.
    const tty = container['tty'] === true;
    const note = flags.quiet ? () => {} : (line: string) => void io.stderr.write(`${line}\n`);
    if (flags.tty && !tty) note(`error: Unable to use a TTY - container ${name} did not allocate one`);
    const streams = streamsOf({ ...flags, tty: flags.tty && tty }, io);
    note("If you don't see a command prompt, try pressing enter.");
    const { stdin } = streams;
    return relay(await opened.client.attach(pod, { container: name, stdin, tty, signal: io.signal }), io, streams);
  },
});

interface Streams {
  readonly stdin: boolean;
  readonly tty: boolean;
}

/** The streams of a remote command. It gets a terminal only where this program has one whose keys are passed on. */
function streamsOf({ stdin, tty, quiet }: ValuesOf<typeof streamFlags>, io: Io): Streams {
  if (!tty || !stdin || io.stdin.isTTY === true) return { stdin, tty: tty && stdin };
  if (!quiet) io.stderr.write('Unable to use a TTY - input is not a terminal or the right kind of file\n');
  return { stdin, tty: false };
}

/** Connects a remote command to the streams of the program until it ends. Resolves to its exit code. */
async function relay(remote: RemoteCommand, io: Io, { stdin, tty }: Streams): Promise<number> {
  const restore = tty ? useTerminal(remote, io) : () => {};
  if (stdin) void sendInput(remote, io);
  try {
    for await (const { stream, data } of remote) io[stream].write(data);
    const code = await remote.exitCode;
    if (code !== 0) io.stderr.write(`command terminated with exit code ${code}\n`);
    return code;
  } finally {
    restore();
    remote.close();
  }
}

/** Passes on keys as they are, and the size of the terminal. The returned function restores the terminal. */
function useTerminal(remote: RemoteCommand, { stdin, stdout }: Io): () => void {
  const resize = () => {
    const { columns, rows } = stdout;
    // A command that has ended needs no size.
    if (columns !== undefined && rows !== undefined) remote.resize(columns, rows).catch(() => {});
  };
  stdin.setRawMode?.(true);
  stdout.on?.('resize', resize);
  resize();
  return () => {
    stdout.off?.('resize', resize);
    stdin.setRawMode?.(false);
  };
}

async function sendInput(remote: RemoteCommand, { stdin }: Io): Promise<void> {
  try {
    for await (const chunk of stdin) await remote.write(chunk);
    await remote.endInput();
  } catch {
    // The command has ended, which its exit code tells.
  }
}
