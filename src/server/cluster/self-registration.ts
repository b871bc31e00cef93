import { type Clock, isStatus, type Random } from '../../meta/index.ts';
import type { Registry } from '../../registry/index.ts';
import { publishClientAuthorities, publishedAuthorities } from '../access/client-authorities.ts';
import type { TrustedAuthorities } from '../certificates/trusted-authorities.ts';
import type { Log } from '../dependencies.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { type RegistrationOptions, registerApiServices } from './api-services.ts';
import { ensureTokenTracking } from './bootstrap-objects.ts';
import { createIdentityLease } from './identity-lease.ts';

export interface SelfRegistrationOptions extends RegistrationOptions {
  /** The identity of this server. */
  readonly identity: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly settings: ServerSettings;
  readonly trusted: TrustedAuthorities;
  /** True during shutdown, when nothing may be written. */
  readonly closing: () => boolean;
  /** Called after each attempt to reconcile the APIServices. */
  readonly onRegistered: () => void;
}

/**
 * Returns a function that reconciles the objects by which the server registers itself: the APIServices (when the served
 * resources have changed), the identity lease, the client CA config map and the config map of token tracking.
 * Calls are serialised and never reject: a failure is logged once and retried by the next call.
 */
export function createSelfRegistration(options: SelfRegistrationOptions): () => Promise<void> {
  const { client, names, clock, log, closing } = options;
  const renewLease = createIdentityLease(options);
  let registered: Registry['resources'] | undefined;
  let tracking = false;
  const tasks = {
    APIServices: async () => {
      const { resources } = options.registry;
      if (resources !== registered) await registerApiServices(options, registered === undefined);
      registered = resources;
    },
    'identity lease': renewLease,
    'client CA config map': async () => {
      const authorities = publishedAuthorities(options.settings, options.trusted.bundles);
      if (authorities !== undefined) await publishClientAuthorities(client, names, clock.now(), authorities);
    },
    'config map of token tracking': async () => {
      if (!tracking) await ensureTokenTracking(client, names, clock.now());
      tracking = true;
    },
  };
  const logged = new Set<string>();
  const runAll = async () => {
    for (const [what, task] of Object.entries(tasks)) {
      if (closing()) return;
      try {
        await task();
      } catch (error) {
        // On a conflict another server has reconciled the object, or the next call will.
        if (isStatus(error, 409) || logged.has(what)) continue;
        logged.add(what);
        log.warn(`failed to reconcile the ${what}`, { error });
      } finally {
        if (task === tasks.APIServices) options.onRegistered();
      }
    }
  };
  let last = Promise.resolve();
  return () => {
    last = last.then(runAll);
    return last;
  };
}
