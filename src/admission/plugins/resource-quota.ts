import { type ApiObject, formatGroupResource } from '../../meta/index.ts';
import { type Quantities, subtractNonNegative } from '../../rules/index.ts';
import { ResourceQuota } from '../../types/core-v1.ts';
import type { LimitedResource } from '../configuration/kinds.ts';
import { forbidden, misconfigured } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from '../types.ts';
import { createQuotaCharges, type Quota, type QuotaCharges } from './quota-charges.ts';
import {
  evaluatorFor,
  handlesQuota,
  matchesQuota,
  type QuotaEvaluator,
  type Scope,
  scopeOf,
  scopesOf,
} from './quota-evaluators.ts';

type Initializer = Pick<PluginInitializer, 'names' | 'objects' | 'updateQuotaStatus' | 'configurations'>;

/**
 * Rejects writes that would exceed a quota of the namespace. The usage is added to the quota before the object is
 * stored, and released when it is not stored. It runs last, so that rejected requests are not charged. Usage and scopes
 * that the configuration limits need a quota that covers them.
 */
export function resourceQuota(initializer: Initializer): AdmissionPlugin {
  const { names, objects, configurations } = initializer;
  const limits = configurations.ResourceQuota?.limitedResources ?? [];
  const charges = createQuotaCharges(initializer);
  const evaluators = new Map<string, QuotaEvaluator>();
  const evaluatorOf = (request: AdmissionRequest): QuotaEvaluator => {
    const resource = formatGroupResource(request.resource);
    const evaluator = evaluators.get(resource) ?? evaluatorFor(resource, names);
    evaluators.set(resource, evaluator);
    return evaluator;
  };
  return {
    name: 'ResourceQuota',
    handles: (place) => handlesQuota(place, names),
    validate: async (request) => {
      const { namespace, object, oldObject, subresource } = request;
      if (namespace === '' || object === undefined) return;
      const evaluator = evaluatorOf(request);
      if (oldObject !== undefined && subresource === '' && evaluator.changesScope?.(object, oldObject) === false)
        return;
      const { objects: cachedQuotas, revision } = await objects.cached(ResourceQuota, namespace);
      if (cachedQuotas.length === 0 && limits.length === 0) {
        // A quota that is missing in the cache must not let the write pass uncharged.
        request.guardList?.(ResourceQuota, revision);
        return;
      }
      // Charges write quotas all the time, so that they are read consistently instead of being guarded.
      const quotas = await objects.list(ResourceQuota, namespace, true);
      if (limits.length > 0) requireCoverage(limits, request, object, evaluator, quotas);
      const matches = quotas.some((quota) => matchesQuota(quota, evaluator, object));
      if (matches) await charge(charges, request, object, evaluator);
    },
  };
}

async function charge(
  charges: QuotaCharges,
  request: AdmissionRequest,
  object: ApiObject,
  evaluator: QuotaEvaluator,
): Promise<void> {
  const { namespace, dryRun } = request;
  const deltaFor = deltaOf(request, object, evaluator);
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

/** The usage that a write adds to each quota that matches the object, limited by it or not. */
function deltaOf({ oldObject }: AdmissionRequest, object: ApiObject, evaluator: QuotaEvaluator) {
  const usage = evaluator.usage(object);
  const delta = oldObject === undefined ? usage : subtractNonNegative(usage, evaluator.usage(oldObject));
  return (quota: Quota | undefined): Quantities =>
    // A quota that did not match the old object is charged the whole usage.
    quota === undefined || oldObject === undefined || matchesQuota(quota, evaluator, oldObject) ? delta : usage;
}

/** @throws StatusError when no quota covers usage or a scope that the configuration limits */
function requireCoverage(
  limits: readonly LimitedResource[],
  request: AdmissionRequest,
  object: ApiObject,
  evaluator: QuotaEvaluator,
  quotas: readonly Quota[],
): void {
  const { group, resource } = request.resource;
  const parts = limits.filter((limit) => (limit.apiGroup ?? '') === group && limit.resource === resource);
  const limited = parts.length === 0 ? [] : [...evaluator.usage(object)].filter(([, { nano }]) => nano > 0n);
  const isLimited = (name: string) =>
    parts.some(({ matchContains = [] }) => matchContains.some((part) => name.includes(part)));
  const matching = quotas.filter((quota) => matchesQuota(quota, evaluator, object));
  const covered = new Set(
    matching.flatMap(({ status }) => Object.keys(status?.hard ?? {}).filter(evaluator.matchesResource)),
  );
  const uncovered = limited.map(([name]) => name).filter((name) => isLimited(name) && !covered.has(name));
  const inScope = (scope: Scope) => evaluator.matchesScope?.(object, scope) ?? false;
  const coveredScopes = new Set(
    quotas
      .flatMap(scopesOf)
      .filter(inScope)
      .map(({ name }) => name),
  );
  const scopes = limits
    .flatMap(({ matchScopes = [] }) => matchScopes.map(scopeOf))
    .filter((scope) => !coveredScopes.has(scope.name) && inScope(scope));
  if (uncovered.length === 0 && scopes.length === 0) return;
  const deltaFor = deltaOf(request, object, evaluator);
  const deltas = (matching.length === 0 ? [undefined] : matching).map(deltaFor);
  if (deltas.every((delta) => [...delta.values()].every(({ nano }) => nano === 0n))) return;
  // Errors of the object in a quota that matches it are reported first.
  for (const quota of matching) usageInQuota(request, quota, object, evaluator, deltaFor(quota));
  if (uncovered.length > 0) throw forbidden(request, `insufficient quota to consume: ${uncovered.sort().join(',')}`);
  const scopeTexts = scopes.map(({ name, operator, values }) => `{${name} ${operator} [${values.join(' ')}]}`);
  throw misconfigured(`insufficient quota to match these scopes: [${scopeTexts.join(' ')}]`);
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
  if (limited.some((resource) => !Object.hasOwn(used ?? {}, resource))) {
    throw forbidden(request, `status unknown for quota: ${name}, resources: ${limited.sort().join(',')}`);
  }
  const names = new Set(limited);
  return new Map([...more].filter(([resource, { nano }]) => names.has(resource) && nano > 0n));
}
