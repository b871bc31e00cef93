import { type Names, parseQuantity } from '../../meta/index.ts';
import { withHints } from './hints.ts';
import { endpointKeys } from './labels.ts';
import type { Node } from './slice-plan.ts';
import type { Endpoint, Slice, SliceChanges } from './slices.ts';
import { allocateZones, type ZoneCounts, type ZoneShares, zoneMinimum } from './zone-allocation.ts';

/** An event to record on a service. */
export interface HintEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

const eventOf = (enabled: boolean, text: string, family: string): HintEvent => ({
  type: enabled ? 'Normal' : 'Warning',
  reason: enabled ? 'TopologyAwareHintsEnabled' : 'TopologyAwareHintsDisabled',
  message: `${text}, addressType: ${family}`,
});

/** Whether the service asks for hints by the share of its zones. */
export function asksForTopology(annotations: { readonly [key: string]: string } | undefined, names: Names): boolean {
  const { topologyHints, topologyMode } = endpointKeys(names);
  const value = annotations?.[topologyHints] ?? annotations?.[topologyMode];
  return value === 'Auto' || value === 'auto';
}

/** The share that each zone has of the CPUs of the cluster; undefined when it is not known or there is one zone only. */
export function zoneShares(nodes: readonly Node[], names: Names): ZoneShares | undefined {
  const { zone: zoneLabel } = endpointKeys(names);
  const cpus = new Map<string, number>();
  let total = 0;
  for (const node of nodes) {
    const { metadata, status } = node;
    const labels = metadata.labels ?? {};
    if (['control-plane', 'master'].some((role) => labels[`node-role.${names.labels}/${role}`] !== undefined)) continue;
    if (!isNodeReady(node)) continue;
    const zone = labels[zoneLabel] ?? '';
    const cpu = Number(parseQuantity(status?.allocatable?.['cpu'] ?? '0').nano);
    if (zone === '' || cpu === 0) return undefined;
    cpus.set(zone, (cpus.get(zone) ?? 0) + cpu);
    total += cpu;
  }
  return cpus.size < 2 ? undefined : new Map([...cpus].map(([zone, cpu]) => [zone, cpu / total]));
}

export const isNodeReady = ({ status }: Node): boolean =>
  (status?.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True');

/** The zones to which the endpoints of services are allocated, so that each zone has its share. */
export class Topology {
  #shares: ZoneShares | undefined;
  /** The endpoints by zone, of services by address family. */
  readonly #allocated = new Map<string, Map<string, ZoneCounts>>();
  readonly #hinted = new Set<string>();

  /** Sets the shares of the zones; the result are the services that no longer have enough endpoints for a zone. */
  setShares(shares: ZoneShares | undefined): string[] {
    this.#shares = shares;
    const lacking = [...this.#allocated].filter(([, families]) =>
      [...families.values()].some((counts) => isLacking(counts, shares)),
    );
    return lacking.map(([service]) => service);
  }

  /** The changes with hints for zones, or without any when they cannot be allocated. */
  allocate(
    service: string,
    family: string,
    changes: SliceChanges,
    unchanged: readonly Slice[],
  ): { readonly changes: SliceChanges; readonly event?: HintEvent } {
    const allocation = allocateZones(this.#shares, [...changes.create, ...changes.update], unchanged);
    if ('failure' in allocation) {
      this.forget(service, family);
      return {
        changes: withHints(changes, unchanged, () => undefined),
        event: eventOf(false, allocation.failure, family),
      };
    }
    const { zones, counts } = allocation;
    const hintsOf = (endpoint: Endpoint) => {
      const zone = zones.get(endpoint);
      return zone === undefined ? endpoint.hints : { forZones: [{ name: zone }] };
    };
    const isNew = !this.#hinted.has(service);
    this.#hinted.add(service);
    const families = this.#allocated.get(service) ?? new Map<string, ZoneCounts>();
    this.#allocated.set(service, families.set(family, counts));
    return {
      changes: withHints(changes, unchanged, hintsOf),
      ...(isNew ? { event: eventOf(true, 'Topology Aware Hints has been enabled', family) } : {}),
    };
  }

  /** The service no longer has hints for zones; the result says so, if it had. */
  disable(service: string, family: string): HintEvent | undefined {
    const had = this.#hinted.has(service);
    this.forget(service, family);
    return had ? eventOf(false, 'Topology Aware Hints has been disabled', family) : undefined;
  }

  /** Forgets a family of a service, or all. */
  forget(service: string, family?: string): void {
    const families = this.#allocated.get(service);
    if (family !== undefined) families?.delete(family);
    if (family === undefined || families?.size === 0) this.#allocated.delete(service);
    this.#hinted.delete(service);
  }
}

/** Whether a zone has fewer endpoints than its share, with tolerance. */
function isLacking(counts: ZoneCounts, shares: ZoneShares | undefined): boolean {
  if (counts.size === 0) return false;
  if (shares === undefined) return true;
  let total = 0;
  for (const count of counts.values()) total += count;
  return [...shares].some(([zone, share]) => (counts.get(zone) ?? -1) < zoneMinimum(total * share));
}
