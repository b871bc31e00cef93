import type { Index, Informer } from '../../client/index.ts';
import { isStatus } from '../../meta/index.ts';
import type { Lease } from '../../types/coordination-v1.ts';
import type { Named } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import type { NodeObject } from '../shared/node-selection.ts';
import type { Pod } from '../shared/pods.ts';
import type { ControllerContext } from '../types.ts';
import type { Evictor } from './evictor.ts';
import { type Health, observeHealth, silentConditions } from './health.ts';
import { nodeCondition, subjectOf, zoneOf } from './node.ts';
import { markNotReady } from './pod-readiness.ts';

/** Nodes at a time. */
const parallel = 8;
/** How often the status of a node is written after conflicts. */
const attempts = 5;

interface MonitorOptions extends Pick<ControllerContext, 'client' | 'clock' | 'events' | 'log' | 'names'> {
  readonly nodes: Informer<NodeObject>;
  readonly leases: Informer<Lease & Named>;
  readonly podsOf: Index<Pod>;
  readonly evictor: Evictor;
}

/** Watches over the health of nodes: one that has been silent for too long is not ready, and neither are its pods. */
export class NodeMonitor {
  readonly #options: MonitorOptions;
  readonly #health = new Map<string, Health>();
  /** The uids of the nodes that have been registered, by name. */
  readonly #names = new Map<string, string>();
  /** Nodes whose pods could not be marked as not ready. */
  readonly #unmarked = new Set<string>();

  constructor(options: MonitorOptions) {
    this.#options = options;
  }

  forget(name: string): void {
    this.#health.delete(name);
    this.#unmarked.delete(name);
  }

  /** Looks at all nodes once. */
  async run(): Promise<void> {
    const { nodes, evictor, clock } = this.#options;
    const all = nodes.list();
    const readiness = new Map<string, boolean[]>();
    await this.#register(all);
    for (let i = 0; i < all.length; i += parallel) {
      await Promise.all(all.slice(i, i + parallel).map((node) => this.#try(node, () => this.#check(node, readiness))));
    }
    const change = evictor.limit(readiness);
    if (change === 'halted') for (const node of nodes.list()) await this.#try(node, () => evictor.clear(node));
    // Their silence may have been that of the server.
    if (change === 'resumed') {
      for (const [name, health] of this.#health) this.#health.set(name, { ...health, seen: clock.now() });
    }
  }

  /** Records which nodes have come and gone. The taints of a new one are those of its readiness. */
  async #register(all: readonly NodeObject[]): Promise<void> {
    const { events, evictor } = this.#options;
    const present = new Set(all.map(({ metadata }) => metadata.name ?? ''));
    for (const node of all) {
      const { name = '', uid = '' } = node.metadata;
      if (this.#names.has(name)) continue;
      this.#names.set(name, uid);
      const message = `Node ${name} event: Registered Node ${name} in Controller`;
      events.record(subjectOf(name, uid), 'Normal', 'RegisteredNode', message);
      await this.#try(node, () => evictor.clear(node));
    }
    for (const [name, uid] of this.#names) {
      if (present.has(name)) continue;
      this.#names.delete(name);
      const message = `Node ${name} event: Removing Node ${name} from Controller`;
      events.record(subjectOf(name, uid), 'Normal', 'RemovingNode', message);
    }
  }

  /** An error with one node does not stop the others; the next round retries it. */
  async #try(node: NodeObject, task: () => Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      if (isStatus(error, 404) || isStatus(error, 409)) return;
      this.#options.log.error('a node could not be looked after', { node: node.metadata.name, error });
    }
  }

  async #check(observed: NodeObject, readiness: Map<string, boolean[]>): Promise<void> {
    const { client, clock, events, evictor, names, nodes, podsOf } = this.#options;
    const { name = '', uid = '', labels = {} } = observed.metadata;
    const wasReady = nodeCondition(observed, 'Ready')?.status === 'True';
    const node = await this.#updateHealth(observed);
    const ready = nodeCondition(node, 'Ready');
    const isReady = ready?.status === 'True';
    if (!Object.hasOwn(labels, `node.${names.labels}/exclude-disruption`)) {
      const zone = zoneOf(node, names);
      readiness.set(zone, [...(readiness.get(zone) ?? []), isReady]);
    }
    if (ready !== undefined) {
      await this.#try(node, () => evictor.follow(nodes.get('', name) ?? node));
      const isLost = wasReady && !isReady;
      const message = `Node ${name} status is now: NodeNotReady`;
      if (isLost) events.record(subjectOf(name, uid), 'Normal', 'NodeNotReady', message);
      if (isLost || (this.#unmarked.has(name) && !wasReady)) {
        this.#unmarked.add(name);
        await markNotReady({ client, clock, events }, podsOf.get(name));
      }
    }
    this.#unmarked.delete(name);
  }

  /** The node, with conditions that say so when it has been silent for too long. */
  async #updateHealth(observed: NodeObject): Promise<NodeObject> {
    const { client, clock, leases, names } = this.#options;
    const { name = '' } = observed.metadata;
    for (let node = observed, tries = 1; ; tries++) {
      const now = clock.now();
      const health = observeHealth(this.#health.get(name), node, leases.get(names.nodeLeaseNamespace, name), now);
      this.#health.set(name, health);
      const conditions = silentConditions(node, health, now);
      if (conditions === undefined) return node;
      try {
        return await client
          .kind(kinds.nodes)
          .subresource('status')
          .update({ ...node, status: { ...node.status, conditions } });
      } catch (error) {
        if (tries === attempts || !isStatus(error, 409)) throw error;
        node = await client.kind(kinds.nodes).get({ name });
      }
    }
  }
}
