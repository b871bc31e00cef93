/** The API server identity lease. */
import { hostname } from 'node:os';
import type { Client } from '../../client/index.ts';
import {
  type ApiObject,
  at,
  type Clock,
  formatMicroTime,
  isStatus,
  labelValue,
  type Names,
  type Random,
} from '../../meta/index.ts';
import { ensureObject } from './bootstrap-objects.ts';

export interface IdentityLeaseOptions {
  /** The identity of this server. */
  readonly identity: string;
  readonly client: Client;
  readonly names: Names;
  readonly clock: Clock;
  readonly random: Random;
}

const leaseSeconds = 3600;
/** Minimum interval between renewals (ms). */
const minRenewMs = 10_000;
/** Interval of the garbage collection of expired leases (ms). */
const collectMs = 3_600_000;

/**
 * Returns a function that renews the lease of this server, or creates it. Its first call, and then one call per hour, also
 * deletes expired identity leases. @throws StatusError
 */
export function createIdentityLease(options: IdentityLeaseOptions): () => Promise<void> {
  const { identity: name, client, names, clock, random } = options;
  const host = hostname();
  const holderIdentity = `${name}_${random.uuid()}`;
  const identity = `apiserver.${names.labels}/identity`;
  const hostLabel = labelValue(host).length === 0 ? { [`${names.labels}/hostname`]: host } : {};
  const place = {
    apiVersion: `coordination.${names.domain}/v1`,
    resource: 'leases',
    namespace: names.systemNamespace,
  };
  let renewAt = 0;
  let collectAt = 0;

  const collect = async () => {
    const selector = `${identity}=${names.server}`;
    const { items } = await client.list<ApiObject>(place, { labelSelector: selector });
    for (const lease of items.filter((item) => isExpired(item, clock.now()))) {
      const { name: expired = '', uid = '', resourceVersion = '' } = lease.metadata;
      // Skips leases that were renewed or deleted meanwhile.
      await client
        .delete({ ...place, name: expired }, { preconditions: { uid, resourceVersion } })
        .catch((error: unknown) => {
          if (!isStatus(error, 404) && !isStatus(error, 409)) throw error;
        });
    }
  };
  return async () => {
    const now = clock.now();
    if (now < renewAt) return;
    const { apiVersion, resource, namespace } = place;
    const metadata = { name, namespace, labels: { [identity]: names.server, ...hostLabel } };
    const fields = { spec: { renewTime: formatMicroTime(now) } };
    const first = { spec: { holderIdentity, leaseDurationSeconds: leaseSeconds } };
    const lease = await ensureObject(client, { apiVersion, resource, kind: 'Lease', metadata, fields }, first);
    renewAt = now + minRenewMs;
    if (lease === undefined || now < collectAt) return;
    await collect();
    collectAt = now + collectMs;
  };
}

/** A lease without renew time or duration counts as expired. */
function isExpired(lease: ApiObject, now: number): boolean {
  const [renewed, seconds] = [at(lease, 'spec', 'renewTime'), at(lease, 'spec', 'leaseDurationSeconds')];
  if (typeof renewed !== 'string' || typeof seconds !== 'number') return true;
  return Date.parse(renewed) + seconds * 1000 < now;
}
