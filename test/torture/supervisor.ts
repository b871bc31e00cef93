import type { Cure } from './cluster.ts';
import type { Replica } from './replica.ts';

/** How often replicas that have ended are started again (ms). */
const supervision = 250;

/** Starts replicas, and starts those again that end by themselves. */
export class Supervisor {
  readonly complaints: string[] = [];
  readonly #replicas: readonly Replica[];
  /** Those that may end. */
  readonly #spared = new Set<Replica>();
  readonly #timer: NodeJS.Timeout;

  constructor(replicas: readonly Replica[]) {
    this.#replicas = replicas;
    for (const replica of replicas) replica.start();
    this.#timer = setInterval(() => this.#check(), supervision);
  }

  /** Ends a replica, and leaves it alone until it is started again. */
  async end(replica: Replica, signal: NodeJS.Signals): Promise<Cure> {
    this.#spared.add(replica);
    await replica.stop(signal);
    return () => {
      replica.start();
      this.#spared.delete(replica);
    };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    for (const replica of this.#replicas) {
      if (replica.isRunning || this.#spared.has(replica)) continue;
      const { name } = replica.endpoint;
      // Without the store a server cannot start; it says so and ends.
      if (replica.endpoint.hasAnswered) this.complaints.push(`${name} has ended by itself, see ${name}.log`);
      replica.start();
    }
  }
}
