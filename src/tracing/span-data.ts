// A span as OTLP has it, in the names of its JSON form; identifiers are bytes.

export interface KeyValue {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: number };
}

export interface SpanEvent {
  /** Nanoseconds since 1970, in digits. */
  readonly timeUnixNano: string;
  readonly name: string;
}

export interface SpanData {
  readonly traceId: Buffer;
  readonly spanId: Buffer;
  /** Absent: it is the root of its trace. */
  readonly parentSpanId?: Buffer;
  readonly name: string;
  readonly kind: SpanKind;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly events: readonly SpanEvent[];
  /** Spans of other traces that this one belongs to. */
  readonly links: readonly { readonly traceId: Buffer; readonly spanId: Buffer }[];
  readonly status: { readonly code: 0 | 2; readonly message: string };
}

export const spanKind = { internal: 1, server: 2, client: 3 } as const;
export type SpanKind = (typeof spanKind)[keyof typeof spanKind];

/** The time (ms since 1970), to a microsecond. */
export const nanoseconds = (ms: number): string => `${Math.round(ms * 1_000)}000`;

export const attributesOf = (values: { readonly [key: string]: string | number }): KeyValue[] =>
  Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: value } : { stringValue: value },
  }));
