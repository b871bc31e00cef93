import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SpanData } from '../span-data.ts';

/** A span with its times as numbers (ns since 1970) and its attributes by name. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: the span is the root of its trace. */
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
  /** `host:port`. */
  readonly endpoint: string;
  /** All received spans. */
  readonly spans: ReceivedSpan[];
  /** The attributes of the resources that sent the spans. */
  readonly resources: ReceivedSpan['attributes'][];
  stop(): void;
}

/** An `ExportTraceServiceRequest` in JSON. */
interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: SpanData['attributes'] };
    readonly scopeSpans: readonly { readonly spans: readonly SpanData[] }[];
  }[];
}

const byName = (attributes: SpanData['attributes']): ReceivedSpan['attributes'] =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [key, 'stringValue' in value ? value.stringValue : value.intValue]),
  );

const toReceivedSpan = (span: SpanData): ReceivedSpan => ({
  traceId: span.traceId,
  spanId: span.spanId,
  parentSpanId: span.parentSpanId ?? '',
  name: span.name,
  kind: span.kind,
  start: BigInt(span.startTimeUnixNano),
  end: BigInt(span.endTimeUnixNano),
  attributes: byName(span.attributes),
  events: span.events.map(({ name }) => name),
  links: span.links.map(({ traceId, spanId }) => `${traceId}-${spanId}`),
  status: span.status,
});

/** A trace collector on a port of its own: OTLP over HTTP with JSON. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: ReceivedSpan[] = [];
  const resources: ReceivedSpan['attributes'][] = [];
  const server = createServer((request, response) => {
    const isExport = request.method === 'POST' && request.url === '/v1/traces';
    if (!isExport || request.headers['content-type'] !== 'application/json') {
      response.writeHead(404).end();
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as ExportRequest;
      for (const { resource, scopeSpans } of resourceSpans) {
        resources.push(byName(resource.attributes));
        for (const scope of scopeSpans) spans.push(...scope.spans.map(toReceivedSpan));
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { endpoint: `127.0.0.1:${port}`, spans, resources, stop };
}
