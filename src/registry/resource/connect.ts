import { runMutating, runValidating } from '../../admission/index.ts';
import { type ApiObject, StatusError, statusError } from '../../meta/index.ts';
import type { RegistryContext } from '../context.ts';
import type { Connecting, Target } from '../types.ts';
import { serverObjects } from '../write/server-objects.ts';
import { readConnectOptions } from './connect-options.ts';
import type { Endpoint } from './definition.ts';
import { ObjectVersions, servedKind } from './request-versions.ts';

/** Runs admission for a connect request and returns the endpoint that it is proxied to. @throws StatusError */
export async function connect(
  registry: RegistryContext,
  target: Target,
  { requester, query, rest, warn, annotate }: Connecting,
): Promise<Endpoint | undefined> {
  const { namespace, name, subresource } = target;
  const connection = target.resource.connections.get(subresource);
  if (connection === undefined) throw statusError.noSuchResource();
  const { answers, locate, options: schema } = connection;
  const options = readConnectOptions(query, schema, registry.names);
  if (answers === 'proxy') options['path'] = rest;
  if (answers !== 'text') {
    const object = options as ApiObject;
    const request = {
      operation: 'CONNECT',
      ...servedKind(target),
      subresource,
      namespace,
      name,
      object,
      oldObject: undefined,
      user: requester,
      dryRun: false,
      began: registry.clock.now(),
      options: () => undefined,
      versions: new ObjectVersions({ registry, target, object, oldObject: undefined }),
      warn,
      annotate,
    } as const;
    await runMutating(registry.admission, request);
    await runValidating(registry.admission, request);
  }
  const endpoint = locate({
    names: registry.names,
    now: registry.clock.now(),
    random: registry.random,
    nodeAddresses: registry.nodeAddresses,
    namespace,
    name,
    options,
    objects: serverObjects(registry),
  });
  try {
    return await endpoint;
  } catch (error) {
    throw asRequested(target, error);
  }
}

/** Whatever is missing, such as the node of a pod, is reported as an object of the resource that was requested. */
function asRequested({ resource: { id } }: Target, error: unknown): unknown {
  if (!(error instanceof StatusError) || error.reason !== 'NotFound') return error;
  return statusError.notFound(id, error.details?.name ?? '');
}
