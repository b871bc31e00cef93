import { type ApiObject, type Json, jsonEqual } from '../meta/index.ts';
import { forbidden, numberOf, on, specOf, textOf } from './fields.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from './types.ts';

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

/** Sets the priority of a pod from its priority class or the global default; at most one class may be the default. */
export function priority({ names, objects }: Pick<PluginInitializer, 'names' | 'objects'>): AdmissionPlugin {
  const classes = `priorityclasses.scheduling.${names.domain}`;
  /** Of several defaults, the one with the lowest value. */
  const defaultClass = async (): Promise<ApiObject | undefined> => {
    const marked = (await objects.list(classes, '')).filter(({ globalDefault }) => globalDefault === true);
    return marked.sort((a, b) => valueIn(a) - valueIn(b))[0];
  };
  const classOf = async (request: AdmissionRequest, pod: ApiObject): Promise<ApiObject | undefined> => {
    const name = textOf(specOf(pod)['priorityClassName']);
    if (name === '') return defaultClass();
    const found = await objects.get(classes, '', name);
    if (found === undefined) throw forbidden(request, `no PriorityClass with name ${name} was found`);
    return found;
  };
  const pods = on(['CREATE', 'UPDATE'], 'pods');
  const priorityClasses = on(['CREATE', 'UPDATE'], classes);
  return {
    name: 'Priority',
    handles: (place) => pods(place) || priorityClasses(place),
    mutate: async (request) => {
      const { object: pod, oldObject, resource } = request;
      if (pod === undefined || resource.resource !== 'pods') return;
      if (oldObject === undefined) setPriority(request, pod, await classOf(request, pod));
      else inheritPriority(pod, oldObject);
    },
    validate: async (request) => {
      const { object, oldObject, resource } = request;
      if (resource.resource === 'pods' || object?.['globalDefault'] !== true) return;
      const other = await defaultClass();
      if (other === undefined || (oldObject !== undefined && other.metadata.name === object.metadata.name)) return;
      const name = other.metadata.name ?? '';
      throw forbidden(request, `PriorityClass ${name} is already marked as default. Only one default can exist`);
    },
  };
}

const valueIn = ({ value }: ApiObject) => numberOf(value) ?? 0;

function setPriority(request: AdmissionRequest, pod: ApiObject, found: ApiObject | undefined): void {
  const spec = specOf(pod);
  const value = found === undefined ? 0 : valueIn(found);
  const policy: Json = found?.['preemptionPolicy'] ?? 'PreemptLowerPriority';
  if (found !== undefined) spec['priorityClassName'] = found.metadata.name ?? '';
  const computed = 'must not be provided in pod spec; priority admission controller computed';
  const { preemptionPolicy } = spec;
  const given = numberOf(spec['priority']);
  if (given !== undefined && given !== value) {
    const what = `the integer value of priority (${given}) ${computed} ${value}`;
    throw forbidden(request, `${what} from the given PriorityClass name`);
  }
  if (preemptionPolicy !== undefined && !jsonEqual(preemptionPolicy, policy)) {
    const what = `the string value of PreemptionPolicy (${textOf(preemptionPolicy)}) ${computed} ${textOf(policy)}`;
    throw forbidden(request, `${what} from the given PriorityClass name`);
  }
  spec['priority'] = value;
  spec['preemptionPolicy'] = policy;
}

/** An update that omits the computed fields keeps them. */
function inheritPriority(pod: ApiObject, old: ApiObject): void {
  const spec = specOf(pod);
  const before = specOf(old);
  for (const field of ['priority', 'preemptionPolicy']) {
    const kept = before[field];
    if (spec[field] === undefined && kept !== undefined) spec[field] = kept;
  }
}
