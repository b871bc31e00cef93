import { statusError } from '../meta/index.ts';
import type { Registry, Target } from '../registry/index.ts';
import { emptyBody } from './answers.ts';
import type { Call } from './call.ts';
import type { Relay } from './relay.ts';
import { type ResourcePath, splitAtRest } from './request-info.ts';
import type { ApiResponse } from './types.ts';

/**
 * Passes a request on to the node, or to what runs on it, that its target stands for. A connection in another protocol
 * goes through as it is, so that client and agent agree on that protocol by themselves; where the agent refuses the one
 * that a client would like best, its refusal is what makes the client try the next one. Throws StatusError.
 */
export async function connectAnswer(
  registry: Registry,
  relay: Relay,
  call: Call,
  target: Target,
): Promise<ApiResponse> {
  const { request, info, user } = call;
  const { rest } = info.resource as ResourcePath;
  const endpoint = await registry.connect(target, { requester: user, query: info.query, rest: `/${rest}` });
  if (endpoint === undefined) return { status: 204, headers: {}, body: emptyBody };
  switch (target.resource.subresources.get(target.subresource)?.declared.connect?.answers) {
    case 'text':
      return relay.text(request, endpoint, target.name);
    case 'upgrade':
      if (request.upgrades) return relay.upgrade(request, endpoint, endpoint.path, false);
      throw statusError.badRequest('Upgrade request required');
    default:
      return proxied(relay, call, endpoint);
  }
}

function proxied(
  relay: Relay,
  { request, info }: Call,
  endpoint: Parameters<Relay['proxy']>[1],
): Promise<ApiResponse> | ApiResponse {
  const { before: prefix, rest } = splitAtRest(request.url, info);
  const there = rest.startsWith('/') ? rest : `/${rest}`;
  if (request.upgrades) return relay.upgrade(request, endpoint, there, true);
  // Links of a page without a slash at its end would lead astray.
  if (!rest.startsWith('/') && (request.method === 'GET' || request.method === 'HEAD')) {
    return { status: 301, headers: { location: `${prefix}/${rest}` }, body: emptyBody };
  }
  return relay.proxy(request, endpoint, { prefix, there });
}
