import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient } from '../client.ts';
import { complaintsOf } from '../complaints.ts';
import { startServer, type TestedServer } from '../server.ts';
import { asAdmin, configMaps, heldPlaces, type Scenario } from './scenario.ts';

/** The result of a scenario. */
export interface Outcome {
  /** Violations; empty when the scenario passed. */
  readonly faults: readonly string[];
  /** The longest blocking of the event loop (ms). */
  readonly longestTurn: number;
  /** The longest response time of another client (ms). */
  readonly longestWait: number;
  /** Memory growth (bytes). */
  readonly left: number;
}

/** Memory growth that is allowed after an attack (bytes), for bounded caches and compiled code. */
const mostLeft = 64 * 1024 * 1024;
const settleMs = 500;
const settleTimes = 20;

/** Plays a scenario against its own server, while another client makes ordinary requests. */
export async function play(scenario: Scenario, full: boolean): Promise<Outcome> {
  const server = await startServer(scenario.options);
  const client = createClient(server);
  const faults: string[] = [];
  try {
    await warmUp(client);
    const before = await server.memory();
    await server.longestTurn();
    const other = new OtherClient(server);
    const turns: number[] = [];
    const longestTurn = async () => {
      turns.push(await server.longestTurn());
      return turns.at(-1) as number;
    };
    await scenario.attack({ server, client, full, longestTurn }).catch((error: Error) => faults.push(error.message));
    faults.push(...(await other.stop()));
    if (server.ending === undefined) await longestTurn();
    faults.push(...(await aftermath(server)));
    const left = await memoryLeft(server, before);
    if (left > mostLeft) faults.push(`${Math.round(left / 1024 / 1024)} MB are left in memory`);
    return { faults: unique(faults), longestTurn: Math.max(...turns), longestWait: other.longest, left };
  } catch (error) {
    faults.push(server.ending ?? String(error));
    return { faults: unique(faults), longestTurn: Number.NaN, longestWait: Number.NaN, left: Number.NaN };
  } finally {
    client.close();
    await server.stop();
  }
}

const unique = (faults: readonly string[]) => [...new Set(faults)];

/** Warms up what the server loads lazily. */
async function warmUp(client: Client): Promise<void> {
  await client.http1(asAdmin('POST', configMaps, { metadata: { name: 'bystander' }, data: { a: 'b' } }));
  const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: bystander }\ndata: { a: c }\n';
  await client.http1(
    asAdmin('PATCH', `${configMaps}/bystander?fieldManager=m&force=true`, yaml, 'application/apply-patch+yaml'),
  );
  await client.http2(asAdmin('GET', `${configMaps}/bystander`));
}

/** The other client: reads and writes its own object in a loop. */
class OtherClient {
  longest = 0;
  readonly #faults: string[] = [];
  readonly #client: Client;
  readonly #going: Promise<void>;
  #over = false;

  constructor(server: TestedServer) {
    this.#client = createClient(server);
    this.#going = this.#go();
  }

  async #go(): Promise<void> {
    const path = `${configMaps}/bystander`;
    for (let i = 0; !this.#over && this.#faults.length < 3; i++) {
      const began = Date.now();
      const asks = [
        asAdmin('GET', path),
        asAdmin('PATCH', path, { data: { i: String(i) } }, 'application/merge-patch+json'),
        { user: 'nobody', method: 'GET', path: '/livez' } as const,
      ];
      for (const ask of asks) {
        const { status } = await this.#client.http1(ask).catch((error: Error) => ({ status: error.message }));
        if (status !== 200) this.#faults.push(`meanwhile ${ask.method} ${ask.path} of another client gives ${status}`);
      }
      this.longest = Math.max(this.longest, Date.now() - began);
      await sleep(50);
    }
  }

  async stop(): Promise<string[]> {
    this.#over = true;
    await this.#going;
    this.#client.close();
    return this.#faults;
  }
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
async function memoryLeft(server: TestedServer, before: number): Promise<number> {
  let left = (await server.memory()) - before;
  for (let i = 0; i < settleTimes && left > mostLeft; i++) {
    await sleep(settleMs);
    left = (await server.memory()) - before;
  }
  return left;
}
