import {
  type Address,
  Aggregator,
  clusterAddress,
  endpointAddress,
  type Outages,
  Registrations,
  type RemoteService,
} from '../../aggregation/index.ts';
import { identityHeaders } from '../../auth/index.ts';
import { type AggregatedRelay, type Aggregation, createAggregatedRelay } from '../../http/index.ts';
import { type Clock, formatGroupResource, type Names, type Random } from '../../meta/index.ts';
import type { Registry } from '../../registry/index.ts';
import { APIService } from '../../types/apiregistration-v1.ts';
import { Service } from '../../types/core-v1.ts';
import { EndpointSlice } from '../../types/discovery-v1.ts';
import { requestHeaderNames } from '../access/authentication.ts';
import type { Backend } from '../backend.ts';
import { builtInPriorities } from '../cluster/api-services.ts';
import type { Log } from '../dependencies.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { openProxyCertificate } from './proxy-certificate.ts';

interface Options {
  readonly settings: ServerSettings;
  readonly backend: Pick<Backend, 'registry'>;
  readonly names: Names;
  readonly clock: Clock;
  readonly random: Random;
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
  const { settings, backend, names, clock, log } = options;
  const registrations = new Registrations(builtInPriorities(names), new Set(['', `apiregistration.${names.domain}`]));
  const services = serviceFinder(options);
  const certificate = await openProxyCertificate(settings, { clock, log });
  const relay: AggregatedRelay = createAggregatedRelay({
    clock,
    certificate: certificate.current,
    locate: services.locate,
    isIdentity: identityHeaders(requestHeaderNames(settings)),
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
    follow: () => follow(backend.registry, names, registrations, aggregator, relay),
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
  { domain, labels }: Names,
  registrations: Registrations,
  aggregator: Aggregator,
  relay: AggregatedRelay,
): Promise<void> {
  const id = (group: string, resource: string) => formatGroupResource({ group, resource });
  const services = id(`apiregistration.${domain}`, 'apiservices');
  if (registry.resourceOf(services) === undefined) return;
  const late = { late: true };
  // A failure means that the registry was closed.
  const ignore = () => {};
  let followsServices = false;
  const followServices = () => {
    if (followsServices) return;
    followsServices = true;
    registry
      .follow(id('', 'services'), (namespace, name) => aggregator.serviceChanged(namespace, name), late)
      .catch(ignore);
    const service = `${labels}/service-name`;
    registry
      .follow(
        id(`discovery.${domain}`, 'endpointslices'),
        // The Service of a deleted slice is not known.
        (namespace, _, slice) =>
          aggregator.serviceChanged(namespace, slice && (slice.metadata.labels?.[service] ?? '')),
        late,
      )
      .catch(ignore);
  };
  await registry.follow(services, (_, name, object) => {
    const before = registrations.get(name)?.remote?.service;
    if (registrations.set(name, object as APIService | undefined)) aggregator.changed(name);
    const service = registrations.get(name)?.remote?.service;
    if (before !== undefined && before !== service) relay.disconnect(before);
    if (service !== undefined) followServices();
  });
}

/** Finds Services, their slices, and the addresses of extension API servers. */
function serviceFinder({ settings, backend, names, random }: Options) {
  const findService = async (namespace: string, name: string): Promise<Service | undefined> =>
    backend.registry.objects.get(Service, namespace, name);
  const findSlices = async (namespace: string, service: string): Promise<readonly EndpointSlice[]> => {
    const slices = await backend.registry.objects.list(EndpointSlice, namespace);
    return slices.filter(({ metadata }) => metadata.labels?.[`${names.labels}/service-name`] === service);
  };
  const locate = async ({ namespace, name, port }: RemoteService): Promise<Address> => {
    const service = await findService(namespace, name);
    if (service === undefined) throw new Error(`service ${JSON.stringify(name)} not found`);
    if (!settings.enableAggregatorRouting) return clusterAddress(service, port);
    return endpointAddress(service, await findSlices(namespace, name), port, (count) => random.integer(count));
  };
  return { findService, findSlices, locate };
}
