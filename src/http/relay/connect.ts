import { type Names, statusError } from '../../meta/index.ts';
import type { Connection, Endpoint, Target } from '../../registry/index.ts';
import { emptyBody } from '../answers.ts';
import type { Call, Serving } from '../call.ts';
import { type ResourcePath, splitAtRest } from '../request-info.ts';
import type { ApiRequest, ApiResponse, Chunk } from '../types.ts';
import { isWebSocket, MessageBody, openWebSocket } from './web-socket.ts';

/**
 * Forwards a request to the kubelet or backend of its target. An upgraded connection is copied byte by byte: client and
 * kubelet negotiate the protocol themselves, and the refusal of one protocol makes the client try the next. Throws
 * StatusError.
 */
export async function connectAnswer(
  { registry, nodeProxy, permit, names }: Pick<Serving, 'registry' | 'nodeProxy' | 'permit' | 'names'>,
  call: Call,
  target: Target,
  { answers }: Connection,
): Promise<ApiResponse> {
  const { request, info, user, warn, audit, turns } = call;
  // It may change what runs in the pod, also with GET: `create` is required.
  if (answers === 'upgrade' && info.verb !== 'create') await permit(call, 'create');
  const { rest } = info.resource as ResourcePath;
  const endpoint = await registry.connect(target, {
    requester: user,
    query: info.query,
    rest: `/${rest}`,
    warn,
    annotate: audit?.annotate,
  });
  if (endpoint === undefined) return { status: 204, headers: {}, body: emptyBody };
  if (answers === 'text') {
    const text = () => nodeProxy.text(request, endpoint, target.name, turns);
    return request.upgrades && isWebSocket(request.headers) ? textMessages(request, names, text) : text();
  }
  if (answers === 'proxy') return proxied(nodeProxy, call, endpoint);
  if (request.upgrades) return nodeProxy.upgrade(request, endpoint, endpoint.path, false, turns);
  throw statusError.badRequest('Upgrade request required');
}

/** Sends a text as WebSocket messages: binary, or base64 if the client asks for that subprotocol. */
async function textMessages(request: ApiRequest, names: Names, text: () => Promise<ApiResponse>): Promise<ApiResponse> {
  const base64 = `base64.binary.${names.domain}`;
  const opening = openWebSocket(request, [`binary.${names.domain}`, base64]);
  if (opening.status !== 101) return opening;
  const { body } = await text();
  const form = opening.headers['sec-websocket-protocol'] === base64 ? 'base64' : 'binary';
  return { ...opening, body: new MessageBody(body as AsyncIterable<Chunk>, form, true), waits: true };
}

async function proxied(
  relay: Serving['nodeProxy'],
  { request, info, turns }: Call,
  endpoint: Endpoint,
): Promise<ApiResponse> {
  const { method, url } = request;
  const { before: prefix, rest } = splitAtRest(url, info);
  // HTTP/2 allows characters in a path that HTTP/1.1 does not.
  const there = (rest.startsWith('/') ? rest : `/${rest}`).replace(/[^!-\u00ff]/g, encodeURIComponent);
  if (request.upgrades) return relay.upgrade(request, endpoint, there, true, turns);
  // Relative links of a page need the trailing slash.
  if (!rest.startsWith('/') && (method === 'GET' || method === 'HEAD')) {
    return { status: 301, headers: { location: prefix + there }, body: emptyBody };
  }
  return relay.proxy(request, endpoint, { prefix, there }, turns);
}
