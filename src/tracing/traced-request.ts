import { type Random, type RequestTrace, type Span, Stage, shorten, stageNames } from '../meta/index.ts';
import { attributesOf, nanoseconds, type SpanData, type SpanEvent, type SpanKind, spanKind } from './span-data.ts';
import { formatTraceparent, type TraceContext } from './trace-context.ts';
import type { RequestStart, Traceable, TraceableInfo } from './traceable.ts';

/** The spans of a request. A write with many attempts has more stages. */
const maxSpans = 128;

/** The names in the trace of a verb, as in the reference server: the span of its work, and its events. */
interface VerbNames {
  readonly span: string;
  /** Before a request to the store, after its response, and once the client has read the response. */
  readonly before?: string;
  readonly after?: string;
  readonly end?: string;
}

const end = 'Writing http response done';
const storing = { before: 'About to store object in database', after: 'Write to database call succeeded' };
const verbs = new Map<string, VerbNames>([
  ['get', { span: 'Get', before: 'About to Get from storage', after: 'About to write a response', end }],
  ['list', { span: 'List', before: 'About to List from storage', after: 'Listing from storage done', end }],
  ['watch', { span: 'List' }],
  ['create', { span: 'Create', ...storing }],
  ['update', { span: 'Update', ...storing }],
  ['patch', { span: 'Patch', before: 'About to apply patch', after: 'Object stored in database' }],
  ['delete', { span: 'Delete', before: 'About to delete object from database', after: 'Object deleted from database' }],
  ['deletecollection', { span: 'DeleteCollection' }],
]);

/** A span that has not ended. */
interface OpenSpan {
  readonly id: string;
  readonly parent: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  /** Since the start of the request (ms). */
  readonly startMs: number;
  readonly attributes: { readonly [key: string]: string | number };
  readonly events: SpanEvent[];
}

export interface TracedRequestOptions {
  readonly random: Pick<Random, 'uuid'>;
  readonly request: Traceable;
  readonly info: TraceableInfo;
  readonly start: RequestStart;
  /** The client's span in which it sends the request. */
  readonly parent: TraceContext | undefined;
  /** The span of a client whose trace is not followed. */
  readonly link: TraceContext | undefined;
  /** Receives all spans at the end of the request. */
  readonly onEnd: (spans: readonly SpanData[]) => void;
}

/**
 * The trace of a request: a span for the whole request contains one for each stage. The stages of the verb are in a span of
 * their own.
 */
export class TracedRequest implements RequestTrace {
  readonly #options: TracedRequestOptions;
  readonly #traceId: string;
  readonly #verb: VerbNames | undefined;
  readonly #root: OpenSpan;
  readonly #spans: SpanData[] = [];
  /** The span of the verb. */
  #work: OpenSpan | undefined;
  #stage: Stage = Stage.authentication;
  #stageSpan: OpenSpan;

  constructor(options: TracedRequestOptions) {
    const { request, info, start, parent, random } = options;
    this.#options = options;
    this.#traceId = parent?.traceId ?? random.uuid().replaceAll('-', '');
    this.#verb = info.resource === undefined ? undefined : verbs.get(info.verb);
    this.#root = this.#open(spanName(request.method, info), parent?.spanId, 0, spanKind.server, {
      'http.request.method': request.method,
      'http.target': shorten(info.path),
      'user_agent.original': shorten(request.headers['user-agent'] ?? ''),
      'client.address': request.peer.address,
      'audit-id': start.id,
    });
    this.#stageSpan = this.#openStage(0);
  }

  entered(stage: Stage, atMs: number): void {
    this.#close(this.#stageSpan, atMs);
    if (this.#stage === Stage.store && stage === Stage.serialization) this.#addEvent(this.#verb?.after, atMs);
    this.#stage = stage;
    if (stage >= Stage.body && this.#verb !== undefined)
      this.#work ??= this.#open(this.#verb.span, this.#root.id, atMs);
    this.#stageSpan = this.#openStage(atMs);
    if (stage === Stage.store) this.#addEvent(this.#verb?.before, atMs);
  }

  begin(name: string, attributes: { readonly [name: string]: string }): Span {
    const { stages } = this.#options.start;
    const span = this.#open(name, this.#stageSpan.id, stages.totalMs(), spanKind.client, attributes);
    return {
      traceparent: formatTraceparent(this.#traceId, span.id),
      end: (failure) => this.#close(span, stages.totalMs(), failure),
    };
  }

  end(status: number, size: number): void {
    const at = this.#options.start.stages.totalMs();
    this.#close(this.#stageSpan, at);
    this.#addEvent(this.#verb?.end, at);
    if (this.#work !== undefined) this.#close(this.#work, at);
    const attributes = { 'http.response.status_code': status, 'http.response.body.size': size };
    const root = { ...this.#root, attributes: { ...this.#root.attributes, ...attributes } };
    this.#options.onEnd([this.#toSpanData(root, at, status >= 500 ? '' : undefined), ...this.#spans]);
  }

  #openStage(atMs: number): OpenSpan {
    const parent = this.#stage >= Stage.body ? this.#work : undefined;
    const name = this.#stage === Stage.serialization ? 'SerializeObject' : (stageNames[this.#stage] as string);
    return this.#open(name, (parent ?? this.#root).id, atMs);
  }

  #open(
    name: string,
    parent: string | undefined,
    startMs: number,
    kind: SpanKind = spanKind.internal,
    attributes: OpenSpan['attributes'] = {},
  ): OpenSpan {
    const id = this.#options.random.uuid().replaceAll('-', '').slice(16);
    return { id, parent, name, kind, startMs, attributes, events: [] };
  }

  #addEvent(name: string | undefined, atMs: number): void {
    if (name === undefined || this.#spans.length >= maxSpans) return;
    this.#work?.events.push({ timeUnixNano: this.#time(atMs), name });
  }

  #close(span: OpenSpan, atMs: number, failure?: string): void {
    if (this.#spans.length < maxSpans || span === this.#work) this.#spans.push(this.#toSpanData(span, atMs, failure));
  }

  #toSpanData(
    { id, parent, name, kind, startMs, attributes, events }: OpenSpan,
    endMs: number,
    failure?: string,
  ): SpanData {
    const { link } = this.#options;
    const isRoot = id === this.#root.id;
    return {
      traceId: this.#traceId,
      spanId: id,
      ...(parent === undefined ? {} : { parentSpanId: parent }),
      name,
      kind,
      events,
      startTimeUnixNano: this.#time(startMs),
      endTimeUnixNano: this.#time(endMs),
      attributes: attributesOf(attributes),
      links: isRoot && link !== undefined ? [{ traceId: link.traceId, spanId: link.spanId }] : [],
      status: failure === undefined ? { code: 0, message: '' } : { code: 2, message: shorten(failure) },
    };
  }

  #time(ms: number): string {
    return nanoseconds(this.#options.start.started + ms);
  }
}

/** The name of the span of a request as in the reference server: without the names of objects, so that there are few. */
function spanName(method: string, { resource }: TraceableInfo): string {
  if (resource === undefined) return method;
  const { group, version, namespace, resource: plural, name, subresource } = resource;
  const parts = [
    ...(group === '' ? ['api'] : ['apis', group]),
    version,
    ...(namespace === '' ? [] : ['namespaces', '{:namespace}']),
    plural,
    ...(name === '' ? [] : ['{:name}']),
    ...(subresource === '' ? [] : [subresource]),
  ];
  return `${method} /${parts.join('/')}`;
}
