import { StatusError, statusError } from '../meta/index.ts';
import type { Registry, Target } from '../registry/index.ts';
import { emptyBody } from './answers.ts';
import type { Call } from './call.ts';
import { relay } from './relay.ts';
import type { ApiResponse } from './types.ts';

/** Passes a request on to the node, or to what runs on it, that its target stands for. Throws StatusError. */
export async function connectAnswer(registry: Registry, call: Call, target: Target): Promise<ApiResponse> {
  const { request, info, user, warnings } = call;
  const endpoint = await registry.connect(target, { requester: user, query: info.query, warnings });
  if (endpoint === undefined) return { status: 204, headers: {}, body: emptyBody };
  if (endpoint.upgrades === true) {
    if (request.headers['upgrade'] === undefined) throw statusError.badRequest('Upgrade request required');
    throw new StatusError(501, '', 'this server does not pass on connections that change their protocol');
  }
  const { path, query } = endpoint;
  if (query !== undefined) return relay(request, endpoint, query === '' ? path : `${path}?${query}`);
  // What follows the subresource, as it was sent.
  const sent = request.url.slice(restAt(request.url, target.subresource));
  return relay(request, endpoint, path + (sent.startsWith('/') ? sent : `/${sent}`));
}

/** Where in a URL that what follows the subresource begins. */
function restAt(url: string, subresource: string): number {
  const mark = url.indexOf('?');
  const end = mark < 0 ? url.length : mark;
  const at = url.indexOf(`/${subresource}/`);
  return at < 0 || at >= end ? end : at + subresource.length + 1;
}
