import { type FieldError, fieldError, getKey, type Json, type Names } from '../../meta/index.ts';
import type { ObjectPart } from '../../registry/index.ts';
import { type Container, PodSpec } from '../types/core-v1.ts';
import { same } from '../validate/common.ts';
import type { PodObject } from './pod-object.ts';
import { lineDiff } from './pod-spec/line-diff.ts';
import { validateEphemeralContainersUpdate } from './pod-spec/pod-update.ts';
import { qosClass } from './pod-spec/qos.ts';
import { internalText } from './pod-spec/shown.ts';
import { validatePod } from './pod-spec/validate.ts';

/** Containers that are added to a pod for a look at it. */
export const ephemeralContainers: ObjectPart<PodObject> = {
  take: (pod, { spec }) => {
    const { ephemeralContainers: _, ...rest } = pod.spec ?? {};
    const given = spec?.ephemeralContainers;
    pod.spec = given === undefined ? rest : { ...rest, ephemeralContainers: given };
  },
  validate: (pod, old, { names }) => {
    const { metadata, spec = {} } = pod;
    const found = validatePod(metadata, spec, names);
    if (isMirror(old, names)) found.push(fieldError.forbidden('', 'static pods do not support ephemeral containers'));
    return [...found, ...validateEphemeralContainersUpdate(spec, old.spec ?? {})];
  },
};

/** A pod that a node made of its own accord. */
const isMirror = ({ metadata }: PodObject, { labels }: Names): boolean =>
  getKey(metadata.annotations ?? {}, `${labels}/config.mirror`) !== undefined;

type Containers = readonly Container[];
const lists = ['containers', 'initContainers'] as const;

/** How much of the node the containers of a running pod may take. */
export const resources: ObjectPart<PodObject> = {
  take: (pod, { spec: sent = {} }) => {
    const { spec = {} } = pod;
    // Other containers than there are: for validation to refuse.
    if (lists.some((list) => (sent[list] ?? []).length !== (spec[list] ?? []).length)) {
      pod.spec = sent;
      return;
    }
    for (const list of lists) {
      const containers = spec[list];
      if (containers) Object.assign(spec, { [list]: resized(containers, sent[list] ?? []) });
    }
  },
  validate: validateResize,
};

const resized = (containers: Containers, sent: Containers): Container[] =>
  containers.map((container, i) => {
    const given = sent[i];
    if (given === undefined || given.name !== container.name) return given ?? container;
    const { resources: _, resizePolicy: __, ...rest } = container;
    return {
      ...rest,
      ...(given.resources === undefined ? {} : { resources: given.resources }),
      ...(given.resizePolicy === undefined ? {} : { resizePolicy: given.resizePolicy }),
    };
  });

function validateResize(pod: PodObject, old: PodObject, { names }: { readonly names: Names }): FieldError[] {
  const { metadata, spec = {} } = pod;
  const { spec: before = {} } = old;
  const found = validatePod(metadata, spec, names);
  const refuse = (field: string, why: string) => [...found, fieldError.forbidden(field, why)];
  if (isMirror(old, names)) return refuse('', 'static pods cannot be resized');
  if (before.os?.name === 'windows') return refuse('', 'windows pods cannot be resized');
  if (old.status?.qosClass !== undefined && old.status.qosClass !== qosClass(spec)) {
    found.push(fieldError.invalid('spec', qosClass(spec), 'Pod QOS Class may not change as a result of resizing'));
  }
  if (before.resources !== undefined)
    found.push(fieldError.forbidden('spec', 'pods with pod-level resources cannot be resized'));
  for (const list of lists) found.push(...validateAmounts(spec[list] ?? [], before[list] ?? [], `spec.${list}`));
  const rest = withResources(spec, before);
  if (same(rest, before)) return found;
  const diff = lineDiff(internalText(before, PodSpec), internalText(rest, PodSpec));
  return refuse('spec', `only cpu and memory resources are mutable\n${diff}`);
}

/** Amounts that are there may change; none may go. */
function validateAmounts(containers: Containers, old: Containers, path: string): FieldError[] {
  const found: FieldError[] = [];
  containers.forEach(({ resources = {} }, i) => {
    const before = old[i]?.resources ?? {};
    for (const kind of ['requests', 'limits'] as const) {
      const gone = Object.keys(before[kind] ?? {}).some((name) => getKey(resources[kind] ?? {}, name) === undefined);
      if (!gone) continue;
      found.push(fieldError.forbidden(`${path}[${i}].resources.${kind}`, `resource ${kind} cannot be removed`));
    }
  });
  return found;
}

const resizable = new Set(['cpu', 'memory']);

/** The spec with what may not be resized as it is there, and what may as it was. */
function withResources(spec: PodSpec, old: PodSpec): PodSpec {
  const rest: PodSpec = { ...spec };
  for (const list of lists) {
    const containers = spec[list];
    // It is null where a client says so.
    if (!containers) continue;
    Object.assign(rest, {
      [list]: containers.map((container, i) => {
        const before = old[list]?.[i];
        if (before === undefined || !onlyResizableDiffer(container, before)) return container;
        const { resources: _, resizePolicy: __, ...others } = container;
        return {
          ...others,
          ...(before.resources === undefined ? {} : { resources: before.resources }),
          ...(before.resizePolicy === undefined ? {} : { resizePolicy: before.resizePolicy }),
        };
      }),
    });
  }
  return rest;
}

function onlyResizableDiffer({ resources = {} }: Container, { resources: before = {} }: Container): boolean {
  const others = ({ requests = {}, limits = {}, claims = [] }: typeof resources): Json => {
    const kept = (amounts: { readonly [name: string]: string }) =>
      Object.fromEntries(Object.entries(amounts).filter(([name]) => !resizable.has(name)));
    return { requests: kept(requests), limits: kept(limits), claims } as Json;
  };
  return same(others(resources), others(before));
}
