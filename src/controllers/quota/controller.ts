import { keyOf } from '../../client/index.ts';
import { formatGroupResource, isStatus } from '../../meta/index.ts';
import { encodeResourceList, equalQuantities, parseResourceList } from '../../rules/index.ts';
import type { Named } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import type { Pod } from '../shared/pods.ts';
import type { Controller, ControllerContext } from '../types.ts';
import { limitedResources, type Quota, usageOf } from './usage.ts';

/** How often the usage of all quotas is counted again (ms). */
const resyncMs = 300_000;
/** The delay before a changed quota is counted again (ms): a write admitted in between may not be stored yet. */
const verifyMs = 5_000;
/** How long changes of objects are gathered (ms). */
const gatherMs = 100;

/** Counts the usage of quotas, where admission only adds to it. */
export const resourceQuotaController: Controller = {
  name: 'resourcequota-controller',
  needs: [kinds.resourceQuotas],
  account: 'resourcequota-controller',
  start(context) {
    const { informers, metadata, every } = context;
    const quotas = informers.of(kinds.resourceQuotas);
    const pods = informers.of(kinds.pods);
    const claims = informers.of(kinds.persistentVolumeClaims);
    const services = informers.of(kinds.services);
    const queue = context.queue('resourcequota_primary', async (key) => {
      const quota = quotas.getByKey(key);
      return quota === undefined ? undefined : reconcile(context, quota);
    });
    const recount = (namespace: string, resource: string) => {
      for (const quota of quotas.list(namespace)) {
        if (limitedResources(quota, context).has(resource)) queue.addAfter(keyOf(quota), gatherMs);
      }
    };
    quotas.onChange((quota) => {
      if (quota !== undefined && !isCounted(quota)) queue.add(keyOf(quota));
    });
    pods.onChange((pod, old) => {
      if (old !== undefined && (pod === undefined || hasEnded(pod) !== hasEnded(old))) {
        recount(old.metadata.namespace ?? '', 'pods');
      }
    });
    const onUpdate = (resource: string) => (object: Named | undefined, old: Named | undefined) => {
      if (old !== undefined && (object === undefined || object.metadata.generation !== old.metadata.generation)) {
        recount(old.metadata.namespace ?? '', resource);
      }
    };
    claims.onChange(onUpdate('persistentvolumeclaims'));
    services.onChange((service, old) => {
      const typeOf = (one: typeof service) => `${one?.spec?.type} ${one?.spec?.ports?.length}`;
      if (old !== undefined && (service === undefined || typeOf(service) !== typeOf(old))) {
        recount(old.metadata.namespace ?? '', 'services');
      }
    });
    metadata.subscribe({
      changed: (type, { namespace = '' }, { group, resource }) => {
        if (type === 'DELETED') recount(namespace, formatGroupResource({ group, resource }));
      },
    });
    every(resyncMs, () => {
      for (const quota of quotas.list()) queue.add(keyOf(quota));
    });
  },
};

const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** Whether the status is about the limits of the spec, and has a usage for each. */
function isCounted({ spec, status }: Quota): boolean {
  const hard = parseResourceList(spec?.hard);
  if (!equalQuantities(hard, parseResourceList(status?.hard))) return false;
  return [...hard.keys()].every((name) => Object.hasOwn(status?.used ?? {}, name));
}

async function reconcile(
  context: ControllerContext,
  quota: Quota,
): Promise<{ readonly requeueAfterMs: number } | undefined> {
  const hard = parseResourceList(quota.spec?.hard);
  const before = parseResourceList(quota.status?.used);
  const counted = await usageOf(context, quota);
  // Resources that cannot be counted keep their last usage.
  const used = new Map([...before, ...counted].filter(([name]) => hard.has(name)));
  const { status } = quota;
  const same = equalQuantities(hard, parseResourceList(status?.hard)) && equalQuantities(used, before);
  if (same && status?.hard !== undefined && status.used !== undefined) return undefined;
  const next = { hard: encodeResourceList(hard), used: encodeResourceList(used) };
  try {
    await context.client
      .kind(kinds.resourceQuotas)
      .subresource('status')
      .update({ ...quota, status: next });
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
    return undefined;
  }
  return { requeueAfterMs: verifyMs };
}
