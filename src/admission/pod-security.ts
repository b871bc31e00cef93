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
import { evaluatePod } from './pod-security-checks.ts';
import { formatDetails, formatReasons, type Violation } from './pod-security-messages.ts';
import { compareLevels, formatLevel, type LevelVersion, policyFromLabels, sameLevel } from './pod-security-policy.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from './types.ts';

type Initializer = Pick<PluginInitializer, 'names' | 'objects'>;

/** The path of the pod template in each workload resource. */
const templatePaths: { readonly [resource: string]: readonly string[] } = {
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

/** Enforces the pod security level of the namespace on pods, and warns of violations in pods and pod templates. */
export function podSecurity(initializer: Initializer): AdmissionPlugin {
  return {
    name: 'PodSecurity',
    handles: on(['CREATE', 'UPDATE'], 'namespaces', ...pods, ...Object.keys(templatePaths)),
    validate: (request) => {
      const { resource, object, oldObject, operation } = request;
      if (object === undefined) return undefined;
      const { group, resource: plural } = resource;
      if (group === '' && plural === 'namespaces') return checkNamespace(initializer, request, object);
      if (group === '' && plural === 'pods') {
        if (operation === 'UPDATE' && !isSignificantUpdate(object, oldObject, initializer.names)) return undefined;
        return checkPod(initializer, request, object, specOf(object), true);
      }
      const path = templatePaths[group === '' ? plural : `${plural}.${group}`] ?? [];
      const template = path.reduce<JsonObject>((fields, name) => fieldsOf(fields[name]), object);
      const { spec } = template;
      if (spec === undefined) return undefined;
      return checkPod(initializer, request, template, fieldsOf(spec), false);
    },
  };
}

/** Only an update that changes images, containers or seccomp annotations can add a violation. */
function isSignificantUpdate(pod: ApiObject, old: ApiObject | undefined, { labels }: Names): boolean {
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
  { names, objects }: Initializer,
  request: AdmissionRequest,
  pod: JsonObject,
  spec: JsonObject,
  enforces: boolean,
): Promise<void> {
  const namespace = await objects.get('namespaces', '', request.namespace);
  const { enforce, warn } = policyFromLabels(namespace?.metadata.labels, names).policy;
  const { annotations } = fieldsOf(pod['metadata']);
  const find = ({ level, minor }: LevelVersion) => evaluatePod(level, minor, spec, annotations, names);
  const enforced = enforces ? find(enforce) : [];
  if (enforced.length > 0) {
    throw forbidden(request, `violates PodSecurity "${formatLevel(enforce)}": ${formatDetails(enforced)}`);
  }
  // The pod has just passed the same level.
  if (enforces && sameLevel(enforce, warn)) return;
  const found = find(warn);
  if (found.length > 0) {
    request.warn(`would violate PodSecurity "${formatLevel(warn)}": ${formatDetails(found)}`);
  }
}

function checkNamespace(
  initializer: Initializer,
  request: AdmissionRequest,
  namespace: ApiObject,
): Promise<void> | undefined {
  const { oldObject, kind, name } = request;
  const { policy, errors } = policyFromLabels(namespace.metadata.labels, initializer.names);
  const before = oldObject === undefined ? undefined : policyFromLabels(oldObject.metadata.labels, initializer.names);
  const formatErrors = (list: typeof errors) => list.map(({ message, field }) => `${field}: ${message}`).join();
  if (errors.length > 0 && (before === undefined || formatErrors(errors) !== formatErrors(before.errors))) {
    throw statusError.invalid(kind, name, errors);
  }
  if (before === undefined) return undefined;
  const { enforce } = policy;
  const old = before.policy.enforce;
  if (sameLevel(enforce, old) || enforce.level === 'privileged') return undefined;
  if (enforce.minor === old.minor && compareLevels(enforce.level, old.level) < 0) return undefined;
  return evaluateExistingPods(initializer, request, name, enforce);
}

/** How many existing pods of a namespace are evaluated at most. */
const maxPods = 3000;

/** Warns of existing pods that violate the new enforce level. They are not changed. */
async function evaluateExistingPods(
  { names, objects }: Initializer,
  request: AdmissionRequest,
  namespace: string,
  enforce: LevelVersion,
): Promise<void> {
  const pods = prioritizePods(await objects.list('pods', namespace));
  const violators = new Map<string, ApiObject[]>();
  for (const pod of pods.slice(0, maxPods)) {
    const annotations = pod.metadata.annotations as Json | undefined;
    const found: Violation[] = evaluatePod(enforce.level, enforce.minor, specOf(pod), annotations, names);
    if (found.length === 0) continue;
    const why = formatReasons(found);
    const alike = violators.get(why);
    if (alike === undefined) violators.set(why, [pod]);
    else alike.push(pod);
  }
  if (pods.length > maxPods) {
    const what = `only checked against the first ${maxPods} of ${pods.length} existing pods`;
    request.warn(`new PodSecurity enforce level ${what}`);
  }
  if (violators.size === 0) return;
  const what = `violate the new PodSecurity enforce level "${formatLevel(enforce)}"`;
  request.warn(`existing pods in namespace "${namespace}" ${what}`);
  const lines = [...violators].map(([why, found]) => `${formatPods(found)}: ${why}`);
  for (const line of lines.sort()) request.warn(line);
}

function formatPods(pods: readonly ApiObject[]): string {
  const others = pods.length - 1;
  const first = [...pods].sort(byName)[0]?.metadata.name ?? '';
  return others === 0 ? first : `${first} (and ${others} other ${others === 1 ? 'pod' : 'pods'})`;
}

/** Puts one pod of each controller first, because the pods of a controller have the same template. */
function prioritizePods(pods: readonly ApiObject[]): readonly ApiObject[] {
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
