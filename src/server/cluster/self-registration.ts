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

/** The objects by which the server registers itself. */
export interface SelfRegistration {
  /**
   * Reconciles the APIServices (when they or the served resources have changed), the identity lease, the client CA config map
   * and the config map of token tracking. Calls are serialised and never reject: a failure is logged once and retried by the
   * next call.
   */
  readonly reconcile: () => Promise<void>;
  /** From now on also reconciles soon after APIServices or definitions of custom resources have changed. */
  readonly follow: () => void;
}

const followed = [
  ['apiregistration', 'apiservices'],
  ['apiextensions', 'customresourcedefinitions'],
] as const;

/** Least delay after a change of APIServices or definitions (ms), and how many times longer than the last run it is. */
const settlingMs = 100;
const settlingFactor = 5;

export function createSelfRegistration(options: SelfRegistrationOptions): SelfRegistration {
  const { client, names, clock, log, closing } = options;
  const renewLease = createIdentityLease(options);
  const apiServices = apiServicesTask(options);
  let tracking = false;
  const tasks = {
    APIServices: apiServices.run,
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
  const reconcile = () => {
    last = last.then(runAll);
    return last;
  };
  let waits = false;
  const reconcileSoon = () => {
    if (!apiServices.changed() || waits) return;
    waits = true;
    clock.after(apiServices.settlingMs(), () => {
      waits = false;
      if (!closing()) void reconcile();
    });
  };
  return {
    reconcile,
    follow: () => {
      const { registry } = options;
      for (const [group, resource] of followed) {
        const id = `${resource}.${group}.${names.domain}`;
        // A failure means that the registry was closed.
        if (registry.resourceOf(id) !== undefined) registry.follow(id, reconcileSoon).catch(() => {});
      }
    },
  };
}

/** Reconciles the APIServices when the served resources have changed, or an APIService or definition has. */
function apiServicesTask(options: SelfRegistrationOptions) {
  const { registry, clock } = options;
  let registered: Registry['resources'] | undefined;
  let isStale = true;
  let tookMs = 0;
  return {
    run: async () => {
      const { resources } = registry;
      if (resources === registered && !isStale) return;
      isStale = false;
      const started = clock.monotonic();
      try {
        await registerApiServices(options, registered === undefined);
        registered = resources;
      } catch (error) {
        isStale = true;
        throw error;
      } finally {
        tookMs = clock.monotonic() - started;
      }
    },
    /** Returns false before the first run. */
    changed: () => {
      isStale = true;
      return registered !== undefined;
    },
    settlingMs: () => Math.max(settlingMs, settlingFactor * tookMs),
  };
}
