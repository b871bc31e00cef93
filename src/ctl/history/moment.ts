/** A moment of the past as a resourceVersion. */
import { versionOf } from '../../client/index.ts';
import { at, isJsonObject, type Json, type JsonObject, parseDuration, StatusError } from '../../meta/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { pathOf, type Resource } from '../cluster/resource.ts';
import { CommandError } from '../errors.ts';
import { readAt } from './former.ts';

/**
 * The resourceVersion of a moment: itself, or the one that was the latest so long ago, to about ten seconds.
 * @throws CommandError when the text is neither, or the server cannot tell
 */
export async function readMoment(cluster: Cluster, moment: string, now: number): Promise<number> {
  if (/^\d{1,15}$/.test(moment)) return Number(moment);
  return versionAt(cluster, now - durationOf(moment));
}

function durationOf(moment: string): number {
  try {
    return Number(parseDuration(moment) / 1_000_000n);
  } catch {
    throw new CommandError(`${JSON.stringify(moment)} is neither a resourceVersion nor a duration such as 5m or 1h30m`);
  }
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/**
 * The servers renew their identity leases every ten seconds, so the history of a lease tells the time of each version:
 * searches it for the latest version at `time` (ms since 1970).
 */
async function versionAt(cluster: Cluster, time: number): Promise<number> {
  const { resource, namespace } = await leasePlace(cluster);
  const list = await cluster.send({ url: pathOf(resource, namespace) });
  const { items } = list;
  const leases = (Array.isArray(items) ? items : []).filter(isJsonObject).filter(isIdentity);
  const lease = leases.toSorted((a, b) => renewedAt(a) - renewedAt(b)).at(-1);
  if (lease === undefined)
    throw new CommandError('the server has no identity lease that tells the time: use a resourceVersion');
  const target = { resource, namespace, name: textOf(at(lease, 'metadata', 'name')) };
  // At `low` the lease is older than `time`, or it cannot be read; at `high` it is younger.
  let [low, high] = [0, versionOf(list) + 1];
  let found: number | undefined;
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2);
    const state = await readAt(cluster, target, middle).catch(ignoreCompacted);
    if (state === undefined || renewedAt(state) <= time) low = middle;
    else high = middle;
    if (state !== undefined && renewedAt(state) <= time) found = middle;
  }
  if (found !== undefined) return found;
  throw new CommandError(`the server has no version of that time: the oldest one it can date is ${high}`);
}

function ignoreCompacted(error: unknown): undefined {
  if (error instanceof StatusError && error.code === 410) return undefined;
  throw error;
}

async function leasePlace(cluster: Cluster): Promise<{ readonly resource: Resource; readonly namespace: string }> {
  const discovery = await cluster.discovery();
  const resource = await discovery.find(`leases.coordination.${discovery.names.domain}`);
  if (resource === undefined)
    throw new CommandError('the server has no leases that tell the time: use a resourceVersion');
  return { resource, namespace: discovery.names.systemNamespace };
}

const isIdentity = (lease: JsonObject): boolean => {
  const labels = at(lease, 'metadata', 'labels');
  return isJsonObject(labels) && Object.keys(labels).some((label) => /^apiserver\..+\/identity$/.test(label));
};

/** When the lease was renewed (ms since 1970). */
const renewedAt = (lease: JsonObject): number => Date.parse(textOf(at(lease, 'spec', 'renewTime')));
