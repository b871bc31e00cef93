import type { HealthCheck } from '../http/index.ts';
import type { Clock } from '../meta/index.ts';

/** The post-start hooks. The last one is done once the APIServices of what is served have been written. */
const hookNames = [
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
      const name = checkName(hook);
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
