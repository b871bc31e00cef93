import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { load, folder as reference, replay, type ScenarioFile, type Session, scenariosOf } from './support/recorded.ts';
import { type RunningServer, startServer } from './support/server.ts';

/*
 * Replays the recorded exchanges about metrics, deprecated versions and emulated releases. Most steps start one more
 * server with flags of their own.
 */

interface LifecycleScenarios extends ScenarioFile {
  readonly flags: (folder: string) => readonly string[];
  readonly files: () => { readonly [name: string]: string };
}

const scenarios = await load<LifecycleScenarios>(join(reference, 'scenarios', 'lifecycle.mjs'));
/** The scenarios start further servers on the port of the command and 17. */
const portDistance = 17;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

let folder: string;
let server: RunningServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orch-lifecycle-'));
  for (const [name, text] of Object.entries(scenarios.files())) writeFileSync(join(folder, name), text);
  const shared = ['--api-domain=k8s.io', '--controllers=-*'];
  server = await startServer([...shared, ...scenarios.flags(folder)]);
  // The health checks are counted once somebody asks.
  await server.request('GET', '/readyz');
  process.env['SERVE_COMMAND'] = JSON.stringify([
    process.execPath,
    join(dirname(import.meta.dirname), 'dist/server/main.js'),
    'serve',
    ...shared,
    `--secure-port=${(await freePort()) - portDistance}`,
    `--token-auth-file=${join(server.folder, 'tokens.csv')}`,
  ]);
});
afterAll(async () => {
  delete process.env['SERVE_COMMAND'];
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const prepare = (session: Session) => Object.assign(session, { dir: folder });

describe('recorded exchanges match, but for the listed differences', () => {
  it.each(scenariosOf('lifecycle', scenarios))('$id', { timeout: 400_000 }, (scenario) =>
    replay(server, scenario, prepare),
  );
});
