import { keyOf } from '../../client/index.ts';
import type { Names } from '../../meta/index.ts';
import { apiVersionOf } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import { messageOf } from '../shared/pod-control.ts';
import type { Controller, ControllerContext } from '../types.ts';
import { hintsForDistribution, withHints } from './hints.ts';
import { endpointKeys } from './labels.ts';
import { familiesOf, onServedPods, type Service, selectedPods, selectsPods } from './services.ts';
import { isOwned, type Node, type Plan, planSlices } from './slice-plan.ts';
import { onSlices, recycled, type Slice, type SliceChanges, slicesByService, writeSlices } from './slices.ts';
import { asksForTopology, type HintEvent, isNodeReady, Topology, zoneShares } from './topology.ts';
import { TriggerTimes } from './trigger-times.ts';

/** How long after a change of its slices a service is looked at (ms). */
const sliceDelayMs = 1_000;
/** After failures (ms): a service may need many writes. */
const firstBackoffMs = 1_000;

/** Keeps the endpoint slices of services with a selector. They are deleted with their service, as dependents of it. */
export const endpointSlicesController: Controller = {
  name: 'endpointslice-controller',
  needs: [kinds.endpointSlices, kinds.services, kinds.pods, kinds.nodes],
  account: 'endpointslice-controller',
  eventSource: 'endpoint-slice-controller',
  start(context) {
    const { events, informers, names, queue } = context;
    const services = informers.of(kinds.services);
    const pods = informers.of(kinds.pods);
    const nodes = informers.of(kinds.nodes);
    const slices = informers.of(kinds.endpointSlices);
    const { sliceController } = endpointKeys(names);
    const byService = slicesByService(slices, names, sliceController);
    const times = new TriggerTimes();
    const topology = new Topology();
    const reconcile = async (key: string, service: Service) => {
      const selected = selectedPods(pods, service);
      // In any case: the next time is that of later changes.
      const time = times.next(service, selected);
      const existing = byService.get(key).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const families = familiesOf(service);
      const failures: string[] = [];
      const attempt = (write: Promise<void>) => write.catch((error: unknown) => void failures.push(messageOf(error)));
      for (const family of families) {
        const ofFamily = existing.filter(({ addressType }) => addressType === family);
        const nodeOf = (pod: (typeof selected)[number]) => nodes.get('', pod.spec?.nodeName ?? '');
        const plan = planSlices({ names, service, pods: selected, existing: ofFamily, family, nodeOf });
        for (const { metadata, spec } of plan.withoutNode) {
          failures.push(`skipping Pod ${metadata.name} for Service ${key}: Node ${spec?.nodeName ?? ''} Not Found`);
        }
        await attempt(write(context, topology, service, family, plan, time));
      }
      const others = existing.filter(({ addressType = '' }) => !families.includes(addressType));
      for (const { addressType = '' } of others) topology.forget(key, addressType);
      await attempt(writeSlices(context.client, `Service ${key}`, { create: [], update: [], remove: others }));
      if (failures.length > 0) throw new Error(joined(failures));
    };
    // The first one: it is empty before services are reconciled.
    const zones = queue(
      'endpoint_slice_zones',
      async () => {
        for (const key of topology.setShares(zoneShares(nodes.list(), names))) work.add(key);
      },
      { workers: 1 },
    );
    const work = queue(
      'endpoint_slice',
      async (key) => {
        const service = services.getByKey(key);
        if (service === undefined) {
          times.forget(key);
          topology.forget(key);
        }
        if (service === undefined || !selectsPods(service)) return;
        try {
          await reconcile(key, service);
        } catch (error) {
          const message = `Error updating Endpoint Slices for Service ${key}: ${messageOf(error)}`;
          events.record(subjectOf(service, names), 'Warning', 'FailedToUpdateEndpointSlices', message);
          throw error;
        }
      },
      { firstBackoffMs },
    );
    nodes.onChange((node, old) => {
      if (node === undefined || old === undefined || isOtherPlace(node, old, names)) zones.add('nodes');
    });
    services.onChange((service, old) => {
      const changed = service ?? old;
      if (changed !== undefined) work.add(keyOf(changed));
    });
    onServedPods(services, pods, (key) => work.add(key));
    onSlices(slices, names, sliceController, (key) => work.addAfter(key, sliceDelayMs));
  },
};

/** Several messages as one, each once. */
function joined(messages: readonly string[]): string {
  const unique = [...new Set(messages)];
  return unique.length === 1 ? (unique[0] ?? '') : `[${unique.join(', ')}]`;
}

const subjectOf = (service: Service, names: Names) => ({
  ...service,
  apiVersion: apiVersionOf(kinds.services, names),
  kind: kinds.services.kind,
});

/** Whether the node is in another zone, or has become ready or not. */
function isOtherPlace(node: Node, old: Node, names: Names): boolean {
  const { zone } = endpointKeys(names);
  return node.metadata.labels?.[zone] !== old.metadata.labels?.[zone] || isNodeReady(node) !== isNodeReady(old);
}

/** The planned changes with the hints that the service asks for. */
function hinted(
  { names, settings }: ControllerContext,
  topology: Topology,
  { metadata, spec }: Service,
  family: string,
  { changes, unchanged }: Plan,
): { readonly changes: SliceChanges; readonly event?: HintEvent | undefined } {
  const key = keyOf({ metadata });
  if (asksForTopology(metadata.annotations, names)) return topology.allocate(key, family, changes, unchanged);
  const event = topology.disable(key, family);
  const { PreferSameTrafficDistribution: sameNode } = settings.features;
  const hintsOf = hintsForDistribution(spec?.trafficDistribution, sameNode) ?? (() => undefined);
  return { changes: withHints(changes, unchanged, hintsOf), event };
}

/** Writes the planned changes, with hints and the time at which they became necessary. */
async function write(
  context: ControllerContext,
  topology: Topology,
  service: Service,
  family: string,
  plan: Plan,
  time: string | undefined,
): Promise<void> {
  const { client, events, names } = context;
  const { triggerTime } = endpointKeys(names);
  const { changes: planned, event } = hinted(context, topology, service, family, plan);
  if (event !== undefined) events.record(subjectOf(service, names), event.type, event.reason, event.message);
  const changes = recycled(planned, (slice) => isOwned(slice, service));
  const stamped = (slice: Slice): Slice => {
    const { [triggerTime]: _, ...annotations } = slice.metadata.annotations ?? {};
    if (time !== undefined) annotations[triggerTime] = time;
    return { ...slice, metadata: { ...slice.metadata, annotations } };
  };
  await writeSlices(client, `Service ${keyOf(service)}`, {
    // The garbage collector deletes the slices of a service that is being deleted.
    create: service.metadata.deletionTimestamp === undefined ? changes.create.map(stamped) : [],
    update: changes.update.map(stamped),
    remove: changes.remove,
  });
}
