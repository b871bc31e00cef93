import {
  aggregateMessages,
  annotationOf,
  type FieldError,
  formatGroupResource,
  type Names,
  serverTurns,
  statusError,
} from '../../meta/index.ts';
import type { ObjectOf } from '../../schema/index.ts';
import { DaemonSet, Deployment, ReplicaSet, StatefulSet } from '../../types/apps-v1.ts';
import { CronJob, Job } from '../../types/batch-v1.ts';
import { Namespace, Pod, PodTemplate, type PodTemplateSpec, ReplicationController } from '../../types/core-v1.ts';
import { forbidden, on, typedRequest } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from '../types.ts';
import { byName } from './default-class.ts';
import { evaluatePod } from './pod-security-checks.ts';
import { formatDetails, formatReasons, type Violation } from './pod-security-messages.ts';
import {
  compareLevels,
  defaultPolicy,
  exemptionWarning,
  formatLevel,
  type LevelVersion,
  type PodPolicy,
  policyFromLabels,
  sameLevel,
} from './pod-security-policy.ts';

type Initializer = Pick<PluginInitializer, 'names' | 'objects' | 'configurations'>;

/** The configuration, and the context of its evaluation. */
interface Settings extends Pick<PluginInitializer, 'names' | 'objects'> {
  readonly defaults: PodPolicy;
  readonly exempt: {
    readonly namespaces: ReadonlySet<string>;
    readonly users: ReadonlySet<string>;
    readonly runtimeClasses: ReadonlySet<string>;
  };
}

type PodObject = ObjectOf<typeof Pod>;
type TemplateOf = (request: AdmissionRequest) => PodTemplateSpec | null | undefined;

/** The pod template of each workload resource. */
const templates: ReadonlyMap<string, TemplateOf> = new Map<string, TemplateOf>([
  ['podtemplates', (request) => typedRequest(PodTemplate, request).object?.template],
  ['replicationcontrollers', (request) => typedRequest(ReplicationController, request).object?.spec?.template],
  ['replicasets.apps', (request) => typedRequest(ReplicaSet, request).object?.spec?.template],
  ['deployments.apps', (request) => typedRequest(Deployment, request).object?.spec?.template],
  ['statefulsets.apps', (request) => typedRequest(StatefulSet, request).object?.spec?.template],
  ['daemonsets.apps', (request) => typedRequest(DaemonSet, request).object?.spec?.template],
  ['jobs.batch', (request) => typedRequest(Job, request).object?.spec?.template],
  ['cronjobs.batch', (request) => typedRequest(CronJob, request).object?.spec?.jobTemplate?.spec?.template],
]);

const pods = ['pods', 'pods/ephemeralcontainers', 'pods/resize'];

/** Enforces the pod security level of the namespace on pods, and warns of violations in pods and pod templates. */
export function podSecurity({ names, objects, configurations }: Initializer): AdmissionPlugin {
  const configuration = configurations.PodSecurity ?? {};
  const { namespaces, usernames, runtimeClasses } = configuration.exemptions ?? {};
  const settings: Settings = {
    names,
    objects,
    defaults: defaultPolicy(configuration),
    exempt: {
      namespaces: new Set(namespaces),
      users: new Set(usernames),
      runtimeClasses: new Set(runtimeClasses),
    },
  };
  return {
    name: 'PodSecurity',
    handles: on(['CREATE', 'UPDATE'], 'namespaces', ...pods, ...templates.keys()),
    validate: (request) => {
      const resource = formatGroupResource(request.resource);
      if (resource === 'namespaces') return checkNamespace(settings, typedRequest(Namespace, request));
      if (resource === 'pods') {
        const { object, oldObject, operation } = typedRequest(Pod, request);
        if (object === undefined) return undefined;
        const significant = operation !== 'UPDATE' || isSignificantUpdate(object, oldObject, names);
        if (!significant && request.annotate === undefined) return undefined;
        return checkPod(settings, request, object, { enforces: true, significant });
      }
      const template = templates.get(resource)?.(request);
      return template?.spec && checkPod(settings, request, template, { enforces: false, significant: true });
    },
  };
}

interface Imaged {
  readonly name?: string;
  readonly image?: string;
}

/** Only an update that changes images, containers or seccomp annotations can add a violation. */
function isSignificantUpdate(pod: PodObject, old: PodObject | undefined, { labels }: Names): boolean {
  if (old === undefined) return true;
  const annotationDiffers = (key: string) => annotationOf(pod, key) !== annotationOf(old, key);
  const differs = (after: Imaged, before: Imaged | undefined) =>
    before === undefined ||
    after.image !== before.image ||
    annotationDiffers(`container.seccomp.security.alpha.${labels}/${after.name ?? ''}`);
  for (const list of ['containers', 'initContainers'] as const) {
    const before = old.spec?.[list] ?? [];
    const after = pod.spec?.[list] ?? [];
    if (after.length !== before.length || after.some((container, i) => differs(container, before[i]))) return true;
  }
  const before = old.spec?.ephemeralContainers ?? [];
  return (pod.spec?.ephemeralContainers ?? []).some((container) =>
    differs(
      container,
      before.find(({ name }) => name === container.name),
    ),
  );
}

interface PodCheck {
  /** The enforce level applies, too. */
  readonly enforces: boolean;
  readonly significant: boolean;
}

async function checkPod(
  { names, objects, defaults, exempt }: Settings,
  request: AdmissionRequest,
  { metadata, spec = {} }: PodTemplateSpec,
  { enforces, significant }: PodCheck,
): Promise<void> {
  const { annotate } = request;
  const exemptBy = (reason: string) => annotate?.(`pod-security.${names.labels}/exempt`, reason);
  if (exempt.namespaces.has(request.namespace)) return exemptBy('namespace');
  if (exempt.users.has(request.user.name)) return exemptBy('user');
  const namespace = await objects.get(Namespace, '', request.namespace);
  const { policy, errors } = policyFromLabels(namespace?.metadata.labels, names, defaults);
  const { enforce, audit, warn } = policy;
  const modes = enforces ? [enforce, audit, warn] : [audit, warn];
  const isPrivileged = errors.length === 0 && modes.every(({ level }) => level === 'privileged');
  if (isPrivileged && enforces) annotate?.(`pod-security.${names.labels}/enforce-policy`, 'privileged:latest');
  if (isPrivileged || !significant) return;
  if (exempt.runtimeClasses.has(spec.runtimeClassName ?? '')) return exemptBy('runtimeClass');
  if (enforces) annotate?.(`pod-security.${names.labels}/enforce-policy`, formatLevel(enforce));
  const { annotations } = metadata ?? {};
  const find = ({ level, minor }: LevelVersion) => evaluatePod(level, minor, spec, annotations, names);
  const enforced = enforces ? find(enforce) : [];
  if (annotate !== undefined) {
    if (errors.length > 0)
      annotate(`pod-security.${names.labels}/error`, `Failed to parse policy: ${aggregate(errors)}`);
    const audited = enforces && sameLevel(enforce, audit) ? enforced : find(audit);
    if (audited.length > 0) annotate(`pod-security.${names.labels}/audit-violations`, formatViolations(audit, audited));
  }
  if (enforced.length > 0) {
    throw forbidden(request, `violates PodSecurity "${formatLevel(enforce)}": ${formatDetails(enforced)}`);
  }
  // The pod has just passed the same level.
  if (enforces && sameLevel(enforce, warn)) return;
  const found = find(warn);
  if (found.length > 0) request.warn(formatViolations(warn, found));
}

const formatViolations = (level: LevelVersion, found: readonly Violation[]): string =>
  `would violate PodSecurity "${formatLevel(level)}": ${formatDetails(found)}`;

const aggregate = (errors: readonly FieldError[]): string =>
  aggregateMessages(errors.map(({ field, message }) => `${field}: ${message}`));

function checkNamespace(
  settings: Settings,
  request: AdmissionRequest<ObjectOf<typeof Namespace>>,
): Promise<void> | undefined {
  const { object: namespace, oldObject, kind, name } = request;
  if (namespace === undefined) return undefined;
  const { names, defaults, exempt } = settings;
  const { labels } = namespace.metadata;
  const { policy, errors } = policyFromLabels(labels, names, defaults);
  const before = oldObject === undefined ? undefined : policyFromLabels(oldObject.metadata.labels, names, defaults);
  const formatErrors = (list: typeof errors) => list.map(({ message, field }) => `${field}: ${message}`).join();
  if (errors.length > 0 && (before === undefined || formatErrors(errors) !== formatErrors(before.errors))) {
    throw statusError.invalid(kind, name, errors);
  }
  const { enforce } = policy;
  if (before !== undefined) {
    const old = before.policy.enforce;
    if (sameLevel(enforce, old) || enforce.level === 'privileged') return undefined;
    if (enforce.minor === old.minor && compareLevels(enforce.level, old.level) < 0) return undefined;
  }
  if (exempt.namespaces.has(name)) {
    const warning = exemptionWarning(name, policy, labels, names, defaults);
    if (warning !== undefined) request.warn(warning);
    return undefined;
  }
  return before === undefined ? undefined : evaluateExistingPods(settings, request, name, enforce);
}

/** How many existing pods of a namespace are evaluated at most. */
const maxPods = 3000;

/** Warns of existing pods that violate the new enforce level. They are not changed. */
async function evaluateExistingPods(
  { names, objects, exempt }: Settings,
  request: Pick<AdmissionRequest, 'warn' | 'turns'>,
  namespace: string,
  enforce: LevelVersion,
): Promise<void> {
  const turns = request.turns ?? serverTurns();
  const all = await objects.list(Pod, namespace);
  const { runtimeClasses } = exempt;
  const subject =
    runtimeClasses.size === 0 ? all : all.filter(({ spec }) => !runtimeClasses.has(spec?.runtimeClassName ?? ''));
  const pods = prioritizePods(subject);
  const violators = new Map<string, PodObject[]>();
  for (const pod of pods.slice(0, maxPods)) {
    if (turns.over) await turns.next();
    const { spec = {}, metadata } = pod;
    const found: Violation[] = evaluatePod(enforce.level, enforce.minor, spec, metadata.annotations, names);
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

function formatPods(pods: readonly PodObject[]): string {
  const others = pods.length - 1;
  const first = [...pods].sort(byName)[0]?.metadata.name ?? '';
  return others === 0 ? first : `${first} (and ${others} other ${others === 1 ? 'pod' : 'pods'})`;
}

/** Puts one pod of each controller first, because the pods of a controller have the same template. */
function prioritizePods(pods: readonly PodObject[]): readonly PodObject[] {
  if (pods.length <= maxPods) return pods;
  const seen = new Set<string>();
  const first: PodObject[] = [];
  const rest: PodObject[] = [];
  for (const pod of pods) {
    const controller = pod.metadata.ownerReferences?.find((owner) => owner['controller'] === true)?.uid;
    (controller !== undefined && seen.has(controller) ? rest : first).push(pod);
    if (controller !== undefined) seen.add(controller);
  }
  return [...first, ...rest];
}
