/** The containers of pods, and the resources that they request together. */
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from '../meta/index.ts';
import type { Infer } from '../schema/index.ts';
import type { Container, EphemeralContainer, Pod, PodSpec, ResourceRequirements } from './core-v1.ts';
import { addInPlace, maxInPlace, parseResourceList, type Quantities, zero } from './resource-list.ts';
import { isPodLevelResource } from './resource-names.ts';

type Requirement = 'requests' | 'limits';

/** Init containers, containers and ephemeral containers, in this order. */
export const allContainers = (spec: PodSpec): (Container | EphemeralContainer)[] => [
  ...(spec.initContainers ?? []),
  ...(spec.containers ?? []),
  ...(spec.ephemeralContainers ?? []),
];

/** Whether an init container is a sidecar: it keeps running (`restartPolicy: Always`). */
export const isSidecar = ({ restartPolicy }: Pick<Container, 'restartPolicy'>): boolean => restartPolicy === 'Always';

const declaredResources = (
  { resources }: { readonly resources?: Infer<typeof ResourceRequirements> },
  requirement: Requirement,
): Quantities => parseResourceList(resources?.[requirement]);

/**
 * The effective requests or limits of the containers of a pod: the maximum of what the containers need together and
 * what each init container needs, where sidecars count from their turn on and beside the containers.
 */
export function aggregateContainers(
  { containers, initContainers }: PodSpec,
  requirement: Requirement,
  amountsOf: (container: Container) => Quantities = (container) => declaredResources(container, requirement),
): Quantities {
  const total: Quantities = new Map();
  for (const container of containers ?? []) addInPlace(total, amountsOf(container));
  const sidecars: Quantities = new Map();
  const initMax: Quantities = new Map();
  for (const container of initContainers ?? []) {
    const own = amountsOf(container);
    if (isSidecar(container)) {
      addInPlace(total, own);
      addInPlace(sidecars, own);
      maxInPlace(initMax, sidecars);
    } else {
      addInPlace(own, sidecars);
      maxInPlace(initMax, own);
    }
  }
  maxInPlace(total, initMax);
  return total;
}

const podLevelResources = (spec: PodSpec, requirement: Requirement): Quantities =>
  new Map([...declaredResources(spec, requirement)].filter(([name]) => isPodLevelResource(name)));

/** Requests or limits of a pod: the pod-level ones where set, else those aggregated from its containers. */
export const podResources = (spec: PodSpec, requirement: Requirement): Quantities =>
  new Map([...aggregateContainers(spec, requirement), ...podLevelResources(spec, requirement)]);

/**
 * Requests or limits of a pod for quota: for each container the maximum of the spec and what the status reports as
 * allocated (the spec is ignored while a resize is infeasible), plus the pod overhead, which is added to limits only
 * where a limit is set.
 */
export function allocatedPodResources(
  { spec = {}, status = {} }: Pick<Pod, 'spec' | 'status'>,
  requirement: Requirement,
): Quantities {
  const statuses = new Map(
    [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].map((one) => [one.name, one]),
  );
  const infeasible = status.conditions?.some(
    ({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible',
  );
  const total = aggregateContainers(spec, requirement, (container) => {
    const found = statuses.get(container.name);
    if (found?.resources === undefined) return declaredResources(container, requirement);
    const amounts: Quantities = infeasible === true ? new Map() : declaredResources(container, requirement);
    maxInPlace(amounts, declaredResources(found, requirement));
    if (requirement === 'requests') maxInPlace(amounts, parseResourceList(found.allocatedResources));
    return amounts;
  });
  for (const [name, amount] of podLevelResources(spec, requirement)) total.set(name, amount);
  for (const [name, amount] of parseResourceList(spec.overhead)) {
    const found = total.get(name) ?? zero;
    if (requirement === 'requests' || found.nano > 0n) total.set(name, addQuantities(found, amount));
  }
  return total;
}

/** Whether requests or limits are set at pod level. */
export const hasPodLevelResources = ({ resources }: PodSpec): boolean =>
  [resources?.requests, resources?.limits].some((amounts) => Object.keys(amounts ?? {}).some(isPodLevelResource));

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
  const holders = hasPodLevelResources(spec)
    ? [spec.resources]
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
