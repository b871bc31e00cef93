import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import type { RunningServer } from './server.ts';

export const folder = join(dirname(import.meta.dirname), 'reference');

/** A client of one scenario, which notes the answers. */
export interface Session {
  ns: string;
  /** The files of the providers, and their module, for scenarios that need providers. */
  dir?: string;
  providers?: unknown;
  readonly transcript: readonly unknown[];
  req(
    method: string,
    path: string,
    body: unknown,
    options: { readonly quiet: boolean },
  ): Promise<{ readonly status: number }>;
}
interface Library {
  readonly Session: new (base: string, options: { readonly token: string }) => Session;
  readonly diff: (want: unknown, got: unknown) => readonly string[];
}
export type Scenario = (session: Session) => Promise<void>;

/** A recorded scenario. */
export interface Recorded {
  /** Its file, and its name there. */
  readonly id: string;
  readonly run: Scenario;
}

/** A file of scenarios. */
export interface ScenarioFile {
  readonly default: { readonly [name: string]: Scenario };
}

/** The scenarios of a file of this name. */
export const scenariosOf = (name: string, { default: byName }: ScenarioFile): Recorded[] =>
  Object.entries(byName).map(([scenario, run]) => ({ id: `${name}.${scenario}`, run }));

export const load = async <T>(path: string): Promise<T> => (await import(pathToFileURL(path).href)) as T;
const library = await load<Library>(join(folder, 'lib.mjs'));

const files = readdirSync(join(folder, 'scenarios')).map((file) => file.replace('.mjs', ''));
/** The files whose scenarios need identity providers or webhooks, and a server with flags of their own. */
export const filesWithProviders = files.filter((file) => file.startsWith('providers-'));
/** The files whose scenarios need a server with flags of their own, and no providers. */
export const filesWithFlags = files.filter((file) => /^(?:cbor|flowcontrol)/.test(file));
/** The files with a test of their own, which starts a server with the flags that they name. */
const filesWithTests = ['aggregation', 'lifecycle'];
const plain = files.filter((file) => ![...filesWithProviders, ...filesWithFlags, ...filesWithTests].includes(file));
const ofFiles = await Promise.all(
  plain.map(async (file) => scenariosOf(file, await load(join(folder, 'scenarios', `${file}.mjs`)))),
);

/** The scenarios that need no providers. */
export const scenarios: readonly Recorded[] = ofFiles.flat();

/** The steps that differ, by scenario: rows of the tables begin with a scenario's name and the positions in its file. */
export const listed: ReadonlyMap<string, readonly number[]> = listedSteps();

function listedSteps(): Map<string, number[]> {
  const byScenario = new Map<string, number[]>();
  for (const [, id = '', steps = ''] of readFileSync(join(folder, 'differences.md'), 'utf8').matchAll(
    /^\| `([a-z-]+\.[\w-]+)` \[([\d, –]+)\]/gm,
  )) {
    const positions = steps.split(', ').flatMap((range) => {
      const [from = '', to = from] = range.split('–');
      return Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => Number(from) + i);
    });
    byScenario.set(id, [...(byScenario.get(id) ?? []), ...positions]);
  }
  return byScenario;
}

/**
 * Replays a scenario. Rejects when others than the listed steps differ, or one of them does not. The session begins once
 * `prepare` resolves; `spell` sees a transcript in JSON before it is compared.
 */
export async function replay(
  server: Pick<RunningServer, 'url' | 'token'>,
  { id, run }: Recorded,
  prepare: (session: Session) => unknown = () => {},
  spell: (transcript: string) => string = (transcript) => transcript,
): Promise<void> {
  const session = new library.Session(server.url, { token: server.token });
  await prepare(session);
  session.ns = `ref-${id.replace(/[^a-z0-9]+/gi, '-').toLowerCase()}`.slice(0, 60);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: session.ns } };
  await session.req('POST', '/api/v1/namespaces', namespace, { quiet: true });
  // Entries of managedFields are in the order of their times, in seconds: a scenario begins with one.
  await setTimeout(1_000 - (Date.now() % 1_000));
  // A scenario that cannot go on lacks the exchanges that follow, which is a difference of each of them.
  const end = await run(session).then(
    () => 'the scenario is over',
    (error: Error) => error.message,
  );
  const recorded = JSON.parse(readFileSync(join(folder, 'expected', `${id}.json`), 'utf8')) as unknown[];
  const transcript = JSON.parse(spell(JSON.stringify(session.transcript))) as unknown[];
  const found = recorded.map((want, i) => {
    const got = transcript[i];
    return got === undefined ? [`no answer: ${end}`] : library.diff(want, got);
  });
  const expected = listed.get(id) ?? [];
  const differ = found.flatMap((lines, i) => (lines.length > 0 ? [i] : []));
  const unlisted = differ.filter((i) => !expected.includes(i)).map((i) => ({ step: i, found: found[i] }));
  expect({ unlisted, gone: expected.filter((i) => !differ.includes(i)) }).toEqual({ unlisted: [], gone: [] });
}
