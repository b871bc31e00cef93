import { clusterAddress, serviceHost } from '../../aggregation/index.ts';
import { isFakeHost } from '../../controllers/index.ts';
import { type Clock, type Names, type Random, StatusError } from '../../meta/index.ts';
import { Service } from '../../types/core-v1.ts';
import type { Backend } from '../backend.ts';
import type { RegisteredWebhooksOptions } from './registered-webhooks.ts';

interface Options {
  readonly backend: Pick<Backend, 'registry'>;
  readonly names: Names;
  readonly clock: Clock;
  readonly random: Random;
  /** Number of fake nodes: nothing serves at their addresses. */
  readonly fakeNodes: number;
}

/**
 * Finds the address of the service of a webhook: an endpoint, like requests to its `proxy` subresource, otherwise its
 * cluster IP. A server without Services uses their DNS names.
 */
export function webhookServices({ backend, names, clock, random, fakeNodes }: Options): RegisteredWebhooksOptions {
  const locateService: RegisteredWebhooksOptions['locateService'] = async (namespace, name, port) => {
    const { objects } = backend.registry;
    const services = backend.registry.find('', 'v1', 'services');
    if (services === undefined) return serviceHost(namespace, name, port);
    const service = await objects.read(Service, namespace, name).catch((error: unknown) => {
      if (error instanceof StatusError && error.code === 404)
        throw new Error(`service ${JSON.stringify(name)} not found`);
      throw error;
    });
    const isExternal = service.spec?.type === 'ExternalName';
    const proxy = isExternal ? undefined : services.subresources.get('proxy');
    if (proxy?.type === 'connect') {
      const call = { names, now: clock.now(), random, nodeAddresses: [], options: {}, objects };
      const endpoint = await proxy.connect
        .locate({ ...call, namespace, name: `https:${name}:${port}` })
        .catch(ignoreMissing);
      if (endpoint !== undefined && isFakeHost(endpoint.host, fakeNodes)) {
        throw new Error(`the pods of service ${JSON.stringify(name)} are on fake nodes, which serve no webhooks`);
      }
      if (endpoint !== undefined) return endpoint;
    }
    return clusterAddress(service, port);
  };
  return { locateService };
}

/** Ignores missing endpoints. @throws StatusError for any other failure */
function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof StatusError) || (error.code !== 404 && error.code !== 503)) throw error;
}
