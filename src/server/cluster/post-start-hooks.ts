import type { HealthCheck } from '../../http/index.ts';
import type { Clock } from '../../meta/index.ts';

/** The post-start hooks. The last one is done after the first attempt to reconcile the APIServices. */
export const hookNames = [
  'start-system-namespaces-controller',
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'priority-and-fairness-config-producer',
  'bootstrap-controller',
  'start-service-ip-repair-controllers',
  'autoregister-completion',
] as const;
type HookName = (typeof hookNames)[number];

/** The name of the check of a hook. */
const checkName = (hook: HookName) => (hook === 'autoregister-completion' ? hook : `poststarthook/${hook}`);

/** Grace period of the APIServices after the start (ms): requests are served without them. */
const registrationMs = 5_000;

/** Minimum duration of the start (ms): controllers list everything, and code is not optimized yet. */
const startMs = 10_000;

/** Tracks which post-start hooks are done. */
export class PostStartHooks {
  readonly #pending = new Set<HookName>(hookNames);

  done(...names: readonly HookName[]): void {
    for (const name of names) this.#pending.delete(name);
  }

  /** Returns a function that tells whether the server is still starting. */
  starting(clock: Clock): () => boolean {
    const until = clock.monotonic() + startMs;
    return () => this.#pending.size > 0 || clock.monotonic() < until;
  }

  /** A health check for each hook, which fails until it is done; on `/livez` only after the grace period. */
  checks(clock: Clock, graceMs: number): HealthCheck[] {
    const started = clock.now();
    return hookNames.flatMap((hook): HealthCheck[] => {
      const name = checkName(hook);
      const least = hook === 'autoregister-completion' ? registrationMs : 0;
      const after = (ms: number) => () => {
        if (this.#pending.has(hook) && clock.now() >= started + Math.max(least, ms)) throw new Error('not finished');
      };
      return [
        { name, check: after(0), endpoints: ['healthz', 'readyz'] },
        { name, check: after(graceMs), endpoints: ['livez'] },
      ];
    });
  }
}
