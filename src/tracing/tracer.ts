import type { Clock, Random, RequestTrace } from '../meta/index.ts';
import { openCollector, tracesUrl } from './collector.ts';
import { SpanExporter } from './span-exporter.ts';
import { parseTraceparent, type TraceContext } from './trace-context.ts';
import type { RequestStart, Traceable, TraceableInfo } from './traceable.ts';
import { TracedRequest } from './traced-request.ts';

export interface Tracer {
  /** The trace of a request. Undefined: it is not sampled. */
  begin(request: Traceable, info: TraceableInfo, start: RequestStart): RequestTrace | undefined;
  /** Exports the spans of completed requests within a time (ms). Later spans are lost. */
  close(timeoutMs: number): Promise<void>;
}

export interface TracerOptions {
  /** `host:port`, or a URL with `http` or `https`. Default: `localhost:4318`. */
  readonly endpoint: string | undefined;
  readonly samplingRatePerMillion: number;
  /** Identifies this server among others. */
  readonly identity: string;
  /** The program that creates the spans. */
  readonly scope: { readonly name: string; readonly version: string };
  readonly clock: Clock;
  readonly random: Random;
  readonly warn: (text: string, fields: { readonly [name: string]: unknown }) => void;
}

/** The port that OTLP assigns to HTTP. */
const defaultEndpoint = 'localhost:4318';
/** Groups whose trace contexts are followed. Other clients could have every request sampled. */
const trustedGroups = ['system:masters', 'system:monitoring'];

/** Connects to the collector when there are spans to export. */
export function createTracer(options: TracerOptions): Tracer {
  const { clock, random, identity, scope, warn, samplingRatePerMillion: rate } = options;
  const endpoint = options.endpoint ?? defaultEndpoint;
  const url = tracesUrl(endpoint);
  if (url === undefined) throw new Error(`invalid endpoint of a trace collector: ${endpoint}`);
  const collector = openCollector({ url, serviceName: 'apiserver', instance: identity, scope, clock });
  const exporter = new SpanExporter({ collector, clock, warn, endpoint });
  const isSampled = () => rate > 0 && random.integer(1_000_000) < rate;
  const begin = (request: Traceable, info: TraceableInfo, start: RequestStart, context: TraceContext | undefined) => {
    const follows = context !== undefined && start.user.groups.some((group) => trustedGroups.includes(group));
    if (!(follows ? context.sampled : isSampled())) return undefined;
    const parent = follows ? context : undefined;
    const link = follows ? undefined : context;
    return new TracedRequest({ random, request, info, start, parent, link, onEnd: (spans) => exporter.add(spans) });
  };
  return {
    begin(request, info, start) {
      const header = request.headers['traceparent'];
      if (header === undefined && rate === 0) return undefined;
      return begin(request, info, start, parseTraceparent(header));
    },
    close: (timeoutMs) => exporter.close(timeoutMs),
  };
}
