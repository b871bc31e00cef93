import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { chromiumProgram } from '../../scripts/chromium.mjs';
import { etcdProgram } from '../../scripts/etcd.mjs';

/*
 * What some tests need of the machine. Where it is missing they are skipped with a line that says so. In CI, which sets
 * the variable CI, what can be installed must be there.
 */

/** Whether a platform has what a test needs; prints a line where it has not. */
export function platformHas(present: boolean, remedy: string): boolean {
  if (!present) console.warn(`SKIPPED: ${remedy}`);
  return present;
}

/** Whether a requirement is met. @throws in CI when it is not */
function meets(present: boolean, remedy: string): boolean {
  if (!present && process.env['CI'] !== undefined) throw new Error(`tests cannot run: ${remedy}`);
  return platformHas(present, remedy);
}

/** Whether a program is installed. */
export const hasProgram = (name: string, ...versionCommand: string[]): boolean =>
  meets(spawnSync(name, versionCommand, { timeout: 100_000 }).status === 0, `install ${name} and put it on the PATH`);

/** The path of an etcd; undefined where there is none. */
export function etcdPath(): string | undefined {
  const path = etcdProgram();
  meets(path !== undefined, 'put etcd 3.5.8 or newer on the PATH, or give this machine package sources that have it');
  return path;
}

/** The path of a Chromium; undefined where there is none. */
export function chromiumPath(): string | undefined {
  const path = chromiumProgram();
  meets(path !== undefined, 'put chromium on the PATH, or give this machine package sources that have it');
  return path;
}

/** Whether servers can listen on all addresses of 127.0.0.0/8: on some systems only the first is there. */
export async function hasLoopbackRange(): Promise<boolean> {
  const server = createServer();
  const listening = new Promise<boolean>((resolve) => {
    server.once('listening', () => resolve(true)).once('error', () => resolve(false));
  });
  server.listen(0, '127.77.0.1');
  const present = await listening;
  server.close();
  return platformHas(present, 'give this machine the loopback addresses 127.77.0.0/16');
}

export const hasKubectl = (): boolean => hasProgram('kubectl', 'version', '--client');

/** An IPv4 address of this machine that is not loopback, to which a proxy connects. */
export function externalAddress(): string | undefined {
  const address = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address;
  meets(address !== undefined, 'give this machine an IPv4 address that is not loopback');
  return address;
}
