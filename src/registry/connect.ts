import { runMutating, runValidating } from '../admission/index.ts';
import type { ApiObject } from '../meta/index.ts';
import { readConnectOptions } from './connect-options.ts';
import type { RegistryContext } from './context.ts';
import type { Endpoint } from './definition.ts';
import { serverObjects } from './server-objects.ts';
import type { Connecting, Target } from './types.ts';
import { connectSubresourceOf } from './verbs.ts';

/** Runs admission for a connect request and returns the endpoint that it is proxied to. @throws StatusError */
export async function connect(
  registry: RegistryContext,
  target: Target,
  { requester, query, rest, warnings, annotate }: Connecting,
): Promise<Endpoint | undefined> {
  const { resource, namespace, name, subresource } = target;
  const { kind, connect: connection } = connectSubresourceOf(target);
  const { answers, locate, options: schema } = connection;
  const options = readConnectOptions(query, schema, registry.names);
  if (answers === 'proxy') options['path'] = rest;
  if (answers !== 'text') {
    const request = {
      operation: 'CONNECT',
      kind: { group: resource.id.group, version: target.version, kind },
      resource: { ...resource.id, version: target.version },
      subresource,
      namespace,
      name,
      object: options as ApiObject,
      oldObject: undefined,
      user: requester,
      dryRun: false,
      warn: (text: string) => warnings.add(text),
      annotate,
    } as const;
    await runMutating(registry.admission, request);
    await runValidating(registry.admission, request);
  }
  return locate({
    names: registry.names,
    now: registry.clock.now(),
    random: registry.random,
    nodeAddresses: registry.nodeAddresses,
    namespace,
    name,
    options,
    objects: serverObjects(registry),
  });
}
