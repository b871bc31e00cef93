import type { Clock, Random, RequestTrace } from '../meta/index.ts';
import { loadCollector } from './collector.ts';
import { SpanExporter } from './span-exporter.ts';
import { parseTraceparent, type TraceContext } from './trace-context.ts';
import type { Known, Traceable, TraceableInfo } from './traceable.ts';
import { TracedRequest } from './traced-request.ts';

export interface Tracer {
  /** The trace of a request; undefined when it is not sampled. */
  begin(request: Traceable, info: TraceableInfo, known: Known): RequestTrace | undefined;
  /** Exports what has ended, within a time (ms). Later spans are lost. */
  close(timeoutMs: number): Promise<void>;
}

export interface TracerOptions {
  /** Default: `localhost:4317`. */
  readonly endpoint: string | undefined;
  readonly samplingRatePerMillion: number;
  /** Names this server among others. */
  readonly identity: string;
  /** Name and version of the program that makes the spans. */
  readonly scope: { readonly name: string; readonly version: string };
  readonly clock: Clock;
  readonly random: Random;
  readonly warn: (text: string, fields: { readonly [name: string]: unknown }) => void;
}

const defaultEndpoint = 'localhost:4317';
/** Whose trace contexts are followed: those of others could have everything sampled. */
const trustedGroups = ['system:masters', 'system:monitoring'];

/** Connects when there is something to export. */
export async function createTracer(options: TracerOptions): Promise<Tracer> {
  const { clock, random, identity, scope, warn, samplingRatePerMillion: rate } = options;
  const endpoint = options.endpoint ?? defaultEndpoint;
  const connect = await loadCollector();
  const collector = connect(endpoint, { serviceName: 'apiserver', instance: identity, scope });
  const exporter = new SpanExporter({ collector, clock, warn, endpoint });
  const samples = () => rate > 0 && random.integer(1_000_000) < rate;
  const begin = (request: Traceable, info: TraceableInfo, known: Known, context: TraceContext | undefined) => {
    const follows = context !== undefined && known.user.groups.some((group) => trustedGroups.includes(group));
    if (!(follows ? context.sampled : samples())) return undefined;
    const parent = follows ? context : undefined;
    const link = follows ? undefined : context;
    return new TracedRequest({ random, request, info, known, parent, link, ended: (spans) => exporter.add(spans) });
  };
  return {
    begin(request, info, known) {
      const header = request.headers['traceparent'];
      if (header === undefined && rate === 0) return undefined;
      return begin(request, info, known, parseTraceparent(header));
    },
    close: (timeoutMs) => exporter.close(timeoutMs),
  };
}
