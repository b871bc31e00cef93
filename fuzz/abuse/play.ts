import { setTimeout as sleep } from 'node:timers/promises';
import { type Bystander, startBystander, type Waited } from '../bystander.ts';
import { type Client, createClient } from '../client.ts';
import { complaintsOf } from '../complaints.ts';
import { longestHold, longestWrite } from '../limits.ts';
import { type ServerOptions, startServer, type TestedServer, tokenOf } from '../server.ts';
import { asAdmin, configMaps, heldPlaces, type Scenario } from './scenario.ts';

/** The result of a scenario. */
export interface Outcome {
  /** Violations; empty when the scenario passed. */
  readonly faults: readonly string[];
  /** All violations are times that are too long. */
  readonly isSlow: boolean;
  /** The longest blocking of the event loop (ms). */
  readonly longestTurn: number;
  /** How long another client waited. */
  readonly waits: readonly Waited[];
  /** Memory growth (bytes). */
  readonly left: number;
}

/** Memory growth that is allowed after an attack (bytes), for bounded caches and compiled code. */
const mostLeft = 64 * 1024 * 1024;
/** During a short attack the other client asks this many times more rarely, far more often than a request may take. */
const shortPace = 4;
const settleMs = 500;
const settleTimes = 20;

/** A server that scenarios attack, while another client makes ordinary requests. */
export interface Target {
  readonly server: TestedServer;
  readonly client: Client;
  readonly bystander: Bystander;
  readonly stop: () => Promise<void>;
}

/** Starts a server with another client, which is idle until a scenario is played. */
export async function startTarget(options?: ServerOptions): Promise<Target> {
  const server = await startServer(options);
  const client = createClient(server);
  let bystander: Bystander | undefined;
  const stop = async () => {
    bystander?.kill();
    client.close();
    await server.stop();
  };
  try {
    await warmUp(client);
    bystander = await startBystander(server, bystanding, tokenOf('carol'));
    return { server, client, bystander, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Plays a scenario against its own server. */
export async function play(scenario: Scenario, full: boolean): Promise<Outcome> {
  const target = await startTarget(scenario.options);
  try {
    return await playAgainst(target, scenario, full);
  } finally {
    await target.stop();
  }
}

/**
 * Plays a scenario while the other client makes its requests. The full intensity is judged by what the other client waits;
 * the short version, which shares its machine, by what the server computed meanwhile. After a fault the server may be
 * unusable.
 */
export async function playAgainst(
  { server, client, bystander }: Target,
  scenario: Scenario,
  full: boolean,
): Promise<Outcome> {
  const faults: string[] = [];
  try {
    const before = await server.memory();
    await server.longestTurn();
    await bystander.begin(full ? 1 : shortPace);
    const turns: number[] = [];
    const longestTurn = async () => {
      turns.push(await server.longestTurn());
      return turns.at(-1) as number;
    };
    await scenario.attack({ server, client, full, longestTurn }).catch((error: Error) => faults.push(error.message));
    const report = await bystander.end();
    faults.push(...report.faults);
    if (server.ending === undefined) await longestTurn();
    faults.push(...(await aftermath(server)));
    const most = scenario.mostLeft?.[full ? 'full' : 'short'] ?? mostLeft;
    const left = await memoryLeft(server, before, most);
    if (left > most) faults.push(`${Math.round(left / 1024 / 1024)} MB are left in memory`);
    const times = [...longWaits(report.waits, full), ...longTurns(turns)];
    const isSlow = times.length > 0 && faults.length === 0;
    return {
      faults: unique([...times, ...faults]),
      isSlow,
      longestTurn: Math.max(...turns),
      waits: report.waits,
      left,
    };
  } catch (error) {
    faults.push(server.ending ?? String(error));
    return { faults: unique(faults), isSlow: false, longestTurn: Number.NaN, waits: [], left: Number.NaN };
  }
}

function longWaits(waits: readonly Waited[], full: boolean): string[] {
  return waits.flatMap(({ method, path, longest, computed }) => {
    const waited = full ? longest : computed;
    if (waited <= (method === 'GET' ? longestHold : longestWrite)) return [];
    return [`meanwhile ${method} ${path} of another client waits for ${Math.round(waited)} ms`];
  });
}

const longTurns = (turns: readonly number[]): string[] => {
  const longest = Math.max(...turns);
  return longest > longestHold ? [`holds the event loop for ${Math.round(longest)} ms`] : [];
};

const unique = (faults: readonly string[]) => [...new Set(faults)];

/** The object of the other client. */
const bystanding = `${configMaps}/bystander`;

/** Warms up what the server loads lazily. */
async function warmUp(client: Client): Promise<void> {
  await client.http1(asAdmin('POST', configMaps, { metadata: { name: 'bystander' }, data: { a: 'b' } }));
  const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: bystander }\ndata: { a: c }\n';
  await client.http1(asAdmin('PATCH', `${bystanding}?fieldManager=m&force=true`, yaml, 'application/apply-patch+yaml'));
  await client.http2(asAdmin('GET', bystanding));
}

/** Violations afterwards: an exit of the server, errors in its log, requests that still count as in flight. */
async function aftermath(server: TestedServer): Promise<string[]> {
  if (server.ending !== undefined) return [server.ending];
  const client = createClient(server);
  try {
    return [...complaintsOf(server), ...(await heldPlaces(client))];
  } finally {
    client.close();
  }
}

/** Memory growth once it no longer shrinks. */
async function memoryLeft(server: TestedServer, before: number, most: number): Promise<number> {
  let left = (await server.memory()) - before;
  for (let i = 0; i < settleTimes && left > most; i++) {
    await sleep(settleMs);
    left = (await server.memory()) - before;
  }
  return left;
}
