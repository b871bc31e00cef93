/** Spans as OTLP encodes them in JSON: identifiers are hexadecimal digits, 64-bit integers are decimal digits. */

export interface KeyValue {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string };
}

export interface SpanEvent {
  /** Nanoseconds since 1970. */
  readonly timeUnixNano: string;
  readonly name: string;
}

export interface SpanData {
  readonly traceId: string;
  readonly spanId: string;
  /** Absent: the span is the root of its trace. */
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly events: readonly SpanEvent[];
  /** Related spans of other traces. */
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: 0 | 2; readonly message: string };
}

export const spanKind = { internal: 1, server: 2, client: 3 } as const;
export type SpanKind = (typeof spanKind)[keyof typeof spanKind];

/** A time (ms since 1970) in nanoseconds, to a microsecond. */
export const nanoseconds = (ms: number): string => `${Math.round(ms * 1_000)}000`;

export const attributesOf = (values: { readonly [key: string]: string | number }): KeyValue[] =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }));
