import type { HealthCheck } from '../http/index.ts';
import type { Clock } from '../meta/index.ts';

/** The post-start hooks, by the names under which probes exclude their checks. */
const hookNames = [
  'start-system-namespaces-controller',
  'rbac/bootstrap-roles',
  'scheduling/bootstrap-system-priority-classes',
  'priority-and-fairness-config-producer',
  'bootstrap-controller',
  'start-service-ip-repair-controllers',
] as const;
type HookName = (typeof hookNames)[number];

/** Tracks which post-start hooks are done. */
export class PostStartHooks {
  readonly #pending = new Set<HookName>(hookNames);

  done(...names: readonly HookName[]): void {
    for (const name of names) this.#pending.delete(name);
  }

  /** A health check for each hook, which fails until it is done; on `/livez` only after the grace period. */
  checks(clock: Clock, graceMs: number): HealthCheck[] {
    const graceEnd = clock.now() + graceMs;
    return hookNames.flatMap((hook): HealthCheck[] => {
      const name = `poststarthook/${hook}`;
      const check = () => {
        if (this.#pending.has(hook)) throw new Error('not finished');
      };
      const live = () => {
        if (clock.now() >= graceEnd) check();
      };
      return [
        { name, check, endpoints: ['healthz', 'readyz'] },
        { name, check: live, endpoints: ['livez'] },
      ];
    });
  }
}
