import { X509Certificate } from 'node:crypto';
import { ignoreGone } from '../shared/errors.ts';
import * as kinds from '../shared/kinds.ts';
import type { Controller } from '../types.ts';
import { isIssued, type SigningRequest } from './requests.ts';

const hour = 3_600_000;
/** How long requests are kept after they were decided, and while nothing becomes of them (ms). */
const decidedMs = hour;
const pendingMs = 24 * hour;

/** Every hour deletes certificate signing requests that are of no use any more. */
export const certificateCleaner: Controller = {
  name: 'certificatesigningrequest-cleaner-controller',
  needs: [kinds.certificateSigningRequests],
  account: 'certificate-controller',
  start({ client, informers, clock, every, log }) {
    const requests = informers.of(kinds.certificateSigningRequests);
    every(hour, async () => {
      for (const request of requests.list()) {
        if (!isUseless(request, clock.now())) continue;
        try {
          await client.kind(kinds.certificateSigningRequests).delete(request.metadata).catch(ignoreGone);
        } catch (error) {
          log.error('a certificate signing request cannot be deleted', { name: request.metadata.name, error });
        }
      }
    });
  },
};

/** Whether a request was decided long ago, has waited for too long, or has a certificate that has expired. */
export function isUseless(request: SigningRequest, now: number): boolean {
  const { metadata, status = {} } = request;
  const isOlder = (time: string | null | undefined, ms: number) => now - Date.parse(time ?? '') > ms;
  const conditions = status.conditions ?? [];
  if (conditions.length === 0) return isOlder(metadata.creationTimestamp, pendingMs);
  return conditions.some(({ type, lastUpdateTime }) => {
    if (type === 'Denied' || type === 'Failed') return isOlder(lastUpdateTime, decidedMs);
    if (type !== 'Approved') return false;
    if (!isIssued(request)) return isOlder(lastUpdateTime, pendingMs);
    return isOlder(lastUpdateTime, decidedMs) || hasExpired(status.certificate ?? '', now);
  });
}

/** Whether the first certificate has expired; one that cannot be parsed has not. */
function hasExpired(certificate: string, now: number): boolean {
  try {
    return now > Date.parse(new X509Certificate(Buffer.from(certificate, 'base64')).validTo);
  } catch {
    return false;
  }
}
