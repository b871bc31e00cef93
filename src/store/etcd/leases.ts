import type { Clock, Random } from '../../meta/index.ts';
import { isLeaseGranted } from './failure.ts';
import type { Members } from './members.ts';
import type { Rpc } from './rpc.ts';

/**
 * A lease of etcd for the keys that are committed with the same time to live within a band of time. It expires when the
 * band and the time to live have passed.
 */
export interface Lease {
  readonly ttl: number;
  readonly id: number;
  /** The end of the band (ms of the monotonic clock). */
  readonly until: number;
  readonly granted: Promise<void>;
  /** The number of commits with this lease, and of those in flight. */
  commitCount: number;
  pending: number;
  /** Whether a key may have the lease. */
  used: boolean;
}

/** Maximum number of commits with a lease: their keys are deleted in one commit. */
const maxCommits = 500;
/** Maximum time to live that etcd accepts (s). */
const maxTtl = 9_000_000_000;
/** Maximum time before the end of the band in which no commit starts, since it might take place after the band (ms). */
const longestMarginMs = 500;
const deadlineMs = 1_000;

/** The length of the bands of a time to live (s). */
const bandOf = (ttl: number): number => Math.max(1, Math.floor(ttl / 20));

/** The leases of a store. */
export class Leases {
  readonly #members: Members;
  readonly #rpc: Rpc;
  readonly #clock: Clock;
  readonly #random: Random;
  /** The current lease of each time to live. */
  readonly #current = new Map<number, Lease>();
  readonly #timers = new Map<Lease, () => void>();

  constructor(members: Members, rpc: Rpc, clock: Clock, random: Random) {
    this.#members = members;
    this.#rpc = rpc;
    this.#clock = clock;
    this.#random = random;
  }

  /** Returns a lease for a commit, which must release it. */
  async take(ttl: number): Promise<Lease> {
    for (;;) {
      const current = this.#current.get(ttl);
      const fits = current !== undefined && current.commitCount < maxCommits && this.#clock.monotonic() < current.until;
      const lease = fits ? current : this.#grant(ttl);
      lease.commitCount++;
      lease.pending++;
      try {
        await lease.granted;
      } catch (error) {
        this.drop(lease);
        this.release(lease, false);
        throw error;
      }
      // Granted too slowly: the commit might take place after the band.
      if (this.#clock.monotonic() < lease.until) return lease;
      this.release(lease, false);
    }
  }

  /** `used` states whether the commit may have taken place. */
  release(lease: Lease, used: boolean): void {
    lease.pending--;
    lease.used ||= used;
    this.#revokeUnused(lease);
  }

  /** Stops using a lease for further commits. */
  drop(lease: Lease): void {
    if (this.#current.get(lease.ttl) === lease) this.#current.delete(lease.ttl);
    this.#timers.get(lease)?.();
    this.#timers.delete(lease);
    this.#revokeUnused(lease);
  }

  /** Revokes the leases without keys, within a limited time. */
  async close(): Promise<void> {
    const leases = [...this.#timers.keys()];
    for (const cancel of this.#timers.values()) cancel();
    const revoked = leases.filter(({ used }) => !used).map((lease) => this.#revoke(lease));
    await Promise.all(revoked);
  }

  #grant(ttl: number): Lease {
    const seconds = bandOf(ttl);
    const usableMs = seconds * 1_000 - Math.min(longestMarginMs, seconds * 500);
    // Both sides represent numbers up to 2^48 exactly.
    const id = Number.parseInt(this.#random.uuid().replaceAll('-', '').slice(0, 12), 16) + 1;
    const until = this.#clock.monotonic() + usableMs;
    const granted = this.#request(id, Math.min(ttl + seconds, maxTtl));
    const lease = { ttl, id, until, granted, commitCount: 0, pending: 0, used: false };
    const former = this.#current.get(ttl);
    if (former !== undefined) this.drop(former);
    this.#current.set(ttl, lease);
    this.#timers.set(
      lease,
      this.#clock.after(usableMs, () => this.drop(lease)),
    );
    return lease;
  }

  async #request(id: number, ttl: number): Promise<void> {
    try {
      await this.#members.read(this.#rpc.grantLease, { ID: id, TTL: ttl });
    } catch (error) {
      // An attempt whose answer was lost has granted the lease.
      if (!isLeaseGranted(error)) throw error;
    }
  }

  #revokeUnused(lease: Lease): void {
    if (!lease.used && lease.pending === 0 && this.#current.get(lease.ttl) !== lease) void this.#revoke(lease);
  }

  /** A lease that cannot be revoked expires. */
  async #revoke({ id }: Lease): Promise<void> {
    try {
      await this.#members.send(this.#rpc.revokeLease, { ID: id }, deadlineMs);
    } catch {}
  }
}
