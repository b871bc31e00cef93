import { type ApiObject, formatGroupResource } from '../meta/index.ts';
import { ResourceQuota } from '../types/core-v1.ts';
import { parseResourceList, type Quantities, subtractNonNegative } from '../types/resource-list.ts';
import { createQuotaCharges, type Quota, type QuotaCharges } from './quota-charges.ts';
import { evaluatorFor, handlesQuota, matchesQuota, type QuotaEvaluator } from './quota-evaluators.ts';
import { forbidden } from './request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from './types.ts';

type Initializer = Pick<PluginInitializer, 'names' | 'objects' | 'updateQuotaStatus'>;

/**
 * Rejects writes that would exceed a quota of the namespace. The usage is added to the quota before the object is
 * stored, and released when it is not stored. It runs last, so that rejected requests are not charged.
 */
export function resourceQuota(initializer: Initializer): AdmissionPlugin {
  const { names, objects } = initializer;
  const charges = createQuotaCharges(initializer);
  const evaluators = new Map<string, QuotaEvaluator>();
  const evaluatorOf = (request: AdmissionRequest): QuotaEvaluator => {
    const resource = formatGroupResource(request.resource);
    const evaluator = evaluators.get(resource) ?? evaluatorFor(resource, names);
    evaluators.set(resource, evaluator);
    return evaluator;
  };
  const check = (request: AdmissionRequest, quotas: readonly Quota[]) => {
    const { object, oldObject, subresource } = request;
    if (quotas.length === 0 || object === undefined) return undefined;
    const evaluator = evaluatorOf(request);
    if (oldObject !== undefined && subresource === '' && evaluator.changesScope?.(object, oldObject) === false)
      return undefined;
    return quotas.some((quota) => matchesQuota(quota, evaluator, object))
      ? charge(charges, request, object, evaluator)
      : undefined;
  };
  return {
    name: 'ResourceQuota',
    handles: (place) => handlesQuota(place, names),
    validate: (request) => {
      if (request.namespace === '') return undefined;
      const quotas = objects.list(ResourceQuota, request.namespace);
      return quotas instanceof Promise ? quotas.then((found) => check(request, found)) : check(request, quotas);
    },
  };
}

async function charge(
  charges: QuotaCharges,
  request: AdmissionRequest,
  object: ApiObject,
  evaluator: QuotaEvaluator,
): Promise<void> {
  const { oldObject, namespace, dryRun } = request;
  const usage = evaluator.usage(object);
  const delta = oldObject === undefined ? usage : subtractNonNegative(usage, evaluator.usage(oldObject));
  const deltaFor = (quota: Quota) =>
    // A quota that did not match the old object is charged the whole usage.
    oldObject === undefined || matchesQuota(quota, evaluator, oldObject) ? delta : usage;
  const entries = await charges.charge(namespace, {
    usageFor: (quota) =>
      matchesQuota(quota, evaluator, object)
        ? usageInQuota(request, quota, object, evaluator, deltaFor(quota))
        : undefined,
    forbid: (why) => forbidden(request, why),
    dryRun: dryRun,
  });
  if (entries.length > 0) request.onAbandon?.(() => charges.release(namespace, entries));
}

/** The usage that a write adds. @throws StatusError 403 when the quota has no status yet or the object lacks fields */
function usageInQuota(
  request: AdmissionRequest,
  quota: Quota,
  object: ApiObject,
  evaluator: QuotaEvaluator,
  more: Quantities,
): Quantities {
  const { hard, used } = quota.status ?? {};
  const { name = '' } = quota.metadata;
  const limited = Object.keys(hard ?? {}).filter(evaluator.matchesResource);
  const missing = evaluator.missingConstraints?.(object, limited);
  if (missing !== undefined) throw forbidden(request, `failed quota: ${name}: ${missing}`);
  const counted = parseResourceList(used);
  if (limited.some((resource) => !counted.has(resource))) {
    throw forbidden(request, `status unknown for quota: ${name}, resources: ${limited.sort().join(',')}`);
  }
  const names = new Set(limited);
  return new Map([...more].filter(([resource, { nano }]) => names.has(resource) && nano > 0n));
}
