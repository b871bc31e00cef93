import { type Names, statusError } from '../meta/index.ts';
import { connectionOf, type Endpoint, type Target } from '../registry/index.ts';
import { emptyBody } from './answers.ts';
import type { Call, Serving } from './call.ts';
import { type ResourcePath, splitAtRest } from './request-info.ts';
import type { ApiRequest, ApiResponse, Chunk } from './types.ts';
import { isWebSocket, MessageBody, openWebSocket } from './web-socket.ts';

/**
 * Passes a request on to the node, or to what runs on it, that its target stands for. A connection in another protocol
 * goes through as it is, so that client and agent agree on that protocol by themselves; where the agent refuses the one
 * that a client would like best, its refusal is what makes the client try the next one. Throws StatusError.
 */
export async function connectAnswer(
  { registry, nodeProxy, permit, names }: Pick<Serving, 'registry' | 'nodeProxy' | 'permit' | 'names'>,
  call: Call,
  target: Target,
): Promise<ApiResponse> {
  const { request, info, user, warnings } = call;
  const answers = connectionOf(target)?.answers;
  // What runs in a pod may be changed through it, even where the method is that of a read.
  if (answers === 'upgrade' && info.verb !== 'create') await permit(call, 'create');
  const { rest } = info.resource as ResourcePath;
  const endpoint = await registry.connect(target, {
    requester: user,
    query: info.query,
    rest: `/${rest}`,
    warnings,
  });
  if (endpoint === undefined) return { status: 204, headers: {}, body: emptyBody };
  if (answers === 'text') {
    const text = () => nodeProxy.text(request, endpoint, target.name);
    return isWebSocket(request) ? textMessages(request, names, text) : text();
  }
  if (answers === 'proxy') return proxied(nodeProxy, call, endpoint);
  if (request.upgrades) return nodeProxy.upgrade(request, endpoint, endpoint.path, false);
  throw statusError.badRequest('Upgrade request required');
}

/** A text as the messages of a WebSocket: bytes, unless the client wants them in base64. */
async function textMessages(request: ApiRequest, names: Names, text: () => Promise<ApiResponse>): Promise<ApiResponse> {
  const base64 = `base64.binary.${names.domain}`;
  const opening = openWebSocket(request, [`binary.${names.domain}`, base64]);
  if (opening.status !== 101) return opening;
  const { body } = await text();
  const form = opening.headers['sec-websocket-protocol'] === base64 ? 'base64' : 'binary';
  return { ...opening, body: new MessageBody(body as AsyncIterable<Chunk>, form, true), waits: true };
}

async function proxied(relay: Serving['nodeProxy'], { request, info }: Call, endpoint: Endpoint): Promise<ApiResponse> {
  const { method, url } = request;
  const { before: prefix, rest } = splitAtRest(url, info);
  // Over HTTP/2 a path may come with what HTTP/1.1 cannot send.
  const there = (rest.startsWith('/') ? rest : `/${rest}`).replace(/[^!-\u00ff]/g, encodeURIComponent);
  if (request.upgrades) return relay.upgrade(request, endpoint, there, true);
  // Links of a page without a slash at its end would lead astray.
  if (!rest.startsWith('/') && (method === 'GET' || method === 'HEAD')) {
    return { status: 301, headers: { location: prefix + there }, body: emptyBody };
  }
  return relay.proxy(request, endpoint, { prefix, there });
}
