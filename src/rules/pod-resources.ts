/** The containers of pods and the resources they request in total. */
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from '../meta/index.ts';
import type { Infer } from '../schema/index.ts';
import type { Container, EphemeralContainer, Pod, PodSpec, ResourceRequirements } from '../types/core-v1.ts';
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
 * Returns the effective requests or limits of the containers of a pod: the maximum of the sum over its containers and the
 * needs of each init container. A sidecar counts from its start on, together with the containers.
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

/** Returns the requests or limits of a pod: those at pod level where set, else those aggregated from its containers. */
export const podResources = (spec: PodSpec, requirement: Requirement): Quantities =>
  new Map([...aggregateContainers(spec, requirement), ...podLevelResources(spec, requirement)]);

/**
 * Returns the requests or limits that quota charges for a pod: for each container the maximum of the spec and the allocation
 * in the status (the spec is ignored while a resize is infeasible), plus the pod overhead. The overhead is added to a limit
 * only where one is set.
 */
export function allocatedPodResources(
  { spec = {}, status = {} }: Pick<Pod, 'spec' | 'status'>,
  requirement: Requirement,
): Quantities {
  const statuses = new Map(
    [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].map((entry) => [entry.name, entry]),
  );
  const infeasible = status.conditions?.some(
    ({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible',
  );
  const total = aggregateContainers(spec, requirement, (container) => {
    const containerStatus = statuses.get(container.name);
    if (containerStatus?.resources === undefined) return declaredResources(container, requirement);
    const amounts: Quantities = infeasible === true ? new Map() : declaredResources(container, requirement);
    maxInPlace(amounts, declaredResources(containerStatus, requirement));
    if (requirement === 'requests') maxInPlace(amounts, parseResourceList(containerStatus.allocatedResources));
    return amounts;
  });
  for (const [name, amount] of podLevelResources(spec, requirement)) total.set(name, amount);
  for (const [name, amount] of parseResourceList(spec.overhead)) {
    const sum = total.get(name) ?? zero;
    if (requirement === 'requests' || sum.nano > 0n) total.set(name, addQuantities(sum, amount));
  }
  return total;
}

/** Whether requests or limits are set at pod level. */
export const hasPodLevelResources = ({ resources }: PodSpec): boolean =>
  [resources?.requests, resources?.limits].some((amounts) => Object.keys(amounts ?? {}).some(isPodLevelResource));

export type QosClass = 'BestEffort' | 'Burstable' | 'Guaranteed';

/** The resources that decide the QoS class. */
const qosResources = ['cpu', 'memory'] as const;

type Sums = Map<string, Quantity>;

/** Adds the positive CPU and memory amounts to `sums` and returns how many there are. */
function addQosAmounts(sums: Sums, amounts: { readonly [name: string]: string } | undefined): number {
  let count = 0;
  for (const name of qosResources) {
    const text = amounts?.[name];
    if (text === undefined) continue;
    const amount = parseQuantity(text);
    if (amount.nano <= 0n) continue;
    const sum = sums.get(name);
    sums.set(name, sum === undefined ? amount : addQuantities(sum, amount));
    count++;
  }
  return count;
}

/**
 * Returns the QoS class: `Guaranteed` when limits equal requests for CPU and memory, `BestEffort` when a pod has neither, else
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
    addQosAmounts(requests, resources?.requests);
    if (addQosAmounts(limits, resources?.limits) < qosResources.length) limited = false;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const same = [...requests].every(([name, amount]) => {
    const limit = limits.get(name);
    return limit !== undefined && compareQuantities(limit, amount) === 0;
  });
  return limited && same && requests.size === limits.size ? 'Guaranteed' : 'Burstable';
}
