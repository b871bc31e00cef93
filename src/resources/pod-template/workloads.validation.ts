/** Validation and warnings that workload kinds share. */
import {
  type ApiObject,
  errorsWith,
  type FieldError,
  fieldError,
  type Json,
  jsonEqual,
  type Names,
  type ObjectMeta,
  selectorFromObject,
  validateSelectorObject,
  withoutReplaced,
} from '../../meta/index.ts';
import { compile, type StructSchema, validate } from '../../schema/index.ts';
import type { PodTemplateSpec } from '../../types/core-v1.ts';
import type { LabelSelector } from '../../types/meta-v1.ts';
import type { PodValidationContext } from '../shared/field-rules.ts';
import { validateTemplate } from './pod-spec.validation.ts';
import { podNameWarnings, templateWarnings } from './pod-spec.warnings.ts';

type Selector = LabelSelector | null | undefined;

export const isEmptySelector = (selector: Selector): boolean =>
  selector !== null &&
  selector !== undefined &&
  Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length === 0;

/** Requires that the selector matches the labels of the template. */
export function validateSelected(selector: Selector, template: PodTemplateSpec, path: string): FieldError[] {
  const { labels } = template.metadata ?? {};
  if (selectorFromObject(selector).matches(labels)) return [];
  return [fieldError.invalid(`${path}.metadata.labels`, labels, '`selector` does not match template `labels`')];
}

/**
 * Validates the selector and the template of a workload that requires both; `kind` is its name in errors of the
 * template.
 */
export function validateWorkload(
  { selector, template }: { selector?: LabelSelector; template?: PodTemplateSpec },
  kind: string,
  rules: PodValidationContext,
): FieldError[] {
  const empty = isEmptySelector(selector)
    ? [fieldError.invalid('spec.selector', {}, 'empty selector is invalid for deployment')]
    : [];
  const errors = errorsWith(validateSelectorObject(selector, 'spec.selector'), (found) => {
    if (found.length > 0) {
      const invalid = fieldError.invalid('spec.selector', selector, 'invalid label selector');
      return [...found, ...empty, fieldError.inPlaceOf('spec.template', invalid)];
    }
    return [
      ...empty,
      ...validateSelected(selector, template ?? {}, 'spec.template'),
      ...validateWorkloadTemplate(template ?? {}, 'spec.template', kind, rules),
    ];
  });
  return [...errors];
}

/** Validates a template whose pods are always restarted. */
export const validateWorkloadTemplate = (
  template: PodTemplateSpec,
  path: string,
  kind: string,
  rules: PodValidationContext,
): FieldError[] => [...validateTemplate(template, path, rules), ...validateRestartAlways(template, path, kind)];

/** Requires `restartPolicy: Always` and no `activeDeadlineSeconds`. */
export function validateRestartAlways({ spec }: PodTemplateSpec, path: string, kind: string): FieldError[] {
  const policy = spec?.restartPolicy ?? '';
  const errors: FieldError[] = [];
  if (policy !== 'Always') errors.push(fieldError.notSupported(`${path}.spec.restartPolicy`, policy, ['Always']));
  if (spec?.activeDeadlineSeconds !== undefined) {
    const why = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.push(fieldError.forbidden(`${path}.spec.activeDeadlineSeconds`, why));
  }
  return errors;
}

/** The errors of a whole object a second time: some kinds report them from validation and from update validation. */
export const validateAgain = (object: object, schema: StructSchema, own: FieldError[], names: Names): FieldError[] => [
  ...withoutReplaced(validate(object as ApiObject, compile(schema, names)), own),
  ...own,
];

interface Counts {
  replicas?: number;
  fullyLabeledReplicas?: number;
  readyReplicas?: number;
  availableReplicas?: number;
  currentReplicas?: number;
  updatedReplicas?: number;
}

/** Requires that no replica count exceeds `replicas`; `ready` is the name of the ready replicas in errors. */
export function validateCounts(status: Counts, parts: readonly (keyof Counts)[], ready: string): FieldError[] {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = status;
  const errors = parts
    .filter((part) => (status[part] ?? 0) > replicas)
    .map((part) => fieldError.invalid(`status.${part}`, status[part] ?? 0, 'cannot be greater than status.replicas'));
  if (availableReplicas <= readyReplicas) return errors;
  return [
    ...errors,
    fieldError.invalid('status.availableReplicas', availableReplicas, `cannot be greater than ${ready}`),
  ];
}

interface Collisions {
  collisionCount?: number;
}

/** Rejects a lower `collisionCount`. */
export function validateCollisions({ collisionCount }: Collisions, old: Collisions): FieldError[] {
  if (old.collisionCount === undefined || (collisionCount ?? -1) >= old.collisionCount) return [];
  return [fieldError.invalid('status.collisionCount', collisionCount ?? 0, 'cannot be decremented')];
}

export const same = (a: Json | undefined, b: Json | undefined): boolean => jsonEqual(a, b);

interface Workload {
  metadata: ObjectMeta;
  spec?: { template?: PodTemplateSpec };
}

/** Warnings on create, and on updates that change the generation. */
export function workloadWarnings({ metadata, spec }: Workload, old: Workload | undefined, names: Names): string[] {
  if (old !== undefined && old.metadata.generation === metadata.generation) return [];
  return [
    ...(old === undefined ? podNameWarnings(metadata) : []),
    ...templateWarnings(spec?.template ?? {}, 'spec.template', names),
  ];
}
