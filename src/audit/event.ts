import { isIP } from 'node:net';
import { type ByteString, canonicalIp, encodeText, formatMicroTime, type Names } from '../meta/index.ts';
import type { AuditEvent } from './types.ts';

/** The fields of an event as JSON members, without its kind and without braces. */
export function eventMembers(event: AuditEvent): ByteString {
  const { requestObject, responseObject, annotations } = event;
  const { level, auditID, stage, requestURI, verb, user, impersonatedUser } = event;
  const { sourceIPs, userAgent, objectRef, responseStatus } = event;
  const first = { level, auditID, stage, requestURI, verb, user, impersonatedUser };
  const head = { ...first, sourceIPs, userAgent, objectRef, responseStatus };
  const tail = {
    requestReceivedTimestamp: formatMicroTime(event.received),
    stageTimestamp: formatMicroTime(event.reached),
    annotations,
  };
  const request = requestObject === undefined ? '' : `"requestObject":${requestObject},`;
  const response = responseObject === undefined ? '' : `"responseObject":${responseObject},`;
  return `${membersOf(head)},${request}${response}${membersOf(tail)}` as ByteString;
}

const membersOf = (value: object): string => encodeText(JSON.stringify(value)).slice(1, -1);

/** An event as one line of JSON, without the line feed. */
export const jsonLine = (event: AuditEvent, { domain }: Pick<Names, 'domain'>): ByteString =>
  `{"kind":"Event","apiVersion":"audit.${domain}/v1",${eventMembers(event)}}` as ByteString;

/** The body of a webhook request. */
export const eventList = (items: readonly ByteString[], { domain }: Pick<Names, 'domain'>): ByteString =>
  `{"kind":"EventList","apiVersion":"audit.${domain}/v1","metadata":{},"items":[${items.join(',')}]}` as ByteString;

/** An event as one line of text, with some of its fields. */
export function legacyLine(event: AuditEvent): ByteString {
  const { user, impersonatedUser, objectRef, responseStatus, sourceIPs } = event;
  const texts = (list: unknown) =>
    Array.isArray(list) ? list.map((text) => JSON.stringify(text)).join(',') : undefined;
  const fields = {
    id: event.auditID,
    stage: event.stage,
    ip: sourceIPs?.[0] ?? '<unknown>',
    method: event.verb,
    user: user['username'] ?? '<none>',
    groups: texts(user['groups']) ?? '<none>',
    as: impersonatedUser?.['username'] ?? '<self>',
    asgroups: texts(impersonatedUser?.['groups']) ?? '<lookup>',
    'user-agent': event.userAgent ?? '',
    namespace: objectRef?.namespace ?? '<none>',
    uri: event.requestURI,
    response: String(responseStatus?.code ?? '<deferred>'),
  };
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return encodeText(`${new Date(event.received).toISOString()} AUDIT: ${shown.join(' ')}`);
}

type Headers = { readonly [name: string]: string | undefined };

/** Where a request came from: the addresses of proxy headers, which any client can set, then that of the connection. */
export function sourceIPs(headers: Headers, remote: string): string[] | undefined {
  const found = (headers['x-forwarded-for'] ?? '').split(',').flatMap(ipOf);
  for (const real of ipOf(headers['x-real-ip'] ?? '')) if (!found.includes(real)) found.push(real);
  for (const peer of ipOf(remote)) if (found.at(-1) !== peer) found.push(peer);
  return found.length === 0 ? undefined : found;
}

/** The address in a text in canonical form, an IPv4-mapped one as IPv4; none if it is not an address. */
function ipOf(text: string): string[] {
  const address = text.trim().replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(address) === 0 ? [] : [canonicalIp(address)];
}

/** The most of a User-Agent that an event shows, in characters. */
const maxUserAgent = 1024;

export const shownUserAgent = (agent: string | undefined): string | undefined =>
  agent === undefined || agent.length <= maxUserAgent ? agent : `${agent.slice(0, maxUserAgent)}...TRUNCATED`;
