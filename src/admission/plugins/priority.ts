import { oneStep } from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { Pod } from '../../types/core-v1.ts';
import { PriorityClass } from '../../types/scheduling-v1.ts';
import { forbidden, on, typedRequest } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from '../types.ts';

/** The system priority classes, created at startup. */
export const systemPriorities = [
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
] as const;

const systemNames: ReadonlySet<string> = new Set(systemPriorities.map(({ name }) => name));

type PodObject = ObjectOf<typeof Pod>;
/** The part of a priority class that pods depend on. A class may be large, and one is needed for each pod. */
type PriorityClassPart = ReturnType<typeof partOf>;

/**
 * Sets the priority of a pod from its priority class or the global default; at most one class may be the default. The
 * system classes cannot be deleted by name; as in the reference server, a deletion of a collection takes them too.
 */
export function priority({ names, objects }: Pick<PluginInitializer, 'names' | 'objects'>): AdmissionPlugin {
  /** Of several defaults, the one with the lowest value. */
  const defaultClass = objects.derived(PriorityClass, {
    compile: (one) =>
      oneStep((): PriorityClassPart | undefined => (one.globalDefault === true ? partOf(one) : undefined)),
    join: (all) => all.filter((one) => one !== undefined).sort((a, b) => valueIn(a) - valueIn(b))[0],
  });
  const classOf = async (
    request: AdmissionRequest<PodObject>,
    pod: PodObject,
  ): Promise<PriorityClassPart | undefined> => {
    const name = pod.spec?.priorityClassName ?? '';
    if (name === '') return defaultClass();
    const found = await objects.get(PriorityClass, '', name);
    if (found === undefined) throw forbidden(request, `no PriorityClass with name ${name} was found`);
    return partOf(found);
  };
  const pods = on(['CREATE', 'UPDATE'], 'pods');
  const priorityClasses = on(['CREATE', 'UPDATE', 'DELETE'], `priorityclasses.scheduling.${names.domain}`);
  return {
    name: 'Priority',
    handles: (place) => pods(place) || priorityClasses(place),
    mutate: async (request) => {
      if (request.resource.resource !== 'pods') {
        if (request.operation === 'DELETE' && systemNames.has(request.name)) {
          throw forbidden(request, 'this is a system priority class and cannot be deleted');
        }
        return;
      }
      const forPod = typedRequest(Pod, request);
      const { object: pod, oldObject } = forPod;
      if (pod === undefined) return;
      if (oldObject === undefined) setPriority(forPod, pod, await classOf(forPod, pod));
      else inheritPriority(pod, oldObject);
    },
    validate: async (request) => {
      if (request.resource.resource === 'pods' || request.operation === 'DELETE') return;
      const { object, oldObject } = typedRequest(PriorityClass, request);
      if (object?.globalDefault !== true) return;
      const other = await defaultClass();
      if (other === undefined || (oldObject !== undefined && other.name === object.metadata.name)) return;
      throw forbidden(request, `PriorityClass ${other.name} is already marked as default. Only one default can exist`);
    },
  };
}

const partOf = ({ metadata: { name = '' }, value, preemptionPolicy }: ObjectOf<typeof PriorityClass>) => ({
  name,
  value,
  preemptionPolicy,
});

const valueIn = ({ value = 0 }: PriorityClassPart) => value;

function setPriority(
  request: AdmissionRequest<PodObject>,
  { spec = {} }: PodObject,
  found: PriorityClassPart | undefined,
): void {
  const value = found === undefined ? 0 : valueIn(found);
  const policy = found?.preemptionPolicy ?? 'PreemptLowerPriority';
  if (found !== undefined) spec.priorityClassName = found.name;
  const computed = 'must not be provided in pod spec; priority admission controller computed';
  const { preemptionPolicy, priority: given } = spec;
  if (given !== undefined && given !== value) {
    const what = `the integer value of priority (${given}) ${computed} ${value}`;
    throw forbidden(request, `${what} from the given PriorityClass name`);
  }
  if (preemptionPolicy !== undefined && preemptionPolicy !== policy) {
    const what = `the string value of PreemptionPolicy (${preemptionPolicy}) ${computed} ${policy}`;
    throw forbidden(request, `${what} from the given PriorityClass name`);
  }
  spec.priority = value;
  spec.preemptionPolicy = policy;
}

/** An update that omits the computed fields keeps them. */
function inheritPriority({ spec = {} }: PodObject, { spec: before = {} }: PodObject): void {
  if (before.priority !== undefined) spec.priority ??= before.priority;
  if (before.preemptionPolicy !== undefined) spec.preemptionPolicy ??= before.preemptionPolicy;
}
