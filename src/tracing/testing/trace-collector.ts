import * as grpc from '@grpc/grpc-js';
import { loadTraceService } from '../collector.ts';

/** A span as a collector gets it: identifiers in hexadecimal digits, times in ns, attributes by name. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: it is the root of its trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: { readonly [name: string]: string };
  readonly events: readonly string[];
  readonly links: readonly string[];
  readonly status: { readonly code?: number; readonly message?: string };
}

export interface TraceCollector {
  readonly endpoint: string;
  /** What has arrived. */
  readonly spans: ReceivedSpan[];
  /** The attributes of the resources that spans came from. */
  readonly resources: ReceivedSpan['attributes'][];
  stop(): void;
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly SentAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}
interface SentAttribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string };
}
interface SentSpan extends Pick<ReceivedSpan, 'name' | 'kind' | 'status'> {
  readonly traceId: Buffer;
  readonly spanId: Buffer;
  readonly parentSpanId?: Buffer;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly SentAttribute[];
  readonly events: readonly { readonly name: string }[];
  readonly links: readonly { readonly traceId: Buffer; readonly spanId: Buffer }[];
}

const byName = (attributes: readonly SentAttribute[]): ReceivedSpan['attributes'] =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']));

const received = (span: SentSpan): ReceivedSpan => ({
  traceId: span.traceId.toString('hex'),
  spanId: span.spanId.toString('hex'),
  parentSpanId: span.parentSpanId?.toString('hex') ?? '',
  name: span.name,
  kind: span.kind,
  start: BigInt(span.startTimeUnixNano),
  end: BigInt(span.endTimeUnixNano),
  attributes: byName(span.attributes),
  events: span.events.map(({ name }) => name),
  links: span.links.map(({ traceId, spanId }) => `${traceId.toString('hex')}-${spanId.toString('hex')}`),
  status: span.status,
});

/** A collector of traces on a port of its own: OTLP over gRPC. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const server = new grpc.Server();
  const spans: ReceivedSpan[] = [];
  const resources: ReceivedSpan['attributes'][] = [];
  const take = ({ request }: { readonly request: Sent }, answer: (error: null, value: object) => void) => {
    for (const { resource, scopeSpans } of request.resourceSpans) {
      resources.push(byName(resource.attributes));
      for (const { spans: sent } of scopeSpans) for (const span of sent) spans.push(received(span));
    }
    answer(null, {});
  };
  server.addService(await loadTraceService(), { Export: take as unknown as grpc.UntypedHandleCall });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { endpoint: `127.0.0.1:${port}`, spans, resources, stop: () => server.forceShutdown() };
}
