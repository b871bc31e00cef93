import type { ServiceDefinition } from '@grpc/proto-loader';
import { attributesOf, type SpanData } from './span-data.ts';

/** A message with its fields. */
const type = (...fields: readonly (readonly [name: string, type: string, id: number, rule?: 'repeated'])[]) => ({
  fields: Object.fromEntries(
    fields.map(([name, type, id, rule]) => [name, { type, id, ...(rule === undefined ? {} : { rule }) }]),
  ),
});
/** The messages of OTLP for traces. Numbers and names are those of its specification. */
const messages = {
  TraceService: { methods: { Export: { requestType: 'ExportRequest', responseType: 'ExportResponse' } } },
  ExportRequest: type(['resourceSpans', 'ResourceSpans', 1, 'repeated']),
  ExportResponse: type(['partialSuccess', 'PartialSuccess', 1]),
  PartialSuccess: type(['rejectedSpans', 'int64', 1], ['errorMessage', 'string', 2]),
  ResourceSpans: type(['resource', 'Resource', 1], ['scopeSpans', 'ScopeSpans', 2, 'repeated']),
  Resource: type(['attributes', 'KeyValue', 1, 'repeated']),
  ScopeSpans: type(['scope', 'Scope', 1], ['spans', 'Span', 2, 'repeated']),
  Scope: type(['name', 'string', 1], ['version', 'string', 2]),
  KeyValue: type(['key', 'string', 1], ['value', 'AnyValue', 2]),
  AnyValue: {
    oneofs: { value: { oneof: ['stringValue', 'intValue'] } },
    ...type(['stringValue', 'string', 1], ['intValue', 'int64', 3]),
  },
  Span: type(
    ['traceId', 'bytes', 1],
    ['spanId', 'bytes', 2],
    ['parentSpanId', 'bytes', 4],
    ['name', 'string', 5],
    ['kind', 'int32', 6],
    ['startTimeUnixNano', 'fixed64', 7],
    ['endTimeUnixNano', 'fixed64', 8],
    ['attributes', 'KeyValue', 9, 'repeated'],
    ['events', 'Event', 11, 'repeated'],
    ['links', 'Link', 13, 'repeated'],
    ['status', 'Status', 15],
  ),
  Event: type(['timeUnixNano', 'fixed64', 1], ['name', 'string', 2]),
  Link: type(['traceId', 'bytes', 1], ['spanId', 'bytes', 2]),
  Status: type(['message', 'string', 2], ['code', 'int32', 3]),
};
const place = 'opentelemetry.proto.collector.trace.v1';

/** Where spans are sent. */
export interface Collector {
  /** Rejects with the reason when the collector has not taken them within a time (ms). */
  send(spans: readonly SpanData[], timeoutMs: number): Promise<void>;
  close(): void;
}

/** What all spans of a process have in common. */
export interface Origin {
  readonly serviceName: string;
  readonly instance: string;
  /** The program that makes the spans. */
  readonly scope: { readonly name: string; readonly version: string };
}

/** The service of a collector. Imported on demand, so that a server that traces nothing does not load it. */
export async function loadTraceService(): Promise<ServiceDefinition> {
  const { fromJSON } = await import('@grpc/proto-loader');
  const root = place.split('.').reduceRight<object>((nested, name) => ({ nested: { [name]: nested } }), {
    nested: messages,
  });
  const options = { longs: String, defaults: false, arrays: true };
  return fromJSON(root as Parameters<typeof fromJSON>[0], options)[`${place}.TraceService`] as ServiceDefinition;
}

/** Connects to a collector, by OTLP over gRPC without TLS, when there is something to send. */
export async function loadCollector(): Promise<(endpoint: string, origin: Origin) => Collector> {
  const [grpc, service] = await Promise.all([import('@grpc/grpc-js'), loadTraceService()]);
  const { path, requestSerialize, responseDeserialize } = service['Export'] as ServiceDefinition[string];
  return (endpoint, { serviceName, instance, scope }) => {
    const client = new grpc.Client(endpoint, grpc.credentials.createInsecure());
    const resource = {
      attributes: attributesOf({ 'service.name': serviceName, 'service.instance.id': instance }),
    };
    return {
      send: (spans, timeoutMs) =>
        new Promise((resolve, reject) => {
          const request = { resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] };
          const metadata = new grpc.Metadata({ waitForReady: true });
          // The library compares it with the clock of the process.
          const deadline = Date.now() + timeoutMs;
          client.makeUnaryRequest(
            path,
            requestSerialize,
            responseDeserialize,
            request,
            metadata,
            { deadline },
            (error) => {
              if (error === null) resolve();
              else reject(new Error(`${grpc.status[error.code]}: ${error.details.slice(0, 500)}`));
            },
          );
        }),
      close: () => client.close(),
    };
  };
}
