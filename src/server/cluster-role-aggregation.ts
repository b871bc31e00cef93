import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Client } from '../client/index.ts';
import {
  type ApiObject,
  type Clock,
  isStatus,
  type JsonObject,
  type Names,
  selectorFromObject,
} from '../meta/index.ts';
import type { PolicyRule } from '../types/rbac-v1.ts';
import type { Log } from './dependencies.ts';

type ClusterRole = ApiObject & {
  rules?: PolicyRule[] | null;
  aggregationRule?: { clusterRoleSelectors?: JsonObject[] } | null;
};

/** How often rules pass on from role to role before the next run goes on. */
const maxPasses = 8;

/**
 * The rules of the cluster roles whose rules are not those of the roles that they select: in the order of the selectors
 * and of the names, each rule once. Roles that select aggregated roles get the rules that those will have.
 */
export function staleAggregations(roles: Iterable<ClusterRole>): Map<string, PolicyRule[]> {
  const sorted = [...roles].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const rules = new Map(sorted.map((role) => [nameOf(role), role.rules ?? []]));
  const selections = sorted
    .filter(({ aggregationRule }) => aggregationRule)
    .map((role) => ({ name: nameOf(role), selected: selectedBy(role, sorted) }));
  const stale = new Map<string, PolicyRule[]>();
  for (let pass = 0; pass < maxPasses; pass++) {
    let changes = 0;
    for (const { name, selected } of selections) {
      const union = unionOf(selected.map((source) => rules.get(source) ?? []));
      if (sameRules(union, rules.get(name) ?? [])) continue;
      rules.set(name, union);
      stale.set(name, union);
      changes++;
    }
    if (changes === 0) break;
  }
  return stale;
}

const nameOf = ({ metadata: { name = '' } }: ApiObject) => name;

/** The names of the other roles that match each of the selectors, selector by selector. */
const selectedBy = (role: ClusterRole, sorted: readonly ClusterRole[]): string[] =>
  (role.aggregationRule?.clusterRoleSelectors ?? []).flatMap((object) => {
    const selector = selectorFromObject(object);
    return sorted.filter((other) => other !== role && selector.matches(other.metadata.labels)).map(nameOf);
  });

function unionOf(lists: readonly (readonly PolicyRule[])[]): PolicyRule[] {
  const byKey = new Map<string, PolicyRule>();
  for (const rule of lists.flat()) {
    const key = keyOf(rule);
    if (!byKey.has(key)) byKey.set(key, rule);
  }
  return [...byKey.values()];
}

const sameRules = (a: readonly PolicyRule[], b: readonly PolicyRule[]) =>
  a.length === b.length && a.every((rule, i) => keyOf(rule) === keyOf(b[i] ?? {}));

/** The keys of rules, which every pass and every run asks for again. */
const keys = new WeakMap<PolicyRule, string>();

/** Equal for equal rules; an empty list is equal to an absent one. */
function keyOf(rule: PolicyRule): string {
  let key = keys.get(rule);
  if (key === undefined) {
    const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
    key = JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs].map((list) => list ?? []));
    keys.set(rule, key);
  }
  return key;
}

export interface ClusterRoleAggregationOptions {
  /** May list, watch and patch cluster roles, and `escalate` them. */
  readonly client: Client;
  readonly names: Names;
  readonly clock: Clock;
  readonly log: Log;
}

/** The name of the controller, of its service account, and of its field manager. */
export const aggregationController = 'clusterrole-aggregation-controller';

/** When the watch goes on that has reached its timeout (ms). */
const resumeMs = 1_000;
/** When a list, watch or write is attempted again that failed (ms). */
const retryMs = 10_000;

/**
 * The controller of aggregated cluster roles. All changes that have arrived by the time of a run are handled by it, and
 * there is one run at a time.
 */
export class ClusterRoleAggregation {
  readonly #options: ClusterRoleAggregationOptions;
  readonly #place: { readonly apiVersion: string; readonly resource: string };
  readonly #stopping = new AbortController();
  readonly #roles = new Map<string, ClusterRole>();
  /** Roles that could not be written: they are left alone until the retry. */
  readonly #failed = new Set<string>();
  #changed = false;
  #run: Promise<void> | undefined;
  #following: Promise<void> = Promise.resolve();
  #wake = () => {};
  #cancelRetry = () => {};

  constructor(options: ClusterRoleAggregationOptions) {
    this.#options = options;
    this.#place = { apiVersion: `rbac.authorization.${options.names.domain}/v1`, resource: 'clusterroles' };
  }

  /** Resolves when the roles that are there now have their rules. Never rejects: errors are logged. */
  async start(): Promise<void> {
    const version = await this.#load();
    await this.#run;
    this.#following = this.#follow(version);
  }

  /** Resolves when nothing more is written. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    this.#cancelRetry();
    await Promise.all([this.#run, this.#following]);
  }

  /** Lists the roles; their resourceVersion, undefined after a failure. */
  async #load(): Promise<string | undefined> {
    try {
      const { items, metadata } = await this.#options.client.list<ClusterRole>(this.#place);
      this.#roles.clear();
      for (const role of items) this.#keep(role);
      this.#schedule();
      return metadata.resourceVersion;
    } catch (error) {
      this.#report('cluster roles cannot be listed', { error });
      return undefined;
    }
  }

  async #follow(start: string | undefined): Promise<void> {
    const { client } = this.#options;
    const { signal } = this.#stopping;
    let version = start;
    while (!signal.aborted) {
      version ??= await this.#load();
      try {
        if (version !== undefined) {
          const options = { resourceVersion: version, allowWatchBookmarks: true, signal };
          for await (const { type, object } of await client.watch<ClusterRole>(this.#place, options)) {
            version = object.metadata.resourceVersion;
            if (type === 'BOOKMARK') continue;
            if (type === 'DELETED') this.#roles.delete(nameOf(object));
            else this.#keep(object);
            this.#schedule();
          }
        }
      } catch (error) {
        version = undefined;
        if (!isStatus(error, 410)) this.#report('cluster roles cannot be watched', { error });
      }
      await this.#pause(version === undefined ? retryMs : resumeMs);
    }
  }

  /** Keeps what aggregation needs of the role, unless a later version of it is known. */
  #keep({ apiVersion, kind, metadata, rules, aggregationRule }: ClusterRole): void {
    const { name = '', uid, labels, resourceVersion } = metadata;
    const held = this.#roles.get(name)?.metadata;
    if (held?.uid === uid && Number(held?.resourceVersion) > Number(resourceVersion)) return;
    this.#roles.set(name, {
      apiVersion,
      kind,
      metadata: { name, ...(uid && { uid }), ...(labels && { labels }), ...(resourceVersion && { resourceVersion }) },
      ...(rules && { rules }),
      ...(aggregationRule && { aggregationRule }),
    });
  }

  /** A run begins, or another one follows the one that is under way. */
  #schedule(): void {
    this.#changed = true;
    this.#run ??= this.#runUntilSettled();
  }

  async #runUntilSettled(): Promise<void> {
    while (this.#changed && !this.#stopping.signal.aborted) {
      // Changes that arrive together are handled together.
      await nextTurn();
      this.#changed = false;
      const stale = [...staleAggregations(this.#roles.values())].filter(([name]) => !this.#failed.has(name));
      await Promise.all(stale.map(([name, rules]) => this.#write(name, rules)));
    }
    this.#run = undefined;
  }

  async #write(name: string, rules: PolicyRule[]): Promise<void> {
    const { client, clock } = this.#options;
    const { uid } = this.#roles.get(name)?.metadata ?? {};
    // Without the uid a role that has been deleted by now would be created.
    const metadata = { name, ...(uid === undefined ? {} : { uid }) };
    const object = { apiVersion: this.#place.apiVersion, kind: 'ClusterRole', metadata, rules };
    try {
      const options = { fieldManager: aggregationController, force: true };
      const written = await client.apply<ClusterRole>({ ...this.#place, name }, object, options);
      if (this.#roles.get(name)?.metadata.uid === uid) this.#keep(written);
    } catch (error) {
      // Changed or deleted: the watch tells.
      if (isStatus(error, 404) || isStatus(error, 409)) return;
      this.#report('the rules of an aggregated cluster role cannot be written', { name, error });
      if (this.#failed.size === 0) this.#cancelRetry = clock.after(retryMs, () => this.#retry());
      this.#failed.add(name);
    }
  }

  #retry(): void {
    this.#failed.clear();
    this.#schedule();
  }

  /** Resolves after the time, or when the controller is stopped. */
  #pause(ms: number): Promise<void> {
    if (this.#stopping.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }

  #report(text: string, fields: { readonly [name: string]: unknown }): void {
    if (!this.#stopping.signal.aborted) this.#options.log.error(text, fields);
  }
}
