import { keyOf } from '../../client/index.ts';
import { formatTime, parseTime } from '../../meta/index.ts';
import { createdAt, type Pod, podCondition } from '../shared/pods.ts';
import type { Service } from './services.ts';

/** Times that were seen when the endpoints of a service were last computed (ms). */
interface Seen {
  readonly service: number | undefined;
  readonly pods: ReadonlyMap<string, number>;
}

/** Since when a change waits to be seen in the endpoints of services. */
export class TriggerTimes {
  readonly #seen = new Map<string, Seen>();

  /**
   * The earliest time at which a pod of the service changed its readiness, of those that have changed since the last
   * call; at first when the service was created. Undefined: nothing has changed.
   */
  next(service: Service, pods: readonly Pod[]): string | undefined {
    const key = keyOf(service);
    const before = this.#seen.get(key);
    const created = createdAt(service);
    const times = new Map<string, number>();
    let first: number | undefined;
    for (const pod of pods) {
      const time = changedAt(pod);
      if (time === undefined) continue;
      const name = pod.metadata.name ?? '';
      times.set(name, time);
      if (time > (before?.pods.get(name) ?? Number.NEGATIVE_INFINITY)) first = Math.min(first ?? time, time);
    }
    if (created !== undefined && created > (before?.service ?? Number.NEGATIVE_INFINITY)) {
      first = Math.min(first ?? created, created);
    }
    this.#seen.set(key, { service: created, pods: times });
    const time = before === undefined ? created : first;
    return time === undefined ? undefined : formatTime(time);
  }

  forget(service: string): void {
    this.#seen.delete(service);
  }
}

function changedAt(pod: Pod): number | undefined {
  const { lastTransitionTime } = podCondition(pod, 'Ready') ?? {};
  return typeof lastTransitionTime === 'string' ? parseTime(lastTransitionTime) : undefined;
}
