import { type Client, keyOf, splitKey } from '../../client/index.ts';
import { isStatus, jsonEqual } from '../../meta/index.ts';
import type { Endpoints as EndpointsSchema } from '../../types/core-v1.ts';
import { apiVersionOf, type Named } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import { isTerminatingNamespace, messageOf } from '../shared/pod-control.ts';
import type { Controller, ControllerContext } from '../types.ts';
import { endpointKeys } from './labels.ts';
import { isHeadless, onServedPods, type Service, selectedPods, selectsPods } from './services.ts';
import { type Subset, subsetsOf, truncate } from './subsets.ts';
import { TriggerTimes } from './trigger-times.ts';

const account = 'endpoint-controller';

type Endpoints = EndpointsSchema & Named;

/** Keeps the endpoints of services with a selector, and deletes those of services that are gone. */
export const endpointsController: Controller = {
  name: 'endpoints-controller',
  needs: [kinds.endpoints, kinds.services, kinds.pods],
  account,
  start(context) {
    const { client, informers, names, queue } = context;
    const services = informers.of(kinds.services);
    const pods = informers.of(kinds.pods);
    const endpoints = informers.of(kinds.endpoints);
    const keys = endpointKeys(names);
    const times = new TriggerTimes();
    const work = queue('endpoint', async (key) => {
      const service = services.getByKey(key);
      const current = endpoints.getByKey(key);
      if (service === undefined) {
        times.forget(key);
        await remove(client, current ?? { metadata: splitKey(key) });
      } else if (selectsPods(service)) {
        const selected = selectedPods(pods, service);
        // In any case: the next time is that of later changes.
        const time = times.next(service, selected);
        await write(context, service, current, subsetsOf(service, selected), time);
      }
    });
    services.onChange((service, old) => {
      const changed = service ?? old;
      if (changed !== undefined) work.add(keyOf(changed));
    });
    onServedPods(services, pods, (key) => work.add(key));
    endpoints.onChange((object, old) => {
      if (object === undefined && old !== undefined && services.getByKey(keyOf(old)) !== undefined)
        work.add(keyOf(old));
    });
    // Endpoints of services that were deleted while no controller ran.
    void endpoints.synced.then(() => {
      for (const object of endpoints.list()) {
        if (object.metadata.annotations?.[keys.leader] === undefined) work.add(keyOf(object));
      }
    });
  },
};

async function remove(client: Client, at: Pick<Endpoints, 'metadata'>): Promise<void> {
  try {
    await client.kind(kinds.endpoints).delete(at.metadata);
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
  }
}

/** Makes the endpoints those of the service with these subsets; writes nothing when they are. */
async function write(
  context: ControllerContext,
  service: Service,
  current: Endpoints | undefined,
  all: Subset[],
  time: string | undefined,
): Promise<void> {
  const { client, events, names } = context;
  const { namespace = '', name = '' } = service.metadata;
  const keys = endpointKeys(names);
  const subsets = truncate(all);
  const { [keys.headless]: _, ...ownLabels } = service.metadata.labels ?? {};
  const labels = {
    ...ownLabels,
    ...(isHeadless(service) ? { [keys.headless]: '' } : {}),
    [keys.endpointsManagedBy]: account,
  };
  const {
    [keys.overCapacity]: mark,
    [keys.triggerTime]: __,
    ...otherAnnotations
  } = current?.metadata.annotations ?? {};
  const truncated = subsets === all ? undefined : 'truncated';
  if (
    current !== undefined &&
    mark === truncated &&
    jsonEqual(current.metadata.labels, labels) &&
    jsonEqual((current.subsets ?? []) as never, subsets as never)
  )
    return;
  const annotations = {
    ...otherAnnotations,
    ...(time === undefined ? {} : { [keys.triggerTime]: time }),
    ...(truncated === undefined ? {} : { [keys.overCapacity]: truncated }),
  };
  const { subsets: ___, ...rest } = current ?? {};
  const next: Endpoints = {
    ...rest,
    metadata: { ...(current?.metadata ?? { namespace, name }), labels, annotations },
    ...(subsets.length === 0 ? {} : { subsets }),
  };
  try {
    if (current === undefined) await client.kind(kinds.endpoints).create(next);
    else await client.kind(kinds.endpoints).update(next);
  } catch (error) {
    if (current === undefined && isTerminatingNamespace(error)) return;
    const subject = { ...next, apiVersion: apiVersionOf(kinds.endpoints, names), kind: kinds.endpoints.kind };
    const [reason, verb] =
      current === undefined
        ? ['FailedToCreateEndpoint', 'create endpoint for service']
        : ['FailedToUpdateEndpoint', 'update endpoint'];
    events.record(subject, 'Warning', reason, `Failed to ${verb} ${namespace}/${name}: ${messageOf(error)}`);
    throw error;
  }
}
