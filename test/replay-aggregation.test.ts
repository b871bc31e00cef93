import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { load, folder as reference, replay, type ScenarioFile, type Session, scenariosOf } from './support/recorded.ts';
import { hasLoopbackRange, hasProgram } from './support/requirements.ts';
import { startWith } from './support/start.ts';

/*
 * Replays the recorded exchanges with the reference server about aggregated API servers, as replay.test.ts does the others.
 * Each scenario has a server of its own: discovery shows the groups of all extensions.
 */

interface AggregationScenarios extends ScenarioFile {
  readonly flags: (folder: string) => readonly string[];
  readonly before: (folder: string) => void;
}

const name = 'aggregation';
const token = 'peer-admin-token';
const users = `${token},peer-admin,peer-admin-uid,"system:masters"\npeer-user-token,peer-user,peer-user-uid\n`;
/** The ports of the extensions in the recordings: this one and the next. */
const recordedPort = 18_443;

let root: string;
let scenarios: AggregationScenarios;
let port: number;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'orch-aggregation-'));
  port = await freePorts();
  // The scenarios import the extension from the folder above.
  mkdirSync(join(root, 'scenarios'));
  for (const file of ['extension.mjs', `scenarios/${name}.mjs`]) {
    const text = readFileSync(join(reference, file), 'utf8');
    writeFileSync(join(root, file), text.replaceAll(String(recordedPort), String(port)));
  }
  writeFileSync(join(root, 'tokens.csv'), users, { mode: 0o600 });
  scenarios = await load<AggregationScenarios>(join(root, `scenarios/${name}.mjs`));
  scenarios.before(root);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** The first of two ports that nobody listens on. */
async function freePorts(): Promise<number> {
  const [first, second] = [createServer(), createServer()];
  const listens = (server: typeof first, at: number) =>
    new Promise<number>((resolve) => {
      server.once('error', () => resolve(0)).listen(at, () => resolve((server.address() as { port: number }).port));
    });
  try {
    for (;;) {
      const found = await listens(first, 0);
      if (found < 65_535 && (await listens(second, found + 1)) > 0) return found;
      first.close();
    }
  } finally {
    first.close();
    second.close();
  }
}

const restored = (text: string): string =>
  [0, 1].reduce((t, i) => t.replaceAll(String(port + i), String(recordedPort + i)), text);

const ids = scenariosOf(name, await load<ScenarioFile>(join(reference, `scenarios/${name}.mjs`))).map(({ id }) => id);
/** Gives an APIService a second to follow a definition. */
const alone = ['aggregation.precedence'];

async function prepare(session: Session): Promise<void> {
  Object.assign(session, { dir: root, providers: {} });
  // The server writes what extensions read after its start.
  const map = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
  while ((await session.req('GET', map, undefined, { quiet: true })).status !== 200) await setTimeout(50);
}

async function replayed(id: string): Promise<void> {
  const server = await startWith([`--token-auth-file=${join(root, 'tokens.csv')}`, ...scenarios.flags(root)]);
  try {
    const { url } = await server.listen();
    const scenario = scenariosOf(name, scenarios).find((one) => one.id === id);
    if (scenario === undefined) throw new Error(`there is no scenario ${id}`);
    await replay({ url, token }, scenario, prepare, restored);
  } finally {
    await server.close();
  }
}

describe.skipIf(!hasProgram('openssl', 'version') || !(await hasLoopbackRange()))('recorded exchanges', () => {
  it.each(alone)('%s: match, but for the listed differences', { timeout: 240_000 }, replayed);
  it.concurrent.each(ids.filter((id) => !alone.includes(id)))(
    '%s: match, but for the listed differences',
    { timeout: 240_000 },
    replayed,
  );
});
