import { setTimeout as sleep } from 'node:timers/promises';
import type { Compaction, History } from '../../src/server/harness/checks/history.ts';
import { check, type Violation } from '../../src/server/harness/checks/index.ts';
import { States } from '../../src/server/harness/checks/states.ts';
import { untold } from '../../src/server/harness/checks/watches.ts';
import { Client } from './client.ts';
import type { Cluster } from './cluster.ts';
import type { Endpoint } from './endpoint.ts';
import { Nemesis } from './nemesis.ts';
import { randomOf } from './random.ts';
import { Recorder } from './recorder.ts';
import { collections, listPath, prerequisites } from './target.ts';
import { Watcher } from './watcher.ts';

export interface Trial {
  readonly seed: number;
  readonly history: History;
  readonly violations: readonly Violation[];
  /** The disturbances of the cluster, with their times. */
  readonly deeds: readonly string[];
  /** How long the slowest replica took to be ready when all faults had been cured (ms). */
  readonly recovery: number;
}

const clients = 10;
const watchers = 6;
/** The most time between two requests of a client (ms). */
const pause = 30;
/** How long everything may take to come up, and to be whole again after the last fault (ms). */
const patience = 30_000;
const recoveryPatience = 15_000;

/**
 * Lets clients and watchers work for a time (ms) while the cluster is disturbed, and checks what they have seen. Closes the
 * cluster.
 */
export async function runTrial(cluster: Cluster, seed: number, time: number): Promise<Trial> {
  try {
    return await disturbedWork(cluster, seed, time);
  } finally {
    await cluster.close();
  }
}

async function disturbedWork(cluster: Cluster, seed: number, time: number): Promise<Trial> {
  const { endpoints } = cluster;
  await prepare(endpoints);
  const recorder = new Recorder();
  const users = Array.from({ length: clients }, (_, i) => new Client(seed, i, recorder, endpoints));
  const observers = Array.from({ length: watchers }, (_, i) => {
    const lists = new Client(seed, clients + i, recorder, endpoints);
    return new Watcher(seed, i, recorder, endpoints, lists);
  });
  const nemesis = new Nemesis(seed, cluster.lanes, time);
  const compactor = new Compactor(cluster, seed, recorder);
  const working = Promise.all([...users.map((user) => user.run(pause)), compactor.run()]);
  const watching = Promise.all(observers.map((observer) => observer.run()));
  await Promise.all([nemesis.run(), sleep(time)]);
  const cured = performance.now();
  const whole = await Promise.all(endpoints.map((endpoint) => endpoint.ready(recoveryPatience)));
  const recovery = performance.now() - cured;
  for (const one of [...users, compactor]) one.stop();
  await working;
  for (const observer of observers) observer.stay();
  const auditor = new Client(seed, clients + watchers, recorder, endpoints);
  for (const endpoint of endpoints) {
    auditor.use(endpoint);
    for (const selection of collections) await auditor.list({}, selection);
  }
  await cluster.sync();
  const due = cluster.revision;
  await caughtUp(cluster, observers, due);
  const reached = observers.map((observer) => observer.reached(due));
  for (const observer of observers) observer.leave();
  await watching;
  // Writes whose clients have given up may have taken place after all, and be told.
  await cluster.sync();
  const { operations, watches } = recorder;
  const history = { operations, watches, reached, journal: cluster.journal, compactions: compactor.compactions };
  const ill = endpoints.filter((_, i) => whole[i] !== true).map(({ name }) => `${name} is not ready again`);
  const violations = [
    ...[...ill, ...cluster.complaints()].map((message) => ({ rule: 'not served', message })),
    ...check(history),
  ];
  return { seed, history, violations, deeds: nemesis.deeds, recovery };
}

/** Waits for all replicas, and creates what the clients need. */
async function prepare(endpoints: readonly Endpoint[]): Promise<void> {
  const [first] = endpoints as [Endpoint];
  const begin = performance.now();
  const inTime = async (what: string, isDone: () => Promise<boolean>) => {
    while (!(await isDone())) {
      if (performance.now() - begin > patience) throw new Error(`${what}: not in ${patience} ms`);
      await sleep(20);
    }
  };
  const statusOf = async (endpoint: Endpoint, method: string, path: string, body?: object) => {
    const answer = await endpoint
      .ask({ method, path, ...(body === undefined ? {} : { body }) }, 5_000)
      .catch(() => undefined);
    return answer?.status;
  };
  for (const endpoint of endpoints) await inTime(`${endpoint.name} is ready`, () => endpoint.isReady());
  for (const [path, object] of prerequisites) {
    await inTime(`POST ${path}`, async () => [201, 409].includes((await statusOf(first, 'POST', path, object)) ?? 0));
  }
  for (const endpoint of endpoints) {
    for (const path of collections.map((collection) => listPath(collection, {}))) {
      await inTime(`${endpoint.name} serves ${path}`, async () => (await statusOf(endpoint, 'GET', path)) === 200);
    }
  }
}

/** Waits until each watcher has been told everything up to a revision, or until it has had time enough. */
async function caughtUp({ journal }: Cluster, observers: readonly Watcher[], due: number): Promise<void> {
  const states = new States({ journal });
  const begin = performance.now();
  while (observers.some((observer) => untold(observer.reached(due), states) !== undefined)) {
    if (performance.now() - begin > recoveryPatience) return;
    await sleep(20);
  }
}

/** Discards history now and then. */
class Compactor {
  readonly compactions: Compaction[] = [];
  readonly #cluster: Cluster;
  readonly #seed: number;
  readonly #recorder: Recorder;
  readonly #stop = new AbortController();

  constructor(cluster: Cluster, seed: number, recorder: Recorder) {
    this.#cluster = cluster;
    this.#seed = seed;
    this.#recorder = recorder;
  }

  async run(): Promise<void> {
    const random = randomOf(this.#seed, 400);
    let done = 0;
    const tell = () => this.compactions.push({ start: this.#recorder.now(), revision: done });
    for (;;) {
      await sleep(500 + random.integer(4_000), undefined, { signal: this.#stop.signal }).catch(() => {});
      tell();
      if (this.#stop.signal.aborted) return;
      const revision = this.#cluster.revision - random.integer(random.pick([1, 50, 500]));
      if (revision <= done) continue;
      await this.#cluster.compact(revision);
      done = revision;
      tell();
    }
  }

  stop(): void {
    this.#stop.abort();
  }
}
