import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '../src/meta/index.ts';
import { type Client, createClient } from './client.ts';
import { complaintsOf } from './complaints.ts';
import { longestHold } from './limits.ts';
import { minimise } from './mutate.ts';
import { Random } from './random.ts';
import { sayRun, tell } from './report.ts';
import type { Generator } from './requests/generator.ts';
import { startServer, type TestedServer } from './server.ts';
import { signatureOf } from './target.ts';

/** Memory growth that is allowed after all requests are answered and all objects deleted (bytes). */
const mostLeft = 96 * 1024 * 1024;
const settleMs = 5_000;
const settledMs = 75_000;
const batchSize = 64;
/** Steps of minimising a case: each costs some requests, and a restart when the server exits. */
const tries = 40;

/** The case with this number in a run (deterministic). */
export const caseOf = ({ name, make }: Generator, seed: number, index: number): Json =>
  make(new Random(seed, name, index));

interface Entered {
  readonly server: TestedServer;
  readonly client: Client;
}

/** A server that is restarted when it has exited. */
export class Arena {
  #entered: Promise<Entered> | undefined;
  #endings: string[] = [];

  /** How servers have exited since the last call. */
  endings(): string[] {
    return this.#endings.splice(0);
  }

  async enter(): Promise<Entered> {
    this.#entered ??= open();
    const entering = this.#entered;
    const { server, client } = await entering;
    if (server.ending === undefined) return { server, client };
    // The first caller that notices the exit starts the next server.
    if (this.#entered === entering) {
      this.#endings.push(server.ending);
      client.close();
      this.#entered = open();
    }
    return this.enter();
  }

  async leave(): Promise<void> {
    const entered = await this.#entered;
    entered?.client.close();
    await entered?.server.stop();
  }
}

async function open(): Promise<Entered> {
  const server = await startServer();
  const client = createClient(server);
  await client.http1({ user: 'admin', method: 'GET', path: '/readyz' });
  await server.longestTurn();
  return { server, client };
}

/** Violations in the responses to a case; a broken connection is left to the check of the server's state. */
async function answerFault(arena: Arena, generator: Generator, given: Json): Promise<string | undefined> {
  const { server, client } = await arena.enter();
  return generator.play(server, client, given).catch(() => undefined);
}

/**
 * Violations of the server: an exit, errors in its log, and with `turns` a blocked event loop. Cases by the administrator may
 * delete the roles of others: another administrator asks.
 */
async function serverFault(arena: Arena, turns: boolean): Promise<string | undefined> {
  const { server, client } = await arena.enter();
  const [ending] = arena.endings();
  if (ending !== undefined) return ending;
  try {
    const { status } = await client.http1({ user: 'carol', method: 'GET', path: '/livez' });
    if (status !== 200) return `/livez answers with ${status}`;
    const turn = await server.longestTurn();
    const [complaint] = complaintsOf(server);
    if (complaint !== undefined) return complaint;
    return turns && turn > longestHold ? `holds the event loop for ${Math.round(turn)} ms` : undefined;
  } catch (error) {
    // The exit includes the end of its log.
    for (let i = 0; i < 50 && server.ending === undefined; i++) await sleep(20);
    await arena.enter();
    return arena.endings()[0] ?? String(error);
  }
}

/** Violations of a single case. */
export async function judgeCase(
  arena: Arena,
  generator: Generator,
  given: Json,
  turns: boolean,
): Promise<string | undefined> {
  const ofAnswer = await answerFault(arena, generator, given);
  return ofAnswer ?? serverFault(arena, turns);
}

/** Plays cases with the concurrency of their kind; the result attributes violations to cases where possible. */
async function playBatch(arena: Arena, generator: Generator, batch: readonly Json[]): Promise<Map<Json, string>> {
  const faults = new Map<Json, string>();
  const left = [...batch];
  await Promise.all(
    Array.from({ length: generator.lanes }, async () => {
      for (let given = left.shift(); given !== undefined; given = left.shift()) {
        const fault = await answerFault(arena, generator, given);
        if (fault !== undefined) faults.set(given, fault);
      }
    }),
  );
  return faults;
}

/** Runs all generators for a number of seconds in total, and reports findings. */
export async function fuzzRequests(all: readonly Generator[], seed: number, seconds: number): Promise<void> {
  for (const generator of all) {
    const until = Date.now() + (seconds * 1000) / all.length;
    const arena = new Arena();
    const count = await fuzzGenerator(arena, generator, seed, until);
    await arena.leave();
    sayRun(generator.name, count, 'cases');
  }
}

async function fuzzGenerator(arena: Arena, generator: Generator, seed: number, until: number): Promise<number> {
  const reported = new Set<string>();
  let before: number | undefined;
  let next = 0;
  while (Date.now() < until) {
    const indexes = Array.from({ length: batchSize }, () => next++);
    const cases = indexes.map((index) => caseOf(generator, seed, index));
    const faults = await playBatch(arena, generator, cases);
    const fault = await serverFault(arena, true);
    const suspects = fault === undefined ? [...faults.keys()] : cases;
    for (const given of suspects) {
      await investigate(arena, generator, given, `--seed=${seed}, case ${indexes[cases.indexOf(given)]}`, reported);
    }
    if (fault !== undefined && !reported.has(signatureOf(fault))) {
      const made = `--seed=${seed}, the cases ${indexes[0]} to ${indexes.at(-1)} together`;
      tell({ where: generator.name, what: fault, made });
      reported.add(signatureOf(fault));
    }
    const { server } = await arena.enter();
    before ??= await server.memory();
  }
  const left = await memoryLeft(arena, before ?? 0);
  if (left > mostLeft) {
    const what = `leaves ${Math.round(left / 1024 / 1024)} MB`;
    tell({ where: generator.name, what, made: `--seed=${seed}, ${next} cases` });
  }
  return next;
}

/** Memory growth once it no longer shrinks; the server also waits for unfinished bodies. */
async function memoryLeft(arena: Arena, before: number): Promise<number> {
  const { server } = await arena.enter();
  for (let waited = 0; ; waited += settleMs) {
    const left = (await server.memory()) - before;
    if (left <= mostLeft || waited >= settledMs) return left;
    await sleep(settleMs);
  }
}

async function investigate(
  arena: Arena,
  generator: Generator,
  given: Json,
  made: string,
  reported: Set<string>,
): Promise<void> {
  const what = await judgeCase(arena, generator, given, true);
  if (what === undefined || reported.has(signatureOf(what))) return;
  // A single long turn may be a garbage collection: it counts only when it is reproducible.
  for (let i = 0; i < 2; i++) if ((await judgeCase(arena, generator, given, true)) === undefined) return;
  reported.add(signatureOf(what));
  const same = async (bytes: Buffer) => {
    const other = await judgeCase(arena, generator, generator.withBytes(given, bytes), true);
    return other !== undefined && signatureOf(other) === signatureOf(what);
  };
  const bytes = generator.bytes(given);
  const smaller = await minimise(bytes, (piece) => same(Buffer.from(piece)), tries);
  const kept = smaller.length < bytes.length ? generator.withBytes(given, smaller) : given;
  tell({ where: generator.name, what, made, input: Buffer.from(JSON.stringify(kept)) });
}
