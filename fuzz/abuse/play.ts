import { setTimeout as sleep } from 'node:timers/promises';
import { type Bystander, startBystander, type Waited } from '../bystander.ts';
import { type Client, createClient } from '../client.ts';
import { complaintsOf } from '../complaints.ts';
import { longestHold, longestWrite } from '../limits.ts';
import { startServer, type TestedServer, tokenOf } from '../server.ts';
import { asAdmin, configMaps, heldPlaces, type Scenario } from './scenario.ts';

/** The result of a scenario. */
export interface Outcome {
  /** Violations; empty when the scenario passed. */
  readonly faults: readonly string[];
  /** The longest blocking of the event loop (ms). */
  readonly longestTurn: number;
  /** How long another client waited. */
  readonly waits: readonly Waited[];
  /** Memory growth (bytes). */
  readonly left: number;
}

/** Memory growth that is allowed after an attack (bytes), for bounded caches and compiled code. */
const mostLeft = 64 * 1024 * 1024;
const settleMs = 500;
const settleTimes = 20;

/**
 * Plays a scenario against its own server, while another client makes ordinary requests. The full intensity is judged by
 * what the other client waits; the short version, which shares its machine, by what the server computed meanwhile.
 */
export async function play(scenario: Scenario, full: boolean): Promise<Outcome> {
  const server = await startServer(scenario.options);
  const client = createClient(server);
  const faults: string[] = [];
  let bystander: Bystander | undefined;
  try {
    await warmUp(client);
    const before = await server.memory();
    await server.longestTurn();
    bystander = await startBystander(server, bystanding, tokenOf('carol'));
    const turns: number[] = [];
    const longestTurn = async () => {
      turns.push(await server.longestTurn());
      return turns.at(-1) as number;
    };
    await scenario.attack({ server, client, full, longestTurn }).catch((error: Error) => faults.push(error.message));
    const report = await bystander.stop();
    faults.push(...report.faults, ...longWaits(report.waits, full));
    if (server.ending === undefined) await longestTurn();
    faults.push(...longTurns(turns), ...(await aftermath(server)));
    const most = scenario.mostLeft?.[full ? 'full' : 'short'] ?? mostLeft;
    const left = await memoryLeft(server, before, most);
    if (left > most) faults.push(`${Math.round(left / 1024 / 1024)} MB are left in memory`);
    return { faults: unique(faults), longestTurn: Math.max(...turns), waits: report.waits, left };
  } catch (error) {
    faults.push(server.ending ?? String(error));
    return { faults: unique(faults), longestTurn: Number.NaN, waits: [], left: Number.NaN };
  } finally {
    bystander?.kill();
    client.close();
    await server.stop();
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
