import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import {
  filesWithProviders,
  load,
  folder as reference,
  replay,
  type ScenarioFile,
  type Session,
  scenariosOf,
} from './support/recorded.ts';
import { hasProgram } from './support/requirements.ts';
import { startWith } from './support/start.ts';

/*
 * Replays the recorded exchanges with the reference server about identity providers and webhooks, as replay.test.ts does
 * the others. Each file of scenarios has a server with the flags that the file names, and providers of its own.
 */

/** Identity providers and webhooks. */
interface Providers {
  /** Writes keys, unless there are some, and configuration files. */
  readonly write: (folder: string) => string;
  readonly serve: (folder: string) => Promise<{ close(): void }>;
}

interface ProviderScenarios extends ScenarioFile {
  readonly flags: (folder: string) => readonly string[];
  readonly files?: (folder: string, providers: Providers) => { readonly [name: string]: string };
  readonly before?: (folder: string, providers: Providers) => Promise<void>;
}

/** The ports in the recordings. */
const recordedPorts = [9443, 9444, 9445, 9446] as const;

/** As many ports that nobody listens on. */
async function freePorts(): Promise<readonly number[]> {
  const servers = recordedPorts.map(() => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

const token = 'peer-admin-token';
const users = `${token},peer-admin,peer-admin-uid,"system:masters"\npeer-user-token,peer-user,peer-user-uid\n`;

let root: string;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'orch-providers-'));
  const { write } = await load<Providers>(join(reference, 'providers.mjs'));
  write(join(root, 'keys'));
  writeFileSync(join(root, 'tokens.csv'), users, { mode: 0o600 });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe.skipIf(!hasProgram('openssl', 'version'))('recorded exchanges match, but for the listed differences', () => {
  it.concurrent.each(filesWithProviders)('%s', { timeout: 240_000 }, async (name) => {
    const ports = await freePorts();
    const replaced = (text: string) =>
      recordedPorts.reduce((t, port, i) => t.replaceAll(`${port}`, `${ports[i]}`), text);
    const restored = (text: string) =>
      recordedPorts.reduce((t, port, i) => t.replaceAll(`${ports[i]}`, `${port}`), text);
    const own = mkdtempSync(join(root, `${name}-`));
    for (const file of ['providers.mjs', `scenarios/${name}.mjs`]) {
      const copy = join(own, file.replace('scenarios/', ''));
      writeFileSync(copy, replaced(readFileSync(join(reference, file), 'utf8')));
    }
    const providers = await load<Providers>(join(own, 'providers.mjs'));
    const scenarios = await load<ProviderScenarios>(join(own, `${name}.mjs`));
    cpSync(join(root, 'keys'), join(own, 'files'), { recursive: true });
    const files = providers.write(join(own, 'files'));
    for (const [file, text] of Object.entries(scenarios.files?.(files, providers) ?? {})) {
      writeFileSync(join(files, file), text);
    }
    const serving = await providers.serve(files);
    await scenarios.before?.(files, providers);
    const server = await startWith([`--token-auth-file=${join(root, 'tokens.csv')}`, ...scenarios.flags(files)]);
    try {
      const { url } = await server.listen();
      const prepare = (session: Session) => Object.assign(session, { dir: files, providers });
      const differ: unknown[] = [];
      for (const scenario of scenariosOf(name, scenarios)) {
        await replay({ url, token }, scenario, prepare, restored).catch((error: unknown) => differ.push(error));
      }
      if (differ.length > 0) throw new AggregateError(differ, 'scenarios differ');
    } finally {
      await server.close();
      serving.close();
    }
  });
});
