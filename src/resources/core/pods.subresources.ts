import { errorsNow, type FieldError, fieldError, getKey, type Json, type Names } from '../../meta/index.ts';
import type { PartialUpdate } from '../../registry/index.ts';
import { isSidecar, qosClass, type ResourceList } from '../../rules/index.ts';
import type { Container } from '../../types/core-v1.ts';
import { annotationKeys } from '../pod-template/annotations.ts';
import { validatePod } from '../pod-template/pod-spec.validation.ts';
import { eachOf, type PodValidationContext, same } from '../shared/field-rules.ts';
import type { PodObject } from './pod-object.ts';
import { validateEphemeralContainersUpdate, validatePodMetaUpdate } from './pods.update-validation.ts';

/** The field of errors about the object as a whole. */
const WHOLE = '[]';

/** The `ephemeralcontainers` subresource. */
export const ephemeralContainers: PartialUpdate<PodObject> = {
  apply: (pod, { spec }) => {
    const { ephemeralContainers: _, ...rest } = pod.spec ?? {};
    const requestedContainers = spec?.ephemeralContainers;
    pod.spec = requestedContainers === undefined ? rest : { ...rest, ephemeralContainers: requestedContainers };
  },
  validate: (pod, old, context) => {
    const { names } = context;
    const { metadata, spec = {} } = pod;
    if (isMirror(old, names)) return [fieldError.forbidden(WHOLE, 'static pods do not support ephemeral containers')];
    return [
      ...validatePod(metadata, spec, context),
      ...validatePodMetaUpdate(metadata, old.metadata, spec, names),
      ...validateEphemeralContainersUpdate(spec, old.spec ?? {}),
    ];
  },
};

/** Whether a pod is a mirror pod of a static pod. */
const isMirror = ({ metadata }: PodObject, names: Names): boolean =>
  getKey(metadata.annotations ?? {}, annotationKeys(names).mirror) !== undefined;

type Containers = readonly Container[];
const lists = ['containers', 'initContainers'] as const;

/** The `resize` subresource: resources of containers and of the pod. */
export const resources: PartialUpdate<PodObject> = {
  apply: (pod, { spec: sent = {} }) => {
    const { resources: _, ...spec } = pod.spec ?? {};
    // Validation rejects an added or removed container.
    if (lists.some((list) => (sent[list] ?? []).length !== (spec[list] ?? []).length)) {
      pod.spec = sent;
      return;
    }
    for (const list of lists) {
      const containers = spec[list];
      if (containers) Object.assign(spec, { [list]: resized(containers, sent[list] ?? []) });
    }
    pod.spec = sent.resources === undefined ? spec : { ...spec, resources: sent.resources };
  },
  validate: validateResize,
};

function resized(containers: Containers, sent: Containers): Containers {
  if (containers.some(({ name }, i) => sent[i]?.name !== name)) return sent;
  return containers.map((container, i) => {
    const { resources: _, resizePolicy: __, ...rest } = container;
    const { resources, resizePolicy } = sent[i] ?? {};
    return {
      ...rest,
      ...(resources === undefined ? {} : { resources }),
      ...(resizePolicy === undefined ? {} : { resizePolicy }),
    };
  });
}

function validateResize(pod: PodObject, old: PodObject, rules: PodValidationContext): FieldError[] {
  const { names } = rules;
  const { metadata, spec = {} } = pod;
  const { spec: before = {} } = old;
  if (isMirror(old, names)) return [fieldError.forbidden(WHOLE, 'static pods cannot be resized')];
  if (before.os?.name === 'windows') return [fieldError.forbidden(WHOLE, 'windows pods cannot be resized')];
  const errors = validatePod(metadata, spec, rules);
  const { qosClass: quality = '', containerStatuses } = old.status ?? {};
  if ((quality || qosClass(before)) !== qosClass(spec)) {
    errors.push(fieldError.invalid('spec', quality, 'Pod QOS Class may not change as a result of resizing'));
  }
  const running = containerStatuses?.find(({ state }) => state?.running !== undefined);
  if (running !== undefined && running.resources === undefined) {
    errors.push(fieldError.forbidden('spec', 'Pod running on node without support for resize'));
  }
  errors.push(...validateWhole(spec.resources, before.resources));
  const moved = errorsNow(lists.flatMap((list) => validateOrder(spec[list] ?? [], before[list] ?? [], list)));
  if (moved.length > 0) return [...errors, ...moved];
  return [
    ...errors,
    ...lists.toReversed().flatMap((list) =>
      eachOf(before[list], `spec.${list}`, (container, at, i) => {
        const now = spec[list]?.[i]?.resources;
        return validateNoneRemoved(now, container.resources, `${at}.resources`, 'resource');
      }),
    ),
    ...(spec.containers ?? []).flatMap((container, i) => validateContainer(container, before.containers?.[i] ?? {})),
    ...eachOf(spec.initContainers, 'spec.initContainers', (container, at, i) =>
      validateInitContainer(container, before.initContainers?.[i] ?? {}, at),
    ),
  ];
}

type Resources = Container['resources'];

/** Requires that a resize removes no request or limit. */
const validateNoneRemoved = (now: Resources, old: Resources, path: string, what: string): FieldError[] =>
  (['requests', 'limits'] as const)
    .filter((kind) => Object.keys(old?.[kind] ?? {}).some((name) => getKey(now?.[kind] ?? {}, name) === undefined))
    .map((kind) => fieldError.forbidden(`${path}.${kind}`, `${what} ${kind} cannot be removed`));

function validateWhole(now: Resources, old: Resources): FieldError[] {
  const path = 'spec.resources';
  if (old !== undefined && now === undefined) {
    return [fieldError.forbidden(path, 'pod-level resources cannot be removed')];
  }
  const errors = validateNoneRemoved(now, old, path, 'pod-level resource');
  if (same(withoutResizable(now), withoutResizable(old))) return errors;
  return [...errors, fieldError.forbidden('spec', `${CPU_AND_MEMORY} are mutable at pod-level`)];
}

function validateOrder(containers: Containers, old: Containers, list: string): FieldError[] {
  const path = `spec.${list}`;
  if (containers.length !== old.length) {
    return [fieldError.forbidden(path, `${list} may not be added or removed on resize`)];
  }
  return eachOf(containers, path, ({ name }, at, i) =>
    name === old[i]?.name
      ? []
      : [fieldError.forbidden(`${at}.name`, `${list} may not be renamed or reordered on resize`)],
  );
}

const CPU_AND_MEMORY = 'only cpu and memory resources';

const onlyResized = ({ resources: now, ...rest }: Container, { resources: old, ...before }: Container): boolean =>
  same(rest, before) && same(withoutResizable(now), withoutResizable(old));

const validateContainer = (container: Container, old: Container): FieldError[] =>
  onlyResized(container, old) ? [] : [fieldError.forbidden('spec', `${CPU_AND_MEMORY} are mutable`)];

function validateInitContainer(container: Container, old: Container, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!onlyResized(container, old)) {
    errors.push(fieldError.forbidden(path, `${CPU_AND_MEMORY} for init or sidecar containers are mutable`));
  }
  const restarts = container.resizePolicy?.some(({ restartPolicy }) => restartPolicy === 'RestartContainer') === true;
  if (!restarts || isSidecar(container) || same(container, old)) return errors;
  const why = 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized';
  return [...errors, fieldError.forbidden(path, why)];
}

/** The parts of resources that a resize must not change. */
function withoutResizable({ requests = {}, limits = {}, claims = [] }: NonNullable<Resources> = {}): Json {
  const resizable = (amounts: ResourceList) =>
    Object.fromEntries(Object.entries(amounts).filter(([name]) => name !== 'cpu' && name !== 'memory'));
  return { requests: resizable(requests), limits: resizable(limits), claims };
}
