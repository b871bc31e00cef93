import {
  compareQuantities,
  dns1123Label,
  dns1123Subdomain,
  errorsLater,
  errorsOfEach,
  type FieldError,
  fieldError,
  formatQuantity,
  getKey,
  isLarge,
  type JsonObject,
  type Names,
  parseQuantity,
  qualifiedName,
} from '../../meta/index.ts';
import {
  aggregateContainers,
  compareQuantityTexts,
  isHugePages,
  isInteger,
  isOvercommittable,
  isPodLevelResource,
  podLevelResources,
  type ResourceList,
} from '../../rules/index.ts';
import type { Infer } from '../../schema/index.ts';
import {
  type ContainerResizePolicy,
  PodResourceClaim,
  type PodSpec,
  type ResourceClaim,
  type ResourceRequirements,
} from '../../types/core-v1.ts';
import { byRule, eachOf, type PodSpecContext } from '../shared/field-rules.ts';
import { internalForm } from '../shared/internal-go-form.ts';
import { validateContainerResourceName, validateResourceName } from '../shared/resource-names.ts';

const NANO = 1_000_000_000n;
const isQualified = (name: string): boolean => qualifiedName(name).length === 0;

/** Validates a resource name at a path. */
type ResourceRule = (name: string, path: string, names: Names) => FieldError[];

const podResource: ResourceRule = (name, path) => {
  const errors = validateResourceName(name, path);
  if (errors.length > 0 || isPodLevelResource(name)) return errors;
  return [fieldError.notSupported(path, name, podLevelResources)];
};

/** Validates a quantity: not negative, and an integer for integer resources. */
export function validateAmount(name: string, amount: string, path: string, names: Names): FieldError[] {
  const { nano } = parseQuantity(amount);
  const errors: FieldError[] = [];
  if (nano < 0n) errors.push(fieldError.invalid(path, amount, 'must be greater than or equal to 0'));
  if (nano % NANO !== 0n && isInteger(name, names, isQualified)) {
    errors.push(fieldError.invalid(path, amount, 'must be an integer'));
  }
  return errors;
}

/** Requires that a quantity, rounded away from zero, is not negative. */
export function validateNonNegativeWhole(amount: string, path: string): FieldError[] {
  const { nano } = parseQuantity(amount);
  if (nano >= 0n) return [];
  return [fieldError.invalid(path, Number((nano - NANO + 1n) / NANO), 'must be a valid resource quantity')];
}

function validateHugePages(name: string, amount: string, path: string): FieldError[] {
  if (!isHugePages(name)) return [];
  const size = sizeOf(name);
  const { nano } = parseQuantity(amount);
  if (size > 0n && nano % size === 0n && nano >= 0n) return [];
  return [fieldError.invalid(path, amount, `${amount} is not positive integer multiple of ${name}`)];
}

/** The page size in the name of a huge page resource; 0 when the name has none. */
function sizeOf(name: string): bigint {
  try {
    return parseQuantity(name.slice('hugepages-'.length)).nano;
  } catch {
    return 0n;
  }
}

type Requirements = ResourceRequirements;

/**
 * Validates resource requirements of a container, an overhead or a pod. Those of many resources have a step of their own:
 * other containers may have as many.
 */
const validateRequirements = (requirements: Requirements, ...rules: Rules): FieldError[] =>
  isLarge(requirements as JsonObject)
    ? errorsLater(() => requirementErrors(requirements, ...rules))
    : requirementErrors(requirements, ...rules);

type Rules = readonly [path: string, rule: ResourceRule, claimNames: ReadonlySet<string>, names: Names];

function requirementErrors(
  { limits = {}, requests = {}, claims }: Requirements,
  ...[path, rule, claimNames, names]: Rules
): FieldError[] {
  const ofLimits = errorsOfEach(Object.entries(limits), ([name, amount]) => {
    const at = `${path}.limits[${name}]`;
    return [
      ...rule(name, at, names),
      ...validateAmount(name, amount, at, names),
      ...validateHugePages(name, amount, at),
    ];
  });
  const ofRequests = errorsOfEach(Object.entries(requests), ([name, amount]) => {
    const at = `${path}.requests[${name}]`;
    const errors = [...rule(name, at, names), ...validateAmount(name, amount, at, names)];
    const limit = getKey(limits, name);
    const bounded = !isOvercommittable(name, names);
    if (limit === undefined) {
      const why = 'Limit must be set for non overcommitable resources';
      if (bounded) errors.push(fieldError.required(`${path}.limits`, why));
    } else if (bounded && compareQuantityTexts(amount, limit) !== 0) {
      errors.push(fieldError.invalid(`${path}.requests`, amount, `must be equal to ${name} limit of ${limit}`));
    } else if (compareQuantityTexts(amount, limit) > 0) {
      errors.push(
        fieldError.invalid(`${path}.requests`, amount, `must be less than or equal to ${name} limit of ${limit}`),
      );
    }
    return [...errors, ...validateHugePages(name, amount, at)];
  });
  const errors = [...ofLimits, ...ofRequests];
  const resourceNames = [...Object.keys(limits), ...Object.keys(requests)];
  if (resourceNames.some(isHugePages) && !resourceNames.includes('cpu') && !resourceNames.includes('memory')) {
    errors.push(fieldError.forbidden(path, 'HugePages require cpu or memory'));
  }
  return [...errors, ...validateClaims(claims ?? [], claimNames, `${path}.claims`)];
}

type Claim = Infer<typeof ResourceClaim>;

/** Validates `resources.claims`: each refers to a claim of the pod, once as a whole or once for each request. */
function validateClaims(claims: readonly Claim[], claimNames: ReadonlySet<string>, path: string): FieldError[] {
  const seen = new Set<string>();
  // The number of different requests of each claim.
  const requests = new Map<string, number>();
  const list = claimNames.size === 0 ? ' which is empty' : `: ${[...claimNames].sort().join(', ')}`;
  return eachOf(claims, path, ({ name = '', request = '' }, at) => {
    if (name === '') return [fieldError.required(at)];
    const errors: FieldError[] = [];
    if (seen.has(name)) errors.push(fieldError.duplicate(at, name));
    else {
      const key = request === '' ? name : `${name}/${request}`;
      if (request !== '') errors.push(...byRule(`${at}.request`, request, dns1123Label));
      if (seen.has(key)) errors.push(fieldError.duplicate(at, key));
      else if (request !== '') requests.set(name, (requests.get(name) ?? 0) + 1);
      else errors.push(...Array.from({ length: requests.get(name) ?? 0 }, () => fieldError.duplicate(at, name)));
      seen.add(key);
    }
    if (!claimNames.has(name)) {
      const error = fieldError.notFound(at, name);
      errors.push({
        ...error,
        message: `${error.message}: must be one of the names in pod.spec.resourceClaims${list}`,
      });
    }
    return errors;
  });
}

/** Validates `resources` of a container. */
export const validateContainerResources = (
  resources: Requirements | undefined,
  path: string,
  claimNames: ReadonlySet<string>,
  { names }: PodSpecContext,
): FieldError[] => validateRequirements(resources ?? {}, path, validateContainerResourceName, claimNames, names);

const none: ReadonlySet<string> = new Set();

/** Validates the overhead of a pod. */
export const validateOverhead = (overhead: ResourceList, path: string, names: Names): FieldError[] =>
  validateRequirements({ limits: overhead }, path, validateContainerResourceName, none, names);

/** Validates pod-level `resources`. */
export function validatePodResources(
  spec: PodSpec,
  claimNames: ReadonlySet<string>,
  path: string,
  names: Names,
): FieldError[] {
  const { resources } = spec;
  if (resources === undefined) return [];
  if (spec.os?.name === 'windows') return [fieldError.forbidden(path, 'may not be set for a windows pod')];
  const errors: FieldError[] = [];
  if (resources.claims !== undefined) {
    errors.push(fieldError.forbidden(`${path}.claims`, 'claims cannot be set for Resources at pod-level'));
  }
  errors.push(...validateRequirements(resources, path, podResource, claimNames, names));
  for (const kind of ['requests', 'limits'] as const) {
    for (const [name, amount] of aggregateContainers(spec, kind)) {
      // The limits of containers may exceed the pod's, except for huge pages; resources that the pod does not list are
      // not compared.
      if (kind === 'limits' && !isHugePages(name)) continue;
      const whole = getKey(resources[kind] ?? {}, name);
      if (whole === undefined || compareQuantities(amount, parseQuantity(whole)) <= 0) continue;
      const why = `must be greater than or equal to aggregate container ${kind} of ${formatQuantity(amount)}`;
      errors.push(fieldError.invalid(`${path}.${kind}[${name}]`, whole, why));
    }
  }
  spec.containers?.forEach((container, i) => {
    for (const [name, limit] of Object.entries(container.resources?.limits ?? {})) {
      const whole = getKey(resources.limits ?? {}, name);
      if (whole === undefined || compareQuantityTexts(limit, whole) <= 0) continue;
      const at = `${path}.containers[${i}][${name}].limits`;
      errors.push(fieldError.invalid(at, limit, `must be less than or equal to pod limits of ${whole}`));
    }
  });
  return errors;
}

const resizable = ['cpu', 'memory'];
const resizePolicies = ['NotRequired', 'RestartContainer'];

/** Validates `resizePolicy` of a container. */
export function validateResizePolicy(
  policies: readonly Infer<typeof ContainerResizePolicy>[] | undefined,
  podRestartPolicy: string | undefined,
  path: string,
): FieldError[] {
  const seen = new Set<string>();
  return eachOf(policies, path, ({ resourceName = '', restartPolicy = '' }, at) => {
    const errors: FieldError[] = [];
    if (seen.has(resourceName)) errors.push(fieldError.duplicate(at, resourceName));
    seen.add(resourceName);
    for (const [value, supportedValues] of [
      [resourceName, resizable],
      [restartPolicy, resizePolicies],
    ] as const) {
      if (value === '') errors.push(fieldError.required(path));
      else if (!supportedValues.includes(value)) errors.push(fieldError.notSupported(path, value, supportedValues));
    }
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      const why = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
      errors.push(fieldError.invalid(path, restartPolicy, why));
    }
    return errors;
  });
}

/** Validates `resourceClaims` of a pod. */
export function validateResourceClaims(
  claims: readonly Infer<typeof PodResourceClaim>[] | undefined,
  path: string,
): FieldError[] {
  const seen = new Set<string>();
  return eachOf(claims, path, (claim, at) => {
    const { name = '', resourceClaimName: existing, resourceClaimTemplateName: template } = claim;
    const errors: FieldError[] = [];
    if (name === '') errors.push(fieldError.required(`${at}.name`));
    else if (seen.has(name)) errors.push(fieldError.duplicate(`${at}.name`, name));
    else errors.push(...byRule(`${at}.name`, name, dns1123Label));
    seen.add(name);
    if (existing !== undefined && template !== undefined) {
      const why = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
      errors.push(fieldError.invalid(at, internalForm(claim, PodResourceClaim), why));
    }
    if (existing === undefined && template === undefined) {
      const why = 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`';
      errors.push(fieldError.invalid(at, internalForm(claim, PodResourceClaim), why));
    }
    if (existing !== undefined) errors.push(...byRule(`${at}.resourceClaimName`, existing, dns1123Subdomain));
    if (template !== undefined) errors.push(...byRule(`${at}.resourceClaimTemplateName`, template, dns1123Subdomain));
    return errors;
  });
}
