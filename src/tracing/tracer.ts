import type { Clock, Random, RequestTrace, ResourcePlace, Stages, User } from '../meta/index.ts';
import { loadCollector } from './collector.ts';
import { SpanExporter } from './span-exporter.ts';
import { parseTraceparent, type TraceContext } from './trace-context.ts';
import { TracedRequest } from './traced-request.ts';

/** A request as a trace shows it. */
export interface Traceable {
  readonly method: string;
  readonly headers: { readonly [name: string]: string | undefined };
  readonly peer: { readonly address: string };
}

export interface TraceableInfo {
  /** Without query, which may hold what is secret. */
  readonly path: string;
  readonly verb: string;
  readonly resource: ResourcePlace | undefined;
}

/** What the server knows of a request that it has authenticated. */
export interface Known {
  readonly user: User;
  /** The Audit-ID. */
  readonly id: string;
  /** When the request began (ms since 1970). */
  readonly started: number;
  readonly stages: Stages;
}

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
