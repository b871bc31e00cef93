import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StartError } from '../src/server/start-error.ts';
import { load, folder as reference } from './support/recorded.ts';
import { hasProgram } from './support/requirements.ts';
import { startWith } from './support/start.ts';

/*
 * Starts a server with each set of flags and files of reference/start-errors.json. It refuses what the reference server
 * refuses, with the same text or with that of reference/start-errors.md, and starts with what the reference server takes.
 */

interface Case {
  readonly title: string;
  readonly flags: readonly string[];
  /** Texts by file name. In texts and flags, `<dir>` is the folder of the files. */
  readonly files?: { readonly [name: string]: string };
  readonly starts?: true;
  readonly exitCode?: number;
  readonly error?: string;
}

const read = (name: string) => readFileSync(join(reference, name), 'utf8');
const cases = JSON.parse(read('start-errors.json')) as Case[];
/**
 * The texts of this server that differ from those of the reference server, which may start instead: rows of a title and a
 * text.
 */
const ownTexts = new Map(
  [...read('start-errors.md').matchAll(/^\| `(.+?)` \| (.+) \|$/gm)].map(([, title = '', text = '']) => [title, text]),
);

const { write } = await load<{ readonly write: (folder: string) => void }>(join(reference, 'providers.mjs'));
const folder = mkdtempSync(join(tmpdir(), 'orch-start-'));
beforeAll(() => write(folder));
afterAll(() => rmSync(folder, { recursive: true }));

const flat = (text: string) => text.replace(/\s+/g, ' ').trim();
const placed = (text: string) => text.replaceAll('<dir>', folder);

/** The arguments of a case, whose files are written. */
function argumentsOf({ flags, files = {} }: Case): string[] {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), placed(text));
  return flags.map(placed);
}

/** Why a server does not start with the arguments; undefined: it starts. Rejects for other errors than a StartError. */
async function refusalOf(argv: readonly string[]): Promise<string | undefined> {
  try {
    const server = await startWith(argv);
    await server.close();
    return undefined;
  } catch (error) {
    if (error instanceof StartError) return error.message;
    throw error;
  }
}

/** A flag with or without dashes, or a field of a configuration file. */
const namesSetting = /\b(?:oidc|authentication|authorization)-[a-z*]|\w+\[\d+\]\.\w+/;

describe.skipIf(!hasProgram('openssl', 'version'))('a recorded start', () => {
  it.each(cases)('$title', async (one) => {
    const refusal = await refusalOf(argumentsOf(one));
    const own = ownTexts.get(one.title);
    const expected = own ?? one.error;
    if (expected === undefined) return expect(refusal).toBeUndefined();
    expect(flat((refusal ?? 'it starts').replaceAll(folder, '<dir>'))).toContain(flat(expected));
    expect(refusal).toMatch(namesSetting);
  });

  it('differs from that of the reference server wherever start-errors.md says so', () => {
    const same = ([title, text]: [string, string]) => {
      const one = cases.find((known) => known.title === title);
      return one === undefined || (one.error !== undefined && flat(text).includes(flat(one.error)));
    };
    const unknown = [...ownTexts].filter(same);
    expect(unknown).toEqual([]);
  });

  it.each(['modes: a time that is none', 'modes: unknown', 'policies: not JSON'])(
    'ends the process with the status of the reference server: %s',
    (title) => {
      const one = cases.find((known) => known.title === title) as Case;
      const main = join(import.meta.dirname, '../dist/server/main.js');
      const end = spawnSync(process.execPath, [main, 'serve', ...argumentsOf(one)], { encoding: 'utf8' });
      expect([end.status, end.stdout]).toEqual([one.exitCode, '']);
      expect(end.stderr).toContain('orch: ');
    },
  );
});
