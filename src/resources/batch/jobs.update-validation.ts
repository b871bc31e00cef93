import { type FieldError, fieldError, immutable, type Json } from '../../meta/index.ts';
import { type JobSpec, type JobStatus, PodFailurePolicy, SuccessPolicy } from '../../types/batch-v1.ts';
import { PodSpec, type PodTemplateSpec } from '../../types/core-v1.ts';
import { same } from '../pod-template/workloads.validation.ts';
import { internalForm } from '../shared/internal-go-form.ts';

/** Validates an update of a job. */
export function validateJobUpdate(spec: JobSpec, old: JobSpec, oldStatus: JobStatus): FieldError[] {
  const errors = validateCompletions(spec, old);
  const keep = (field: keyof JobSpec, displayed: Json | undefined) => {
    if (!same(spec[field], old[field])) errors.push(immutable(`spec.${field}`, displayed));
  };
  keep('selector', spec.selector);
  const template = spec.template ?? {};
  // The scheduling directives of a suspended job are mutable until it has started.
  const open = old.suspend === true && oldStatus.startTime === undefined;
  const allowedTemplate = open ? withDirectives(old.template ?? {}, template) : old.template;
  if (!same(template, allowedTemplate)) errors.push(immutable('spec.template', showTemplate(template)));
  keep('completionMode', spec.completionMode);
  keep('podFailurePolicy', spec.podFailurePolicy && internalForm(spec.podFailurePolicy, PodFailurePolicy));
  keep('backoffLimitPerIndex', spec.backoffLimitPerIndex);
  keep('managedBy', spec.managedBy);
  keep('successPolicy', spec.successPolicy && internalForm(spec.successPolicy, SuccessPolicy));
  return errors;
}

function showTemplate({ metadata, spec }: PodTemplateSpec): Json {
  const printedValue = Object.entries(metadata ?? {}).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(printedValue), Spec: internalForm(spec, PodSpec) };
}

/** Validates a change of `completions`: an elastic indexed job may change it together with `parallelism`. */
function validateCompletions(spec: JobSpec, old: JobSpec): FieldError[] {
  const { completions, parallelism } = spec;
  if (completions === old.completions) return [];
  if (spec.completionMode !== 'Indexed') return [immutable('spec.completions', completions)];
  if (completions === undefined || completions === parallelism) return [];
  return [fieldError.invalid('spec.completions', completions, 'can only be modified in tandem with spec.parallelism')];
}

/** A template with the scheduling directives of another one. */
function withDirectives(template: PodTemplateSpec, from: PodTemplateSpec): PodTemplateSpec {
  const { annotations: _a, labels: _l, ...metadata } = template.metadata ?? {};
  const { nodeSelector: _n, tolerations: _t, schedulingGates: _s, affinity, ...spec } = template.spec ?? {};
  const { annotations, labels } = from.metadata ?? {};
  const { nodeSelector, tolerations, schedulingGates, affinity: nodeAffinity } = from.spec ?? {};
  const { nodeAffinity: _, ...others } = affinity ?? {};
  const nodes = nodeAffinity?.nodeAffinity;
  const merged = { ...others, ...(nodes === undefined ? {} : { nodeAffinity: nodes }) };
  const cleared = Object.keys(merged).length === 0 && nodeAffinity === undefined;
  return {
    metadata: { ...metadata, ...defined({ annotations, labels }) },
    spec: {
      ...spec,
      ...defined({ nodeSelector, tolerations, schedulingGates }),
      ...((affinity === undefined && nodeAffinity === undefined) || cleared ? {} : { affinity: merged }),
    },
  };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

const defined = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
