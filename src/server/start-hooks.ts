import type { HealthCheck } from '../http/index.ts';
import type { Clock } from '../meta/index.ts';

/** What a server does once after its start, under the names by which probes exclude it. */
const hookNames = [
  'start-system-namespaces-controller',
  'scheduling/bootstrap-system-priority-classes',
  'priority-and-fairness-config-producer',
  'bootstrap-controller',
  'start-service-ip-repair-controllers',
] as const;
type HookName = (typeof hookNames)[number];

/** Which of them are done. */
export class StartHooks {
  readonly #pending = new Set<HookName>(hookNames);

  done(...names: readonly HookName[]): void {
    for (const name of names) this.#pending.delete(name);
  }

  /** A check for each, which fails until it is done; that of `/livez` only once `graceMs` have passed from now. */
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
