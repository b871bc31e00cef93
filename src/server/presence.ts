import type { Clock, Random } from '../meta/index.ts';
import { isStatus } from './bootstrap-objects.ts';
import { tellClientAuthorities } from './client-authorities.ts';
import type { Log } from './dependencies.ts';
import { createIdentityLease } from './identity-lease.ts';
import { type RegistrationOptions, registerVersions } from './registered-versions.ts';

export interface PresenceOptions extends RegistrationOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The authorities of client certificates in PEM; undefined while the server does not listen. */
  readonly clientCa: () => string | undefined;
  /** The server is closing: nothing more is to be written. */
  readonly closing: () => boolean;
}

/**
 * Each call makes what tells of this server in its own API as it should be: the API services, once; its lease; and whom
 * it trusts. One call at a time; it never rejects: what fails is logged once and tried again by the next call.
 */
export function createPresence(options: PresenceOptions): () => Promise<void> {
  const { client, names, clock, log, closing } = options;
  const renewLease = createIdentityLease(options);
  let registered = false;
  const tasks = {
    'API services': async () => {
      if (!registered) await registerVersions(options);
      registered = true;
    },
    lease: renewLease,
    'config map of trusted authorities': async () => {
      const authorities = options.clientCa();
      if (authorities !== undefined) await tellClientAuthorities(client, names, clock.now(), authorities);
    },
  };
  const told = new Set<string>();
  const keep = async () => {
    for (const [what, task] of Object.entries(tasks)) {
      if (closing()) return;
      try {
        await task();
      } catch (error) {
        // Another server was first: it is right now, or will be the next time.
        if (isStatus(error, 409) || told.has(what)) continue;
        told.add(what);
        log.warn(`the ${what} of this server cannot be kept`, { error });
      }
    }
  };
  let last = Promise.resolve();
  return () => {
    last = last.then(keep);
    return last;
  };
}
