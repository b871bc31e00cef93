/** The content of a `traceparent` header (W3C Trace Context): identifiers are hexadecimal digits. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const zeros = /^0+$/;

/** Undefined for an absent or invalid header. */
export function parseTraceparent(header: string | undefined): TraceContext | undefined {
  if (header === undefined) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(header) ?? [];
  // Later versions may have more parts.
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (zeros.test(traceId) || zeros.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const formatTraceparent = (traceId: string, spanId: string): string => `00-${traceId}-${spanId}-01`;
