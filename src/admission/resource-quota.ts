import { type ApiObject, formatGroupResource } from '../meta/index.ts';
import { type Amounts, lessAtLeastZero, readAmounts } from './amounts.ts';
import { fieldsOf, forbidden } from './fields.ts';
import { createLedger, type Ledger } from './quota-ledger.ts';
import { counts, isMetered, type Meter, meterOf } from './quota-usage.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from './types.ts';

type World = Pick<PluginInitializer, 'names' | 'objects' | 'chargeQuota'>;

/**
 * Nothing is stored that would exceed a quota of its namespace. What a write takes up is added to the quota before it
 * is stored, and taken back when it is not. It comes last: whatever others refuse is not counted.
 */
export function resourceQuota(world: World): AdmissionPlugin {
  const { names, objects } = world;
  const ledger = createLedger(world);
  const meters = new Map<string, Meter>();
  const meterFor = (request: AdmissionRequest): Meter => {
    const resource = formatGroupResource(request.resource);
    const meter = meters.get(resource) ?? meterOf(resource, names);
    meters.set(resource, meter);
    return meter;
  };
  const check = (request: AdmissionRequest, quotas: readonly ApiObject[]) => {
    const { object, oldObject, subresource } = request;
    if (quotas.length === 0 || object === undefined) return undefined;
    const meter = meterFor(request);
    if (oldObject !== undefined && subresource === '' && meter.moves?.(object, oldObject) === false) return undefined;
    return quotas.some((quota) => counts(quota, meter, object)) ? charge(ledger, request, object, meter) : undefined;
  };
  return {
    name: 'ResourceQuota',
    handles: (place) => isMetered(place, names),
    validate: (request) => {
      if (request.namespace === '') return undefined;
      const quotas = objects.list('resourcequotas', request.namespace);
      return quotas instanceof Promise ? quotas.then((found) => check(request, found)) : check(request, quotas);
    },
  };
}

async function charge(ledger: Ledger, request: AdmissionRequest, object: ApiObject, meter: Meter): Promise<void> {
  const { oldObject, namespace, dryRun } = request;
  const usage = meter.usage(object);
  const growth = oldObject === undefined ? usage : lessAtLeastZero(usage, meter.usage(oldObject));
  const moreFor = (quota: ApiObject) =>
    // An object that only now comes under a quota is counted there as a whole.
    oldObject === undefined || counts(quota, meter, oldObject) ? growth : usage;
  const entries = await ledger.charge(namespace, {
    share: (quota) =>
      counts(quota, meter, object) ? shareOf(request, quota, object, meter, moreFor(quota)) : undefined,
    refuse: (why) => forbidden(request, why),
    rehearse: dryRun,
  });
  if (entries.length > 0) request.onAbandon?.(() => ledger.release(namespace, entries));
}

/** What a write adds to a quota. @throws StatusError 403 when the quota cannot tell yet, or the object does not */
function shareOf(request: AdmissionRequest, quota: ApiObject, object: ApiObject, meter: Meter, more: Amounts): Amounts {
  const { hard, used } = fieldsOf(quota['status']);
  const { name = '' } = quota.metadata;
  const limited = Object.keys(fieldsOf(hard)).filter(meter.measures);
  const missing = meter.missing?.(object, limited);
  if (missing !== undefined) throw forbidden(request, `failed quota: ${name}: ${missing}`);
  const counted = readAmounts(used);
  if (limited.some((resource) => !counted.has(resource))) {
    throw forbidden(request, `status unknown for quota: ${name}, resources: ${limited.sort().join(',')}`);
  }
  const names = new Set(limited);
  return new Map([...more].filter(([resource, { nano }]) => names.has(resource) && nano > 0n));
}
