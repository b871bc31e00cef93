import {
  type Address,
  Aggregator,
  clusterAddress,
  endpointAddress,
  type Outages,
  Registrations,
  type RemoteService,
  serviceHost,
} from '../../aggregation/index.ts';
import { type AggregatedRelay, type Aggregation, createAggregatedRelay } from '../../http/index.ts';
import { type Clock, formatGroupResource, type Names, type Random } from '../../meta/index.ts';
import type { ObjectFollower, Registry, ResourceDefinition } from '../../registry/index.ts';
import { APIService } from '../../types/apiregistration-v1.ts';
import { Service } from '../../types/core-v1.ts';
import { EndpointSlice } from '../../types/discovery-v1.ts';
import type { Backend } from '../backend.ts';
import { builtInPriorities } from '../cluster/api-services.ts';
import type { Log } from '../dependencies.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { openProxyCertificate } from './proxy-certificate.ts';
import { SliceIndex } from './slice-index.ts';

interface Options {
  readonly settings: ServerSettings;
  readonly backend: Pick<Backend, 'registry'>;
  /** The built-in kinds. */
  readonly definitions: readonly ResourceDefinition[];
  readonly names: Names;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether a header says who the user is. */
  readonly isIdentity: (name: string) => boolean;
  readonly log: Log;
}

/** The extension API servers that APIServices name. */
export interface ServerAggregation extends Aggregation {
  readonly registrations: Registrations;
  readonly outages: Outages;
  /** Follows the APIServices of the registry from now on. Resolves once all of them are known. */
  follow(): Promise<void>;
  /** Aborts all requests to extension API servers. */
  close(): Promise<void>;
}

/** @throws StartError */
export async function openAggregation(options: Options): Promise<ServerAggregation> {
  const { settings, backend, definitions, names, clock, isIdentity, log } = options;
  const priorities = builtInPriorities(definitions, names);
  const registrations = new Registrations(priorities, new Set(['', `apiregistration.${names.domain}`]));
  const services = serviceFinder(options);
  const certificate = await openProxyCertificate(settings, { clock, log });
  const relay: AggregatedRelay = createAggregatedRelay({
    clock,
    certificate: certificate.current,
    locate: services.locate,
    isIdentity,
  });
  const aggregator = new Aggregator({
    ...services,
    registrations,
    clock,
    names,
    ask: relay.ask,
    disconnect: relay.disconnect,
    writeCondition: async (name, condition) => {
      const { objects } = backend.registry;
      await objects.guaranteedUpdate(APIService, '', name, (object) => {
        const others = object.status?.conditions?.filter(({ type }) => type !== condition.type) ?? [];
        object.status = { ...object.status, conditions: [...others, condition] };
      });
    },
    report: (text, fields) => log.warn(text, fields),
  });
  return {
    registrations,
    outages: aggregator.outages,
    answer: relay.answer,
    follow: () => follow(backend.registry, names, registrations, aggregator, relay, services),
    close: async () => {
      aggregator.close();
      relay.close();
      await certificate.close();
    },
  };
}

/** Follows APIServices; Services and their endpoints only once an APIService names a Service: they may be many. */
async function follow(
  registry: Registry,
  { domain }: Names,
  registrations: Registrations,
  aggregator: Aggregator,
  relay: AggregatedRelay,
  services: ServiceFinder,
): Promise<void> {
  const apiServices = formatGroupResource({ group: `apiregistration.${domain}`, resource: 'apiservices' });
  if (registry.resourceOf(apiServices) === undefined) return;
  await registry.follow(apiServices, (_, name, object) => {
    const before = registrations.get(name)?.remote?.service;
    const isChanged = registrations.set(name, object as APIService | undefined);
    const service = registrations.get(name)?.remote?.service;
    if (before !== undefined && before !== service) relay.disconnect(before);
    if (service !== undefined) services.follow((namespace, changed) => aggregator.serviceChanged(namespace, changed));
    if (isChanged) aggregator.changed(name);
  });
}

type ServiceFinder = ReturnType<typeof serviceFinder>;

/** Finds Services, their slices, and the addresses of extension API servers. */
function serviceFinder({ settings, backend, names, random }: Options) {
  const index = new SliceIndex();
  let followed: Promise<unknown> | undefined;
  /** Calls back when a Service has changed, or its slices. Further calls do nothing. */
  const follow = (changed: (namespace: string, name: string) => void): void => {
    if (followed !== undefined) return;
    const { registry } = backend;
    const late = { late: true };
    const id = (group: string, resource: string) => formatGroupResource({ group, resource });
    const services = registry.follow(id('', 'services'), changed, late);
    const follower: ObjectFollower = (namespace, name, slice) => {
      const service = slice?.metadata.labels?.[`${names.labels}/service-name`];
      for (const one of index.set(namespace, name, service)) changed(namespace, one);
    };
    const slices = registry.follow(id(`discovery.${names.domain}`, 'endpointslices'), follower, late);
    // A failure means that the registry was closed, or that a resource is not served.
    followed = Promise.allSettled([services, slices]);
  };
  const findService = async (namespace: string, name: string): Promise<Service | undefined> =>
    backend.registry.objects.get(Service, namespace, name);
  const findSlices = async (namespace: string, service: string): Promise<readonly EndpointSlice[]> => {
    await followed;
    const { objects } = backend.registry;
    const names = index.of(namespace, service);
    const slices = await Promise.all(names.map(async (name) => objects.get(EndpointSlice, namespace, name)));
    return slices.filter((slice) => slice !== undefined);
  };
  const servesServices = () => backend.registry.find('', 'v1', 'services') !== undefined;
  const locate = async ({ namespace, name, port }: RemoteService): Promise<Address> => {
    if (!servesServices()) return serviceHost(namespace, name, port);
    const service = await findService(namespace, name);
    if (service === undefined) throw new Error(`service ${JSON.stringify(name)} not found`);
    if (!settings.enableAggregatorRouting) return clusterAddress(service, port);
    return endpointAddress(service, await findSlices(namespace, name), port, (count) => random.integer(count));
  };
  return { follow, findService, findSlices, locate, servesServices };
}
