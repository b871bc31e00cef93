import {
  errorsLater,
  type FieldError,
  fieldError,
  type Json,
  jsonEqual,
  type Names,
  type ObjectMeta,
} from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import { type Container, EphemeralContainer, NodeSelectorTerm, PodSpec, type Toleration } from '../../types/core-v1.ts';
import { validateAnnotationsUpdate, validatePodAnnotations } from '../pod-template/annotations.ts';
import { validateTolerations } from '../pod-template/scheduling.ts';
import { internalDiff, internalForm } from '../shared/internal-go-form.ts';

const MAX_DEADLINE = 2_147_483_647;

const changeable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

const equal = (a: Json | undefined, b: Json | undefined): boolean => jsonEqual(a, b);

/** Validates an update of the metadata of a pod. */
export function validatePodMetaUpdate(
  metadata: ObjectMeta,
  old: ObjectMeta,
  spec: PodSpec,
  names: Names,
): FieldError[] {
  const path = 'metadata.annotations';
  const annotations = metadata.annotations ?? {};
  return [
    ...validateAnnotationsUpdate(annotations, old.annotations ?? {}, path, names),
    ...validatePodAnnotations(annotations, spec, path, names),
  ];
}

/** Validates an update of a pod spec: immutable but for a few fields. */
export function validatePodSpecUpdate(spec: PodSpec, old: PodSpec): FieldError[] {
  if (equal(spec, old)) return [];
  const errors: FieldError[] = [];
  for (const field of ['containers', 'initContainers'] as const) {
    const containers = spec[field] ?? [];
    if (containers.length !== (old[field] ?? []).length) {
      return [...errors, fieldError.forbidden(`spec.${field}`, 'pod updates may not add or remove containers')];
    }
    errors.push(...validateImages(containers, `spec.${field}`));
  }
  const { activeDeadlineSeconds: deadline } = spec;
  const { activeDeadlineSeconds: before } = old;
  const at = 'spec.activeDeadlineSeconds';
  if (deadline !== undefined) {
    if (deadline < 0 || deadline > MAX_DEADLINE) {
      return [...errors, fieldError.invalid(at, deadline, `must be between 0 and ${MAX_DEADLINE}, inclusive`)];
    }
    if (before !== undefined && before < deadline) {
      return [...errors, fieldError.invalid(at, deadline, 'must be less than or equal to previous value')];
    }
  } else if (before !== undefined) {
    errors.push(fieldError.invalid(at, null, 'must not update from a positive integer to nil value'));
  }
  errors.push(...validateAddedTolerations(spec.tolerations ?? [], old.tolerations ?? []));
  errors.push(...validateRemovedGates(spec, old));
  return [...errors, ...validateRest(spec, old)];
}

const validateImages = (containers: readonly Container[], path: string): FieldError[] =>
  containers.flatMap(({ image = '' }, i) => {
    const field = `${path}[${i}].image`;
    if (image === '') return [fieldError.required(field)];
    if (image.trim() === image) return [];
    return [fieldError.invalid(field, image, 'must not have leading or trailing whitespace')];
  });

function validateAddedTolerations(tolerations: readonly Toleration[], old: readonly Toleration[]): FieldError[] {
  const path = 'spec.tolerations';
  const tolerated = new Set(tolerations.map(tolerationKey));
  if (old.every((one) => tolerated.has(tolerationKey(one)))) return validateTolerations(tolerations, path);
  return [fieldError.forbidden(path, 'existing toleration can not be modified except its tolerationSeconds')];
}

/** The identity of a toleration: all but `tolerationSeconds`. */
const tolerationKey = ({ key = '', operator = '', value = '', effect = '' }: Toleration): string =>
  JSON.stringify([key, operator, value, effect]);

function validateRemovedGates({ schedulingGates = [] }: PodSpec, old: PodSpec): FieldError[] {
  const before = new Set((old.schedulingGates ?? []).map(({ name }) => name));
  return schedulingGates.flatMap(({ name = '' }, i) =>
    before.has(name)
      ? []
      : [
          fieldError.forbidden(
            `spec.schedulingGates[${i}].name`,
            `only deletion is allowed, but found new scheduling gate '${name}'`,
          ),
        ],
  );
}

/** The error for a change of any other field; it shows the difference. */
function validateRest(spec: PodSpec, old: PodSpec): FieldError[] {
  const errors: FieldError[] = [];
  const rest: PodSpec = {
    ...spec,
    ...(spec.containers === undefined ? {} : { containers: withImages(spec.containers, old.containers) }),
    ...(spec.initContainers === undefined
      ? {}
      : { initContainers: withImages(spec.initContainers, old.initContainers) }),
  };
  restore(rest, old, ['activeDeadlineSeconds', 'schedulingGates', 'tolerations']);
  if ((old.terminationGracePeriodSeconds ?? 0) < 0 && rest.terminationGracePeriodSeconds === 1) {
    restore(rest, old, ['terminationGracePeriodSeconds']);
  }
  if ((old.schedulingGates ?? []).length > 0) {
    errors.push(...validateGatedChanges(spec, old));
    restore(rest, old, ['nodeSelector']);
    if (!equal(spec.affinity?.nodeAffinity, old.affinity?.nodeAffinity)) restoreNodeAffinity(rest, old);
  }
  if (equal(rest, old)) return errors;
  const diff = internalDiff(old, rest, PodSpec);
  return [
    ...errors,
    fieldError.forbidden('spec', `pod updates may not change fields other than ${changeable}\n${diff}`),
  ];
}

const withImages = (containers: readonly Container[], old: readonly Container[] | undefined): Container[] =>
  containers.map((container, i) => {
    const { image: _, ...rest } = container;
    const image = old?.[i]?.image;
    return image === undefined ? rest : { ...rest, image };
  });

function restore(spec: PodSpec, old: PodSpec, fields: readonly (keyof PodSpec)[]): void {
  for (const field of fields) {
    delete spec[field];
    if (old[field] !== undefined) Object.assign(spec, { [field]: old[field] });
  }
}

function restoreNodeAffinity(spec: PodSpec, old: PodSpec): void {
  const { nodeAffinity: _, ...others } = spec.affinity ?? {};
  const before = old.affinity?.nodeAffinity;
  const affinity = { ...others, ...(before === undefined ? {} : { nodeAffinity: before }) };
  if (Object.keys(affinity).length > 0 || old.affinity !== undefined) spec.affinity = affinity;
  else delete spec.affinity;
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

/** Validates an update of a pod with scheduling gates: node selector and node affinity may become more restrictive. */
function validateGatedChanges(spec: PodSpec, old: PodSpec): FieldError[] {
  const { nodeSelector = {} } = spec;
  const errors: FieldError[] = [];
  if (Object.entries(old.nodeSelector ?? {}).some(([key, value]) => nodeSelector[key] !== value)) {
    const why = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
    errors.push(fieldError.invalid('spec.nodeSelector', spec.nodeSelector, why));
  }
  const terms = spec.affinity?.nodeAffinity?.[REQUIRED]?.nodeSelectorTerms ?? [];
  const before = old.affinity?.nodeAffinity?.[REQUIRED]?.nodeSelectorTerms ?? [];
  const path = `spec.affinity.nodeAffinity.${REQUIRED}.nodeSelectorTerms`;
  if (before.length === 0) return errors;
  if (terms.length !== before.length) {
    const why = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed';
    const printedValue = terms.length === 0 ? null : terms.map((term) => internalForm(term, NodeSelectorTerm));
    return [...errors, fieldError.invalid(path, printedValue, why)];
  }
  terms.forEach((term, i) => {
    if (extendsTerm(term, before[i] ?? {})) return;
    const why = 'only additions are allowed (no mutations or deletions)';
    errors.push(fieldError.invalid(`${path}[${i}]`, internalForm(term, NodeSelectorTerm), why));
  });
  return errors;
}

type Term = Infer<typeof NodeSelectorTerm>;

function extendsTerm(term: Term, old: Term): boolean {
  const lists = ['matchExpressions', 'matchFields'] as const;
  // An empty term matches no node; adding expressions could make it match some.
  if (lists.every((list) => (old[list] ?? []).length === 0))
    return lists.every((list) => (term[list] ?? []).length === 0);
  return lists.every((list) => {
    const before = old[list] ?? [];
    return equal((term[list] ?? []).slice(0, before.length), before);
  });
}

/** Validates an update through `ephemeralcontainers`: existing containers are immutable. */
export function validateEphemeralContainersUpdate(spec: PodSpec, old: PodSpec): FieldError[] {
  const path = 'spec.ephemeralContainers';
  const now = new Map((spec.ephemeralContainers ?? []).map((container) => [container.name, container]));
  return (old.ephemeralContainers ?? []).flatMap((before) => {
    const text = JSON.stringify(before.name);
    const after = now.get(before.name);
    if (after === undefined) {
      return [fieldError.forbidden(path, `existing ephemeral containers ${text} may not be removed\n`)];
    }
    if (equal(after, before)) return [];
    return errorsLater(() => {
      const diff = internalDiff(before, after, EphemeralContainer);
      return [fieldError.forbidden(path, `existing ephemeral containers ${text} may not be changed\n${diff}`)];
    });
  });
}
