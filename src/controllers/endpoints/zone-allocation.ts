import { isEndpointReady } from './hints.ts';
import type { Endpoint, Slice } from './slices.ts';

/** The share of each zone; the sum is 1. */
export type ZoneShares = ReadonlyMap<string, number>;
/** Endpoints by zone. */
export type ZoneCounts = ReadonlyMap<string, number>;

/** How much more than its share an endpoint may have to serve. */
const overload = 0.2;

/** The minimum number of endpoints for a zone with this share. */
export const zoneMinimum = (share: number): number => Math.ceil(share / (1 + overload));

interface ZoneAllocation {
  readonly minimum: number;
  readonly maximum: number;
  readonly desired: number;
}

interface Allocated {
  /** The zones of the endpoints of changed slices, and of those that must change. */
  readonly zones: ReadonlyMap<Endpoint, string>;
  /** The endpoints of all slices by zone. */
  readonly counts: ZoneCounts;
}

const readyOf = (slices: readonly Slice[]): Endpoint[] =>
  slices.flatMap(({ endpoints }) => (endpoints ?? []).filter(isEndpointReady));

const increment = (counts: Map<string, number>, zone: string, by = 1): void => {
  counts.set(zone, (counts.get(zone) ?? 0) + by);
};

/** Allocates the ready endpoints to zones, so that each zone has about its share of them; or says why it cannot. */
export function allocateZones(
  shares: ZoneShares | undefined,
  changed: readonly Slice[],
  unchanged: readonly Slice[],
): Allocated | { readonly failure: string } {
  const total = readyOf(changed).length + readyOf(unchanged).length;
  const allocations = allocationsOf(shares, total);
  if (typeof allocations === 'string') return { failure: allocations };
  const counts = new Map<string, number>();
  const open = [...changed];
  for (const slice of unchanged) {
    const hinted = hintedZones(slice, counts, allocations);
    if (hinted === undefined) open.push(slice);
    else for (const [zone, count] of hinted) increment(counts, zone, count);
  }
  const endpoints = readyOf(open);
  const zones = new Map<Endpoint, string>();
  for (const endpoint of endpoints) {
    const { zone } = endpoint;
    if (zone == null || zone === '') return { failure: 'One or more endpoints do not have a zone specified' };
    zones.set(endpoint, zone);
    increment(counts, zone);
  }
  redistribute(endpoints, zones, counts, allocations);
  return counts.size === 0 ? { failure: 'No hints allocated for zones' } : { zones, counts };
}

/** The number of endpoints for each zone, or a text that says why they cannot be distributed. */
function allocationsOf(shares: ZoneShares | undefined, total: number): Map<string, ZoneAllocation> | string {
  if (shares === undefined) {
    return 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes';
  }
  const counted = `(${total} endpoints, ${shares.size} zones)`;
  if (shares.size > total) return `Insufficient number of endpoints ${counted}`;
  const minima = [...shares].map(([zone, share]) => ({
    zone,
    share: share * total,
    minimum: zoneMinimum(share * total),
  }));
  const spare = minima.reduce((rest, { minimum }) => rest - minimum, total);
  if (spare < 0) {
    return `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${counted}`;
  }
  return new Map(
    minima.map(({ zone, share, minimum }) => [
      zone,
      { minimum, maximum: minimum + spare, desired: Math.max(share, minimum) },
    ]),
  );
}

/** The endpoints by the zones of their hints; undefined when the hints of the slice cannot stay. */
function hintedZones(
  { endpoints }: Slice,
  counts: ZoneCounts,
  allocations: ReadonlyMap<string, ZoneAllocation>,
): ZoneCounts | undefined {
  const zones = new Map<string, number>();
  for (const { hints } of (endpoints ?? []).filter(isEndpointReady)) {
    const forZones = hints?.forZones ?? [];
    if (forZones.length === 0) return undefined;
    for (const { name = '' } of forZones) increment(zones, name);
  }
  for (const [zone, count] of zones) {
    const allocation = allocations.get(zone);
    if (allocation === undefined || count + (counts.get(zone) ?? 0) > allocation.maximum) return undefined;
  }
  return zones;
}

/** Moves endpoints from zones with too many to those with too few. */
function redistribute(
  endpoints: readonly Endpoint[],
  zones: Map<Endpoint, string>,
  counts: Map<string, number>,
  allocations: ReadonlyMap<string, ZoneAllocation>,
): void {
  const { giving, receiving } = transfersOf(counts, allocations);
  for (const endpoint of endpoints) {
    const from = zones.get(endpoint) ?? '';
    const [to] = receiving.keys();
    if (to === undefined || giving.size === 0) return;
    if (!giving.has(from)) continue;
    zones.set(endpoint, to);
    for (const [moves, zone, change] of [[giving, from, -1] as const, [receiving, to, 1] as const]) {
      const remaining = (moves.get(zone) ?? 0) - 1;
      if (remaining === 0) moves.delete(zone);
      else moves.set(zone, remaining);
      increment(counts, zone, change);
    }
  }
}

/** How many endpoints zones give and receive: whole ones, as long as both sides are off by about one. */
function transfersOf(counts: ZoneCounts, allocations: ReadonlyMap<string, ZoneAllocation>) {
  const excess = new Map<string, number>();
  const lack = new Map<string, number>();
  for (const [zone, { desired }] of allocations) {
    const difference = (counts.get(zone) ?? 0) - desired;
    if (difference > 0) excess.set(zone, difference);
    if (difference < 0) lack.set(zone, -difference);
  }
  const giving = new Map<string, number>();
  const receiving = new Map<string, number>();
  for (;;) {
    const [from, tooMany] = largest(excess);
    const [to, tooFew] = largest(lack);
    if (tooMany < 0.5 || tooFew < 0.5 || (tooMany < 1 && tooFew < 1)) return { giving, receiving };
    increment(giving, from);
    increment(excess, from, -1);
    increment(receiving, to);
    increment(lack, to, -1);
  }
}

function largest(counts: ZoneCounts): [string, number] {
  let best: [string, number] = ['', 0];
  for (const entry of counts) if (entry[1] > best[1]) best = entry;
  return best;
}
