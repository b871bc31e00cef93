import { addQuantities, compareQuantities, parseQuantity, type Quantity } from '../../meta/index.ts';
import type { PodSpec } from '../../types/core-v1.ts';

export type QosClass = 'BestEffort' | 'Burstable' | 'Guaranteed';

const computed = ['cpu', 'memory'] as const;

type Sums = Map<string, Quantity>;

function add(sums: Sums, amounts: { readonly [name: string]: string } | undefined): number {
  let count = 0;
  for (const name of computed) {
    const text = amounts?.[name];
    if (text === undefined) continue;
    const amount = parseQuantity(text);
    if (amount.nano <= 0n) continue;
    const known = sums.get(name);
    sums.set(name, known === undefined ? amount : addQuantities(known, amount));
    count++;
  }
  return count;
}

/**
 * The QoS class: `Guaranteed` when limits equal requests for CPU and memory, `BestEffort` without either, else
 * `Burstable`.
 */
export function qosClass(spec: PodSpec): QosClass {
  const requests: Sums = new Map();
  const limits: Sums = new Map();
  const whole = spec.resources;
  const given = Object.keys(whole?.limits ?? {}).length + Object.keys(whole?.requests ?? {}).length > 0;
  const holders = given
    ? [whole]
    : [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map((c) => c.resources);
  let limited = true;
  for (const resources of holders) {
    add(requests, resources?.requests);
    if (add(limits, resources?.limits) < computed.length) limited = false;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const same = [...requests].every(([name, amount]) => {
    const limit = limits.get(name);
    return limit !== undefined && compareQuantities(limit, amount) === 0;
  });
  return limited && same && requests.size === limits.size ? 'Guaranteed' : 'Burstable';
}
