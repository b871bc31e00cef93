import { type ApiObject, type Json, type JsonObject, type Names, statusError } from '../meta/index.ts';
import {
  annotationOf,
  byName,
  containersOf,
  fieldsOf,
  forbidden,
  initContainersOf,
  objectsOf,
  on,
  specOf,
  textOf,
} from './fields.ts';
import { findViolations } from './pod-security-checks.ts';
import { compareLevels, type LevelVersion, readPolicy, sameLevel, tellLevel } from './pod-security-policy.ts';
import { tellDetails, tellReasons, type Violation } from './pod-security-text.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from './types.ts';

type World = Pick<PluginInitializer, 'names' | 'objects'>;

/** Where the template of a workload's pods is. */
const templates: { readonly [resource: string]: readonly string[] } = {
  podtemplates: ['template'],
  replicationcontrollers: ['spec', 'template'],
  'replicasets.apps': ['spec', 'template'],
  'deployments.apps': ['spec', 'template'],
  'statefulsets.apps': ['spec', 'template'],
  'daemonsets.apps': ['spec', 'template'],
  'jobs.batch': ['spec', 'template'],
  'cronjobs.batch': ['spec', 'jobTemplate', 'spec', 'template'],
};

const pods = ['pods', 'pods/ephemeralcontainers', 'pods/resize'];

/** Pods keep to the level that their namespace states by its labels; writers are warned of what would not. */
export function podSecurity(world: World): AdmissionPlugin {
  return {
    name: 'PodSecurity',
    handles: on(['CREATE', 'UPDATE'], 'namespaces', ...pods, ...Object.keys(templates)),
    validate: (request) => {
      const { resource, object, oldObject, operation } = request;
      if (object === undefined) return undefined;
      const { group, resource: plural } = resource;
      if (group === '' && plural === 'namespaces') return checkNamespace(world, request, object);
      if (group === '' && plural === 'pods') {
        if (operation === 'UPDATE' && !isTelling(object, oldObject, world.names)) return undefined;
        return checkPod(world, request, object, specOf(object), true);
      }
      const path = templates[group === '' ? plural : `${plural}.${group}`] ?? [];
      const template = path.reduce<JsonObject>((fields, name) => fieldsOf(fields[name]), object);
      const { spec } = template;
      if (spec === undefined) return undefined;
      return checkPod(world, request, template, fieldsOf(spec), false);
    },
  };
}

/** Of an update of a pod, only new images, containers and confinement can matter. */
function isTelling(pod: ApiObject, old: ApiObject | undefined, { labels }: Names): boolean {
  if (old === undefined) return true;
  const annotationDiffers = (key: string) => annotationOf(pod, key) !== annotationOf(old, key);
  const differs = (after: JsonObject, before: JsonObject | undefined) =>
    before === undefined ||
    after['image'] !== before['image'] ||
    annotationDiffers(`container.seccomp.security.alpha.${labels}/${textOf(after['name'])}`);
  for (const list of [containersOf, initContainersOf]) {
    const before = list(specOf(old));
    const after = list(specOf(pod));
    if (after.length !== before.length || after.some((container, i) => differs(container, before[i]))) return true;
  }
  const before = objectsOf(specOf(old)['ephemeralContainers']);
  return objectsOf(specOf(pod)['ephemeralContainers']).some((container) =>
    differs(
      container,
      before.find(({ name }) => name === container['name']),
    ),
  );
}

async function checkPod(
  { names, objects }: World,
  request: AdmissionRequest,
  pod: JsonObject,
  spec: JsonObject,
  enforces: boolean,
): Promise<void> {
  const namespace = await objects.get('namespaces', '', request.namespace);
  const { enforce, warn } = readPolicy(namespace?.metadata.labels, names).policy;
  const { annotations } = fieldsOf(pod['metadata']);
  const find = ({ level, minor }: LevelVersion) => findViolations(level, minor, spec, annotations, names);
  const enforced = enforces ? find(enforce) : [];
  if (enforced.length > 0) {
    throw forbidden(request, `violates PodSecurity "${tellLevel(enforce)}": ${tellDetails(enforced)}`);
  }
  // What is enforced and kept need not be looked at again.
  if (enforces && sameLevel(enforce, warn)) return;
  const found = find(warn);
  if (found.length > 0) {
    request.warn(`would violate PodSecurity "${tellLevel(warn)}": ${tellDetails(found)}`);
  }
}

function checkNamespace(world: World, request: AdmissionRequest, namespace: ApiObject): Promise<void> | undefined {
  const { oldObject, kind, name } = request;
  const { policy, errors } = readPolicy(namespace.metadata.labels, world.names);
  const before = oldObject === undefined ? undefined : readPolicy(oldObject.metadata.labels, world.names);
  const told = (list: typeof errors) => list.map(({ message, field }) => `${field}: ${message}`).join();
  if (errors.length > 0 && (before === undefined || told(errors) !== told(before.errors))) {
    throw statusError.invalid(kind, name, errors);
  }
  if (before === undefined) return undefined;
  const { enforce } = policy;
  const old = before.policy.enforce;
  if (sameLevel(enforce, old) || enforce.level === 'privileged') return undefined;
  if (enforce.minor === old.minor && compareLevels(enforce.level, old.level) < 0) return undefined;
  return warnOfPods(world, request, name, enforce);
}

/** How many pods of a namespace are looked at, at the most. */
const maxPods = 3000;

/** Tells which pods that are there would no longer be admitted. They stay. */
async function warnOfPods(
  { names, objects }: World,
  request: AdmissionRequest,
  namespace: string,
  enforce: LevelVersion,
): Promise<void> {
  const pods = differentFirst(await objects.list('pods', namespace));
  const violators = new Map<string, ApiObject[]>();
  for (const pod of pods.slice(0, maxPods)) {
    const annotations = pod.metadata.annotations as Json | undefined;
    const found: Violation[] = findViolations(enforce.level, enforce.minor, specOf(pod), annotations, names);
    if (found.length === 0) continue;
    const why = tellReasons(found);
    const alike = violators.get(why);
    if (alike === undefined) violators.set(why, [pod]);
    else alike.push(pod);
  }
  if (pods.length > maxPods) {
    const what = `only checked against the first ${maxPods} of ${pods.length} existing pods`;
    request.warn(`new PodSecurity enforce level ${what}`);
  }
  if (violators.size === 0) return;
  const what = `violate the new PodSecurity enforce level "${tellLevel(enforce)}"`;
  request.warn(`existing pods in namespace "${namespace}" ${what}`);
  const lines = [...violators].map(([why, found]) => `${tellPods(found)}: ${why}`);
  for (const line of lines.sort()) request.warn(line);
}

function tellPods(pods: readonly ApiObject[]): string {
  const others = pods.length - 1;
  const first = [...pods].sort(byName)[0]?.metadata.name ?? '';
  return others === 0 ? first : `${first} (and ${others} other ${others === 1 ? 'pod' : 'pods'})`;
}

/** Pods of one controller are alike: one of each comes first. */
function differentFirst(pods: readonly ApiObject[]): readonly ApiObject[] {
  if (pods.length <= maxPods) return pods;
  const seen = new Set<string>();
  const first: ApiObject[] = [];
  const rest: ApiObject[] = [];
  for (const pod of pods) {
    const controller = pod.metadata.ownerReferences?.find((owner) => owner['controller'] === true)?.uid;
    (controller !== undefined && seen.has(controller) ? rest : first).push(pod);
    if (controller !== undefined) seen.add(controller);
  }
  return [...first, ...rest];
}
