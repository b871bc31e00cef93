import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import {
  filesWithFlags,
  load,
  folder as reference,
  replay,
  type ScenarioFile,
  scenariosOf,
} from './support/recorded.ts';
import { hasProgram } from './support/requirements.ts';
import { startWith } from './support/start.ts';

/*
 * Replays the recorded exchanges with the reference server that need a server with flags of their own, as replay.test.ts
 * does the others. The scenarios of a file run one after the other: the last one may list the metrics of those before.
 */

interface ScenariosWithFlags extends ScenarioFile {
  readonly flags: () => readonly string[];
}

/** One step has the first 300 characters of an event: where they end depends on the length of a resourceVersion. */
const withoutEnd = (transcript: string) =>
  transcript.replace(/(\\"operation\\":\\"Update\\",\\"api)[a-zA-Z]*(?:\\")?"/g, '$1Version"');

const token = 'peer-admin-token';
const users = `${token},peer-admin,peer-admin-uid,"system:masters"\npeer-user-token,peer-user,peer-user-uid\n`;

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'orch-flags-'));
  writeFileSync(join(root, 'tokens.csv'), users, { mode: 0o600 });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe.skipIf(!hasProgram('openssl', 'version'))('recorded exchanges match, but for the listed differences', () => {
  it.concurrent.each(filesWithFlags)('%s', { timeout: 240_000 }, async (name) => {
    const scenarios = await load<ScenariosWithFlags>(join(reference, 'scenarios', `${name}.mjs`));
    const server = await startWith([`--token-auth-file=${join(root, 'tokens.csv')}`, ...scenarios.flags()]);
    try {
      const { url } = await server.listen();
      const differ: unknown[] = [];
      for (const scenario of scenariosOf(name, scenarios)) {
        await replay({ url, token }, scenario, undefined, withoutEnd).catch((error: unknown) => differ.push(error));
      }
      if (differ.length > 0) throw new AggregateError(differ, 'scenarios differ');
    } finally {
      await server.close();
    }
  });
});
