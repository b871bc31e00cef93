import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/server/clock.ts';
import type { Item, JournalEntry } from '../../src/server/harness/checks/history.ts';
import { createServer, type OrchServer, openMemoryStore, type Store } from '../../src/server/index.ts';
import type { Cluster, Fault, Lane } from './cluster.ts';
import { type DistantStore, distantStore } from './distant-store.ts';
import { Endpoint } from './endpoint.ts';
import { freePorts } from './network.ts';
import type { Plant } from './plants.ts';
import { type Random, randomOf } from './random.ts';
import { keyOf } from './target.ts';

const replicaNames = ['r0', 'r1'];

/** Two replicas in this process over one memory store, which each of them sees from a distance. `plant`: makes it wrong. */
export async function startMemoryCluster(folder: string, seed: number, plant?: Plant): Promise<Cluster> {
  const store = openMemoryStore({ clock: systemClock });
  const journal = new MemoryJournal(store);
  const seen = plant === undefined ? store : plant(store, randomOf(seed, 500));
  const ports = await freePorts(replicaNames.length);
  const replicas = replicaNames.map((name, i) => {
    const own = join(folder, name);
    mkdirSync(own);
    return new LocalReplica(new Endpoint(name, own, ports[i] as number), seen, randomOf(seed, 300 + i));
  });
  await Promise.all(replicas.map((replica) => replica.start()));
  return {
    endpoints: replicas.map(({ endpoint }) => endpoint),
    lanes: [replicaLane(replicas)],
    journal: journal.entries,
    get revision() {
      return journal.revision;
    },
    compact: (revision) => store.compact(revision),
    sync: () => journal.sync(),
    complaints: () => [],
    close: async () => {
      await Promise.all(replicas.map((replica) => replica.stop()));
      await store.close();
    },
  };
}

class LocalReplica {
  readonly endpoint: Endpoint;
  readonly #store: Store;
  readonly #random: Random;
  #distant: DistantStore | undefined;
  #server: OrchServer | undefined;

  constructor(endpoint: Endpoint, store: Store, random: Random) {
    this.endpoint = endpoint;
    this.#store = store;
    this.#random = random;
  }

  /** The server's view of the store. */
  get store(): DistantStore {
    return this.#distant as DistantStore;
  }

  async start(): Promise<void> {
    const { port, folder, tokens } = this.endpoint;
    this.endpoint.begin();
    this.#distant = distantStore(this.#store, this.#random);
    this.#server = await createServer(
      {
        securePort: port,
        dataDir: folder,
        tokenAuthFile: tokens,
        apiDomain: 'k8s.io',
        controllers: '-*',
        featureGates: 'WatchList=true',
        shutdownGracePeriod: '1s',
      },
      { store: this.#distant },
    );
    await this.#server.listen();
  }

  async stop(): Promise<void> {
    this.endpoint.close();
    await this.#server?.close();
  }
}

function replicaLane(replicas: readonly LocalReplica[]): Lane {
  const disturbed =
    (disturb: (store: DistantStore) => void): Fault =>
    (choice) => {
      const { store } = replicas[choice % replicas.length] as LocalReplica;
      disturb(store);
      return () => store.heal();
    };
  return {
    rest: 800,
    length: 1_500,
    faults: {
      'cut off': disturbed((store) => store.cut()),
      'delay watches': disturbed((store) => store.hold()),
      'stop replica': async (choice) => {
        const replica = replicas[choice % replicas.length] as LocalReplica;
        await replica.stop();
        return () => replica.start();
      },
    },
  };
}

/** Follows the store itself. */
class MemoryJournal {
  readonly entries: JournalEntry[] = [];
  readonly #store: Store;
  #revision = 1;

  constructor(store: Store) {
    this.#store = store;
    store.watch('/', 1, {
      batch: (revision, changes) => {
        this.#revision = revision;
        for (const { key: stored, entry } of changes) {
          const key = keyOf(`/registry${stored}`);
          if (key === undefined) continue;
          const object = entry && (JSON.parse(Buffer.from(entry.value).toString()) as Item);
          this.entries.push({ revision, key, object });
        }
      },
      error: (error) => {
        if (error.code !== 'closed') throw error;
      },
    });
  }

  get revision(): number {
    return this.#revision;
  }

  async sync(): Promise<void> {
    const revision = await this.#store.revision();
    while (this.#revision < revision) await new Promise((resolve) => setImmediate(resolve));
  }
}
