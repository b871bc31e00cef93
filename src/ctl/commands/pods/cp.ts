import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, posix, resolve, sep } from 'node:path';
import type { Cluster } from '../../cluster/cluster.ts';
import { command } from '../../command.ts';
import { CommandError } from '../../errors.ts';
import { integer, text, toggle } from '../../flags/flag.ts';
import type { Io } from '../../io.ts';
import { containerOf, type Pod, podOf } from './pod.ts';
import { endOfArchive, type TarEntry, TarReader, writeEntry } from './tar.ts';

/** The largest file that is copied (bytes), and the most files. */
const maxFileBytes = 1024 ** 3;
const maxFiles = 100_000;

export const cpCommand = command({
  name: 'cp',
  summary: 'Copy files and directories to and from containers',
  description: "Copy files and directories to and from containers. The container must have 'tar'.",
  usage: '<file-spec-src> <file-spec-dest>',
  examples: [
    {
      title: 'Copy /tmp/foo local file to /tmp/bar in a remote pod in the current namespace',
      lines: ['ctl cp /tmp/foo some-pod:/tmp/bar'],
    },
    {
      title: 'Copy /tmp/foo from a remote pod to /tmp/bar locally',
      lines: ['ctl cp some-namespace/some-pod:/tmp/foo /tmp/bar'],
    },
  ],
  flags: {
    container: text('', 'Container name. If omitted, use the first container in the pod.', { short: 'c' }),
    noPreserve: toggle(
      false,
      "The copied file/directory's ownership and permissions will not be preserved in the container",
    ),
    retries: integer(0, 'Accepted for compatibility: a copy is not retried.'),
  },
  run: async ({ args, flags, io, path, cluster }) => {
    const [from = '', to = '', ...more] = args;
    if (to === '' || more.length > 0)
      throw new CommandError(`source and destination are required\nSee '${path} -h' for help and examples`);
    const [source, destination] = [readSpec(from), readSpec(to)];
    if ((source.pod === '') === (destination.pod === ''))
      throw new CommandError(
        source.pod === ''
          ? 'one of src or dest must be a remote file specification'
          : 'src and dest cannot both be remote file specifications',
      );
    const opened = await cluster();
    const spec = source.pod === '' ? destination : source;
    const pod = { ...(await podOf(withNamespace(opened, spec.namespace), spec.pod)) };
    const container = containerOf(pod, flags.container, io);
    if (source.pod === '')
      await upload(opened, io, { pod, container }, resolve(io.folder, source.path), destination.path, flags.noPreserve);
    else await download(opened, io, { pod, container }, source.path, resolve(io.folder, destination.path));
    return 0;
  },
});

const withNamespace = (cluster: Cluster, namespace: string): Cluster =>
  namespace === '' ? cluster : { ...cluster, namespace };

interface FileSpec {
  readonly namespace: string;
  /** Empty: a file of this machine. */
  readonly pod: string;
  readonly path: string;
}

/** Reads `[[NAMESPACE/]POD:]PATH`. @throws CommandError */
function readSpec(spec: string): FileSpec {
  const colon = spec.indexOf(':');
  // A path with a drive letter, or with a folder before the colon, is one of this machine.
  if (colon < 0 || /^[A-Za-z]:[\\/]/.test(spec) || /^[./]/.test(spec)) return { namespace: '', pod: '', path: spec };
  const parts = spec.slice(0, colon).split('/');
  const path = spec.slice(colon + 1);
  if (path === '') throw new CommandError('filepath can not be empty');
  if (parts.length > 2 || colon === 0)
    throw new CommandError(`filespec must match the canonical format: [[namespace/]pod:]file/path`);
  return { namespace: parts.length === 2 ? (parts[0] ?? '') : '', pod: parts.at(-1) ?? '', path };
}

interface Place {
  readonly pod: Pod;
  readonly container: string;
}

async function upload(
  cluster: Cluster,
  io: Io,
  { pod, container }: Place,
  local: string,
  remote: string,
  noPreserve: boolean,
): Promise<void> {
  const found = await stat(local).catch(() => undefined);
  if (found === undefined) throw new CommandError(`${local} doesn't exist in local filesystem`);
  const target = remote.endsWith('/') ? posix.join(remote, basename(local)) : posix.normalize(remote);
  const tar = [
    'tar',
    ...(noPreserve ? ['--no-same-permissions', '--no-same-owner'] : []),
    '-xmf',
    '-',
    '-C',
    posix.dirname(target),
  ];
  const run = await cluster.client.exec(pod, { container, stdin: true, command: tar, signal: io.signal });
  const output = run.output();
  // Awaited at the end, unless a file cannot be read.
  output.catch(() => {});
  try {
    for await (const entry of filesBelow(local, posix.basename(target))) await run.write(writeEntry(entry));
    await run.write(endOfArchive());
    await run.endInput();
  } catch (error) {
    if (error instanceof CommandError || error instanceof RangeError) {
      run.close();
      throw error;
    }
    // The command has ended early: its exit status tells whether it has read the whole archive.
  }
  await finished(output);
}

async function finished(output: Promise<{ readonly stderr: string; readonly exitCode: number }>): Promise<void> {
  const { stderr, exitCode } = await output;
  if (exitCode !== 0) throw new CommandError(`command terminated with exit code ${exitCode}: ${stderr.trim()}`);
}

/** A file, or a folder and all below it, under a name in an archive. */
async function* filesBelow(path: string, name: string): AsyncGenerator<TarEntry> {
  const found = await stat(path);
  if (!found.isDirectory()) {
    if (!found.isFile()) return;
    if (found.size > maxFileBytes) throw new CommandError(`${path} is larger than ${maxFileBytes} bytes`);
    yield { name, mode: found.mode, content: await readFile(path) };
    return;
  }
  yield { name: `${name}/`, mode: found.mode, content: new Uint8Array() };
  for (const inner of (await readdir(path)).toSorted()) yield* filesBelow(join(path, inner), `${name}/${inner}`);
}

async function download(
  cluster: Cluster,
  io: Io,
  { pod, container }: Place,
  remote: string,
  local: string,
): Promise<void> {
  const source = posix.normalize(remote).replace(/\/$/, '');
  const run = await cluster.client.exec(pod, { container, command: ['tar', 'cf', '-', source], signal: io.signal });
  const isFolder = await stat(local).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const target = isFolder ? join(local, posix.basename(source)) : local;
  const reader = new TarReader(maxFileBytes);
  const prefix = source.replace(/^\/+/, '');
  let files = 0;
  let stderr = '';
  for await (const { stream, data } of run) {
    if (stream === 'stderr') {
      stderr = (stderr + new TextDecoder().decode(data)).slice(-4_096);
      continue;
    }
    for (const { name, mode, content } of reader.read(data)) {
      if (++files > maxFiles) throw new CommandError(`the archive has more than ${maxFiles} files`);
      await store(placeOf(name.replace(/^(?:\.?\/)+/, ''), prefix, target), { name, mode, content });
    }
  }
  await finished(run.exitCode.then((exitCode) => ({ stderr, exitCode })));
  if (files === 0) throw new CommandError(`${remote} was not found in the container`);
}

/** Where an entry is stored: always below the target, whatever the container sends. @throws CommandError */
function placeOf(name: string, prefix: string, target: string): string {
  const inner =
    name === prefix || name === `${prefix}/`
      ? ''
      : name.startsWith(`${prefix}/`)
        ? name.slice(prefix.length + 1)
        : undefined;
  const path = inner === undefined ? undefined : resolve(target, inner);
  if (path === undefined || (path !== target && !path.startsWith(target + sep))) {
    throw new CommandError(`the container sent the file ${JSON.stringify(name)}, which is not below the copied path`);
  }
  return path;
}

async function store(path: string, { name, mode, content }: TarEntry): Promise<void> {
  if (name.endsWith('/')) {
    await mkdir(path, { recursive: true });
    return;
  }
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { mode });
}
