import type { ByteString } from '../meta/index.ts';
import type { AuditEvent } from './types.ts';

/**
 * An event encoded in at most `limit` bytes: without its request and response object, and with an annotation that says
 * so, where it is larger. Undefined: it is still too large.
 */
export function encodeWithin(
  limit: number,
  event: AuditEvent,
  domain: string,
  encode: (event: AuditEvent) => ByteString,
): ByteString | undefined {
  const whole = encode(event);
  if (whole.length <= limit) return whole;
  const annotations = { ...event.annotations, [`audit.${domain}/truncated`]: 'true' };
  const cut = encode({ ...event, requestObject: undefined, responseObject: undefined, annotations });
  return cut.length <= limit ? cut : undefined;
}
