import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { OrchServer } from '../src/server/server.ts';
import { load, folder as reference, replay, type ScenarioFile, type Session, scenariosOf } from './support/recorded.ts';
import { startWith } from './support/start.ts';

/*
 * Replays the recorded exchanges about metrics, deprecated versions and emulated releases. Most steps start one more
 * server with flags of their own, which runs in this process.
 */

interface LifecycleScenarios extends ScenarioFile {
  readonly flags: (folder: string) => readonly string[];
  readonly files: () => { readonly [name: string]: string };
}

const scenarios = await load<LifecycleScenarios>(join(reference, 'scenarios', 'lifecycle.mjs'));
/** The scenarios start further servers on the port of the command and 17. */
const portDistance = 17;
const token = 'peer-admin-token';

const listening = (server: Server) => new Promise((resolve) => server.once('listening', resolve));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await listening(server);
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Runs a server with the flags of the first line, until the other end closes. */
async function runFor(socket: Socket): Promise<void> {
  const ended = new Promise((resolve) => socket.once('end', resolve));
  const lines = createInterface(socket);
  const line = await new Promise<string>((resolve) => lines.once('line', resolve));
  try {
    const server = await startWith(JSON.parse(line) as string[]);
    await server.listen();
    await ended;
    await server.close();
  } catch (error) {
    socket.write(`Error: ${(error as Error).message}\n`);
  }
  socket.end();
}

let folder: string;
let server: OrchServer;
let url: string;
let starter: Server;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'orch-lifecycle-'));
  const tokens = join(folder, 'tokens.csv');
  writeFileSync(tokens, `${token},tester,tester,"system:masters"\n`, { mode: 0o600 });
  for (const [name, text] of Object.entries(scenarios.files())) writeFileSync(join(folder, name), text);
  server = await startWith([`--token-auth-file=${tokens}`, ...scenarios.flags(folder)]);
  ({ url } = await server.listen());
  // The health checks are counted once somebody asks.
  await server.client.request({ method: 'GET', url: '/readyz', headers: {} });
  const socket = join(folder, 'starter');
  starter = createServer({ allowHalfOpen: true }, (asked) => void runFor(asked)).listen(socket);
  await listening(starter);
  process.env['SERVE_COMMAND'] = JSON.stringify([
    process.execPath,
    join(import.meta.dirname, 'support/start-elsewhere.mjs'),
    socket,
    `--secure-port=${(await freePort()) - portDistance}`,
    `--token-auth-file=${tokens}`,
  ]);
});
afterAll(async () => {
  delete process.env['SERVE_COMMAND'];
  starter.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const prepare = (session: Session) => Object.assign(session, { dir: folder });

describe('recorded exchanges match, but for the listed differences', () => {
  it.each(scenariosOf('lifecycle', scenarios))('$id', { timeout: 400_000 }, (scenario) =>
    replay({ url, token }, scenario, prepare),
  );
});
