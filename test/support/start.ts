import { silentLog } from '../../src/server/dependencies.ts';
import { type OrchServer, startServer } from '../../src/server/server.ts';
import { serverTable } from '../../src/server/settings/flags.ts';
import { readConfig } from '../../src/server/settings/read-file.ts';
import { readSettings } from '../../src/server/settings/settings.ts';
import { StartError } from '../../src/server/start-error.ts';

/** A server with these arguments of `serve` in this process, which keeps objects in memory and does not listen. @throws StartError */
export async function startWith(argv: readonly string[]): Promise<OrchServer> {
  const own = ['--api-domain=k8s.io', '--store=memory', '--controllers=-*', '--secure-port=0'];
  const read = await readSettings(serverTable, { argv: [...own, ...argv], env: {}, readConfig });
  if ('problems' in read) throw new StartError(read.problems.join('\n'));
  return startServer(read.settings, { log: silentLog });
}
