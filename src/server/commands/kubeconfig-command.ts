import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { dns1123Label } from '../../meta/index.ts';
import { commonNameOf, issueClientCertificate } from '../certificates/certificates.ts';
import { systemClock } from '../clock.ts';
import { readIfExists, readPrivate, writePrivate } from '../private-files.ts';
import { defaultsOf, type FlagTable, flag, type LoadedCommand, listOf, type SettingsOf } from '../settings/flag.ts';
import { commandHelp } from '../settings/flag-docs.ts';
import * as type from '../settings/flag-types.ts';
import { StartError, systemReason } from '../start-error.ts';
import { onlyDataDir } from '../storage/data-folder.ts';
import { kubeconfig } from './kubeconfig.ts';
import { serverOfKubeconfig } from './remote-server.ts';
import { parseSettings, runToEnd } from './run-until-signal.ts';
import { shellWord } from './shell-word.ts';

const flags = {
  user: flag('Identity', type.optionalText, undefined, 'User name: the common name of the certificate.'),
  group: flag(
    'Identity',
    type.texts('group', () => undefined),
    [],
    'Groups of the user: the organizations of the certificate.',
  ),
  duration: flag(
    'Identity',
    type.duration,
    30 * 24 * 3_600_000,
    'Validity of the certificate, at most until the authority expires. A certificate cannot be revoked.',
  ),
  namespace: flag('API', type.optionalText, undefined, 'Default namespace of the context.'),
  server: flag(
    'Address',
    type.secureUrl,
    undefined,
    "URL at which the user reaches the server. If not set, it is the one in the administrator's kubeconfig.",
  ),
  dataDir: flag(
    'Store',
    type.folder,
    undefined,
    'Data directory of the server whose authority signs the certificate. If not set, it is the only one below `./orch-data`.',
  ),
  out: flag('Process', type.file, undefined, 'Output file. If not set, it is `NAME.kubeconfig`.'),
};
type KubeconfigSettings = SettingsOf<typeof flags>;

const table: FlagTable<KubeconfigSettings> = {
  list: listOf(flags),
  defaults: defaultsOf(flags),
  problemsOf: ({ user, namespace = 'default', duration }, nameOf) => [
    ...(user === undefined ? [`${nameOf('user')} must name the user`] : []),
    ...dns1123Label(namespace).map((problem) => `${nameOf('namespace')} ${problem}`),
    ...(duration < 60_000 ? [`${nameOf('duration')} must be at least 1m`] : []),
  ],
};

/** The output of `orch kubeconfig --help`. */
const help = (): string =>
  commandHelp(
    'orch kubeconfig --user=NAME [--group=NAME,…] [flags]',
    [
      'Issues a client certificate signed by the authority of a data directory, and writes a kubeconfig with it.',
      'The server may be running. Roles that are bound to the user or its groups grant permissions.',
    ],
    table.list,
  );

/** Runs `orch kubeconfig`. Exit status 2 for invalid settings, 1 when the authority cannot be used. */
async function run(args: readonly string[]): Promise<void> {
  const settings = await parseSettings('kubeconfig', table, args);
  if (settings !== undefined) await runToEnd(() => write(settings));
}

/** @throws StartError */
async function write({
  user = '',
  group,
  duration,
  namespace,
  server,
  dataDir,
  out,
}: KubeconfigSettings): Promise<void> {
  const folder = dataDir ?? (await onlyDataDir());
  const path = out ?? `${user.replaceAll(/[^\w.@-]/g, '-')}.kubeconfig`;
  if (existsSync(path)) throw new StartError(`${path} is there already: remove it, or name another file with --out`);
  const authority = await authorityOf(folder);
  const administrator = await serverOfKubeconfig("the administrator's kubeconfig", join(folder, 'admin.kubeconfig'));
  const now = systemClock.now();
  const remainingMs = Date.parse(new X509Certificate(authority.cert).validTo) - now;
  const subject = { commonName: user, organizations: group };
  const text = kubeconfig({
    cluster: commonNameOf(authority.cert).replace(/-ca$/, ''),
    server: server ?? administrator.server,
    authority: administrator.ca ?? authority.cert,
    certificate: issueClientCertificate(authority, subject, now, Math.min(duration, remainingMs)),
    user,
    namespace,
  });
  try {
    await writePrivate(path, text);
  } catch (error) {
    throw new StartError(`${path} cannot be written: ${systemReason(error)}`, error);
  }
  process.stdout.write(`${path} is the kubeconfig of ${user}${group.length === 0 ? '' : ` in ${group.join(', ')}`}
try: export KUBECONFIG=${shellWord(resolve(path))} && kubectl auth whoami
`);
}

/** The authority of a data directory. @throws StartError */
async function authorityOf(folder: string) {
  const [cert, key] = [await readIfExists(join(folder, 'ca.crt')), await readPrivate(join(folder, 'ca.key'))];
  if (cert === undefined) throw new StartError(`${folder} is not a data directory: it has no ca.crt`);
  if (key !== undefined) return { cert, key };
  throw new StartError(
    `${folder} has no ca.key: the servers of an etcd share the key in their store. Create a CertificateSigningRequest instead`,
  );
}

export const kubeconfigCommand: LoadedCommand = { run, help, flags: table.list };
