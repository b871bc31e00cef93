import {
  dns1123Label,
  type FieldError,
  fieldError,
  type Names,
  parseGroupVersion,
  parseQuantity,
  pathSegmentName,
} from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type {
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from '../../types/autoscaling-v2.ts';
import { byRule, eachOf, oneOf } from '../shared/field-rules.ts';
import { validateContainerResourceName } from '../shared/resource-names.ts';

type Rules = Infer<typeof HPAScalingRules>;
type Metric = Infer<typeof MetricSpec>;
type Target = Infer<typeof MetricTarget>;
interface Reference {
  kind?: string;
  name?: string;
  apiVersion?: string;
}

const MAX_WINDOW_SECONDS = 3600;
const MAX_PERIOD_SECONDS = 1800;

export function validateAutoscaler(
  spec: HorizontalPodAutoscalerSpec,
  names: Names,
  old?: HorizontalPodAutoscalerSpec,
): FieldError[] {
  const { minReplicas = 1, maxReplicas = 0, scaleTargetRef = {}, metrics, behavior } = spec;
  const errors: FieldError[] = [];
  if (minReplicas < 1) {
    errors.push(fieldError.invalid('spec.minReplicas', minReplicas, 'must be greater than or equal to 1'));
  }
  const path = 'spec.maxReplicas';
  if (maxReplicas === 0) errors.push(fieldError.required(path, 'must be set and greater than 0'));
  if (maxReplicas < 0) errors.push(fieldError.invalid(path, maxReplicas, 'must be greater than or equal to 1'));
  if (maxReplicas < minReplicas) {
    errors.push(fieldError.invalid(path, maxReplicas, 'must be greater than or equal to `minReplicas`'));
  }
  errors.push(...validateReference(scaleTargetRef, 'spec.scaleTargetRef'));
  // An invalid API version that is stored already is accepted.
  const oldReference = old?.scaleTargetRef;
  if (oldReference === undefined || versionProblem(oldReference, oldReference.kind !== CORE_KIND) === undefined) {
    errors.push(...validateVersion(scaleTargetRef, 'spec.scaleTargetRef', scaleTargetRef.kind !== CORE_KIND));
  }
  errors.push(...eachOf(metrics, 'spec.metrics', (metric, at) => validateMetric(metric, at, names)));
  if (minReplicas === 0 && !metrics?.some(({ type }) => type === 'Object' || type === 'External')) {
    const why = 'must specify at least one Object or External metric to support scaling to zero replicas';
    errors.push(fieldError.forbidden('spec.metrics', why));
  }
  return [
    ...errors,
    ...validateRules(behavior?.scaleUp, 'spec.behavior.scaleUp'),
    ...validateRules(behavior?.scaleDown, 'spec.behavior.scaleDown'),
  ];
}

/** The only kind of the core group with a scale subresource. */
const CORE_KIND = 'ReplicationController';

function versionProblem({ apiVersion = '' }: Reference, needsGroup: boolean): string | undefined {
  const parsed = parseGroupVersion(apiVersion);
  if (parsed === undefined) return `unexpected GroupVersion string: ${apiVersion}`;
  return needsGroup && parsed.group === '' ? 'apiVersion must specify API group' : undefined;
}

function validateVersion(reference: Reference, path: string, needsGroup: boolean): FieldError[] {
  const problem = versionProblem(reference, needsGroup);
  return problem === undefined ? [] : [fieldError.invalid(`${path}.apiVersion`, reference.apiVersion ?? '', problem)];
}

const validateReference = ({ kind = '', name = '' }: Reference, path: string): FieldError[] => [
  ...requiredPathSegment(`${path}.kind`, kind),
  ...requiredPathSegment(`${path}.name`, name),
];

const requiredPathSegment = (path: string, value: string): FieldError[] =>
  value === '' ? [fieldError.required(path)] : byRule(path, value, pathSegmentName);

/** The source field of each metric type, in the order of validation. */
const sourceOf = {
  Object: 'object',
  External: 'external',
  Pods: 'pods',
  Resource: 'resource',
  ContainerResource: 'containerResource',
} as const;
type SourceName = (typeof sourceOf)[keyof typeof sourceOf];
const metricTypes = Object.keys(sourceOf).sort();

function validateMetric(metric: Metric, path: string, names: Names): FieldError[] {
  const { type = '' } = metric;
  const errors: FieldError[] = [];
  if (type === '') errors.push(fieldError.required(`${path}.type`, 'must specify a metric source type'));
  // Reported twice: for the type, and for the source that it names.
  errors.push(...oneOf(`${path}.type`, type, metricTypes), ...oneOf(`${path}.type`, type, metricTypes));
  const present = Object.values(sourceOf).filter((name) => metric[name] !== undefined);
  const [first] = present;
  if (first !== undefined) errors.push(...validateSource(metric, first, `${path}.${first}`, names));
  const expected = (sourceOf as { readonly [type: string]: SourceName })[type];
  if (expected !== undefined && metric[expected] === undefined) {
    errors.push(fieldError.required(`${path}.${expected}`, 'must populate information for the given metric source'));
  }
  if (present.length === 1) return errors;
  const others = present.filter((name) => name !== expected);
  const why = 'must populate the given metric source only';
  return [...errors, ...others.map((name) => fieldError.forbidden(`${path}.${name}`, why))];
}

function validateSource(metric: Metric, name: SourceName, path: string, names: Names): FieldError[] {
  const { object, external, pods, resource, containerResource } = metric;
  switch (name) {
    case 'object':
      return [
        ...validateReference(object?.describedObject ?? {}, `${path}.describedObject`),
        ...validateVersion(object?.describedObject ?? {}, `${path}.describedObject`, false),
        ...validateIdentifier(object?.metric ?? {}, `${path}.metric`),
        ...validateValue(object?.target ?? {}, `${path}.target`, 'must set either a target value or averageValue'),
      ];
    case 'external':
      return [
        ...validateIdentifier(external?.metric ?? {}, `${path}.metric`),
        ...validateValue(
          external?.target ?? {},
          `${path}.target`,
          'must set either a target value for metric or a per-pod target',
        ),
        ...(external?.target?.value !== undefined && external.target.averageValue !== undefined
          ? [
              fieldError.forbidden(
                `${path}.target.value`,
                'may not set both a target value for metric and a per-pod target',
              ),
            ]
          : []),
      ];
    case 'pods':
      return [
        ...validateIdentifier(pods?.metric ?? {}, `${path}.metric`),
        ...validateTarget(pods?.target ?? {}, `${path}.target`),
        ...(pods?.target?.averageValue !== undefined
          ? []
          : [fieldError.required(`${path}.target.averageValue`, 'must specify a positive target averageValue')]),
      ];
    case 'resource':
      return validateResource(resource?.name, resource?.target ?? {}, path);
    case 'containerResource': {
      const { container = '', name: resourceName = '', target = {} } = containerResource ?? {};
      return [
        ...(resourceName === '' ? [] : validateContainerResourceName(resourceName, `${path}.name`, names)),
        ...validateResource(resourceName, target, path),
        ...(container === ''
          ? [fieldError.required(`${path}.container`, 'must specify a container')]
          : byRule(`${path}.container`, container, dns1123Label)),
      ];
    }
  }
}

const isPositive = (amount: string | undefined): boolean => amount !== undefined && parseQuantity(amount).nano > 0n;

function validateIdentifier({ name = '' }: Infer<typeof MetricIdentifier>, path: string): FieldError[] {
  if (name === '') return [fieldError.required(`${path}.name`, 'must specify a metric name')];
  return byRule(`${path}.name`, name, pathSegmentName);
}

function validateTarget({ type = '', value, averageValue, averageUtilization }: Target, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (type === '') errors.push(fieldError.required(`${path}.type`, 'must specify a metric target type'));
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    errors.push(fieldError.invalid(`${path}.type`, type, 'must be either Utilization, Value, or AverageValue'));
  }
  for (const [field, amount] of Object.entries({ value, averageValue })) {
    if (amount === undefined || isPositive(amount)) continue;
    errors.push(fieldError.invalid(`${path}.${field}`, amount, 'must be positive'));
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    errors.push(fieldError.invalid(`${path}.averageUtilization`, averageUtilization, 'must be greater than 0'));
  }
  return errors;
}

function validateValue(target: Target, path: string, why: string): FieldError[] {
  const errors = validateTarget(target, path);
  if (target.value !== undefined || target.averageValue !== undefined) return errors;
  return [...errors, fieldError.required(`${path}.averageValue`, why)];
}

function validateResource(name: string | undefined, target: Target, path: string): FieldError[] {
  const errors = name ? [] : [fieldError.required(`${path}.name`, 'must specify a resource name')];
  errors.push(...validateTarget(target, `${path}.target`));
  const { averageUtilization: share, averageValue: value } = target;
  if (share === undefined && value === undefined) {
    const why = 'must set either a target raw value or a target utilization';
    errors.push(fieldError.required(`${path}.target.averageUtilization`, why));
  }
  if (share !== undefined && value !== undefined) {
    const why = 'may not set both a target raw value and a target utilization';
    errors.push(fieldError.forbidden(`${path}.target.averageValue`, why));
  }
  return errors;
}

function validateRules(rules: Rules | undefined, path: string): FieldError[] {
  if (rules === undefined) return [];
  const { stabilizationWindowSeconds: seconds = 0, policies = [], tolerance } = rules;
  const errors: FieldError[] = [];
  const at = `${path}.stabilizationWindowSeconds`;
  if (seconds < 0) errors.push(fieldError.invalid(at, seconds, 'must be greater than or equal to zero'));
  if (seconds > MAX_WINDOW_SECONDS) {
    errors.push(fieldError.invalid(at, seconds, `must be less than or equal to ${MAX_WINDOW_SECONDS}`));
  }
  if (policies.length === 0) errors.push(fieldError.required(`${path}.policies`, 'must specify at least one Policy'));
  if (tolerance !== undefined && parseQuantity(tolerance).nano < 0n) {
    errors.push(fieldError.invalid(`${path}.tolerance`, tolerance, 'must be greater than or equal to 0'));
  }
  return [...errors, ...eachOf(policies, `${path}.policies`, validatePolicy)];
}

function validatePolicy(policy: Infer<typeof HPAScalingPolicy>, path: string): FieldError[] {
  const { type = '', value = 0, periodSeconds: period = 0 } = policy;
  const errors = oneOf(`${path}.type`, type, ['Percent', 'Pods']);
  if (value <= 0) errors.push(fieldError.invalid(`${path}.value`, value, 'must be greater than zero'));
  const at = `${path}.periodSeconds`;
  if (period <= 0) errors.push(fieldError.invalid(at, period, 'must be greater than zero'));
  if (period > MAX_PERIOD_SECONDS) {
    errors.push(fieldError.invalid(at, period, `must be less than or equal to ${MAX_PERIOD_SECONDS}`));
  }
  return errors;
}
