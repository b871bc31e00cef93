import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from './support/server.ts';

/*
 * Replays the recorded exchanges with the reference server. Every exchange matches but for those that
 * reference/differences.md lists, and those differ.
 */

const folder = join(import.meta.dirname, 'reference');
/** Recorded beside controllers: they come with what they are about. */
const later = ['controllers'];
/** Has a webhook that is asked about every object that any scenario creates at cluster scope. */
const alone = ['webhooks.selectors'];

interface Session {
  ns: string;
  readonly transcript: readonly unknown[];
  req(method: string, path: string, body: unknown, options: { readonly quiet: boolean }): Promise<unknown>;
}
interface Library {
  readonly Session: new (base: string, options: { readonly token: string }) => Session;
  readonly diff: (want: unknown, got: unknown) => readonly string[];
}
type Scenario = (session: Session) => Promise<void>;

interface Recorded {
  readonly id: string;
  readonly run: Scenario;
}

const load = async <T>(path: string): Promise<T> => (await import(pathToFileURL(join(folder, path)).href)) as T;
const library = await load<Library>('lib.mjs');

const files = readdirSync(join(folder, 'scenarios')).map((file) => file.replace('.mjs', ''));
const scenarios = await Promise.all(
  files
    .filter((file) => !later.includes(file))
    .map(async (file) => {
      const { default: byName } = await load<{ readonly default: { readonly [name: string]: Scenario } }>(
        `scenarios/${file}.mjs`,
      );
      return Object.entries(byName).map(([name, run]) => ({ id: `${file}.${name}`, run }));
    }),
);

/** The steps that differ, by scenario: rows of the tables begin with a scenario's name and the positions in its file. */
const listed = new Map<string, number[]>();
for (const [, id = '', steps = ''] of readFileSync(join(folder, 'differences.md'), 'utf8').matchAll(
  /^\| `([a-z]+\.[\w-]+)` \[([\d, –]+)\]/gm,
)) {
  const positions = steps.split(', ').flatMap((range) => {
    const [from = '', to = from] = range.split('–');
    return Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => Number(from) + i);
  });
  listed.set(id, [...(listed.get(id) ?? []), ...positions]);
}

let server: RunningServer;
beforeAll(async () => {
  server = await startServer([
    '--api-domain=k8s.io',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--feature-gates=WatchList=true',
    '--controllers=-*',
    '--enable-bootstrap-token-auth',
  ]);
});
afterAll(() => server.stop());

/** Replays a scenario: only the listed steps differ. */
async function replay({ id, run }: Recorded): Promise<void> {
  const session = new library.Session(server.url, { token: server.token });
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
  const found = recorded.map((want, i) => {
    const got = session.transcript[i];
    return got === undefined ? [`no answer: ${end}`] : library.diff(want, got);
  });
  const expected = listed.get(id) ?? [];
  const differ = found.flatMap((lines, i) => (lines.length > 0 ? [i] : []));
  const unlisted = differ.filter((i) => !expected.includes(i)).map((i) => ({ step: i, found: found[i] }));
  expect({ unlisted, gone: expected.filter((i) => !differ.includes(i)) }).toEqual({ unlisted: [], gone: [] });
}

const isAlone = ({ id }: Recorded): boolean => alone.includes(id);

describe.concurrent('recorded exchanges match, but for the listed differences', () => {
  it.each(scenarios.flat().filter((one) => !isAlone(one)))('$id', { timeout: 120_000 }, replay);

  it('lists differences of recorded scenarios only', () => {
    const ids = scenarios.flat().map(({ id }) => id);
    expect([...listed.keys()].filter((id) => !ids.includes(id))).toEqual([]);
  });
});

describe('recorded exchanges of scenarios that run alone match, but for the listed differences', () => {
  it.each(scenarios.flat().filter(isAlone))('$id', { timeout: 120_000 }, replay);
});
