import { type Random, type RequestTrace, type Span, Stage, shorten, stageNames } from '../meta/index.ts';
import { attributesOf, nanoseconds, type SpanData, type SpanEvent, type SpanKind, spanKind } from './span-data.ts';
import { formatTraceparent, type TraceContext } from './trace-context.ts';
import type { Known, Traceable, TraceableInfo } from './traceable.ts';

/** How many spans a request has: a write that is attempted again and again has more stages. */
const mostSpans = 128;

/** How a verb is shown, as in the reference server: the span of its work, and its events. */
interface VerbNames {
  readonly span: string;
  /** Before the store is asked, after it has answered, and when the client has the response. */
  readonly before?: string;
  readonly after?: string;
  readonly written?: string;
}

const written = 'Writing http response done';
const stored = { before: 'About to store object in database', after: 'Write to database call succeeded' };
const verbs = new Map<string, VerbNames>([
  ['get', { span: 'Get', before: 'About to Get from storage', after: 'About to write a response', written }],
  ['list', { span: 'List', before: 'About to List from storage', after: 'Listing from storage done', written }],
  ['watch', { span: 'List' }],
  ['create', { span: 'Create', ...stored }],
  ['update', { span: 'Update', ...stored }],
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
  readonly began: number;
  readonly attributes: { readonly [key: string]: string | number };
  readonly events: SpanEvent[];
}

export interface TracedRequestOptions {
  readonly random: Pick<Random, 'uuid'>;
  readonly request: Traceable;
  readonly info: TraceableInfo;
  readonly known: Known;
  /** The span of the client within which the request was sent. */
  readonly parent: TraceContext | undefined;
  /** The same, of a client whose trace is not followed. */
  readonly link: TraceContext | undefined;
  /** Receives all spans when the request is over. */
  readonly ended: (spans: readonly SpanData[]) => void;
}

/** The trace of a request: a span for all of it, within that one for each stage, those of the verb within one of its own. */
export class TracedRequest implements RequestTrace {
  readonly #options: TracedRequestOptions;
  readonly #traceId: string;
  readonly #verb: VerbNames | undefined;
  readonly #root: OpenSpan;
  readonly #spans: SpanData[] = [];
  /** What the verb does. */
  #work: OpenSpan | undefined;
  #stage: Stage = Stage.authentication;
  #stageSpan: OpenSpan;

  constructor(options: TracedRequestOptions) {
    const { request, info, known, parent, random } = options;
    this.#options = options;
    this.#traceId = parent?.traceId ?? random.uuid().replaceAll('-', '');
    this.#verb = info.resource === undefined ? undefined : verbs.get(info.verb);
    this.#root = this.#open(spanName(request.method, info), parent?.spanId, 0, spanKind.server, {
      'http.request.method': request.method,
      'http.target': shorten(info.path),
      'user_agent.original': shorten(request.headers['user-agent'] ?? ''),
      'client.address': request.peer.address,
      'audit-id': known.id,
    });
    this.#stageSpan = this.#openStage(0);
  }

  entered(stage: Stage, atMs: number): void {
    this.#close(this.#stageSpan, atMs);
    if (this.#stage === Stage.store && stage === Stage.serialization) this.#tell(this.#verb?.after, atMs);
    this.#stage = stage;
    if (stage >= Stage.body && this.#verb !== undefined)
      this.#work ??= this.#open(this.#verb.span, this.#root.id, atMs);
    this.#stageSpan = this.#openStage(atMs);
    if (stage === Stage.store) this.#tell(this.#verb?.before, atMs);
  }

  begin(name: string, attributes: { readonly [name: string]: string }): Span {
    const { stages } = this.#options.known;
    const span = this.#open(name, this.#stageSpan.id, stages.totalMs(), spanKind.client, attributes);
    return {
      traceparent: formatTraceparent(this.#traceId, span.id),
      end: (failure) => this.#close(span, stages.totalMs(), failure),
    };
  }

  end(status: number, size: number): void {
    const at = this.#options.known.stages.totalMs();
    this.#close(this.#stageSpan, at);
    this.#tell(this.#verb?.written, at);
    if (this.#work !== undefined) this.#close(this.#work, at);
    const attributes = { 'http.response.status_code': status, 'http.response.body.size': size };
    const root = { ...this.#root, attributes: { ...this.#root.attributes, ...attributes } };
    this.#options.ended([this.#made(root, at, status >= 500 ? '' : undefined), ...this.#spans]);
  }

  #openStage(atMs: number): OpenSpan {
    const parent = this.#stage >= Stage.body ? this.#work : undefined;
    const name = this.#stage === Stage.serialization ? 'SerializeObject' : (stageNames[this.#stage] as string);
    return this.#open(name, (parent ?? this.#root).id, atMs);
  }

  #open(
    name: string,
    parent: string | undefined,
    began: number,
    kind: SpanKind = spanKind.internal,
    attributes: OpenSpan['attributes'] = {},
  ): OpenSpan {
    const id = this.#options.random.uuid().replaceAll('-', '').slice(16);
    return { id, parent, name, kind, began, attributes, events: [] };
  }

  #tell(name: string | undefined, atMs: number): void {
    if (name === undefined || this.#spans.length >= mostSpans) return;
    this.#work?.events.push({ timeUnixNano: this.#time(atMs), name });
  }

  #close(span: OpenSpan, atMs: number, failure?: string): void {
    if (this.#spans.length < mostSpans || span === this.#work) this.#spans.push(this.#made(span, atMs, failure));
  }

  #made({ id, parent, name, kind, began, attributes, events }: OpenSpan, endMs: number, failure?: string): SpanData {
    const { link } = this.#options;
    const isRoot = id === this.#root.id;
    return {
      traceId: bytesOf(this.#traceId),
      spanId: bytesOf(id),
      ...(parent === undefined ? {} : { parentSpanId: bytesOf(parent) }),
      ...{ name, kind, events },
      startTimeUnixNano: this.#time(began),
      endTimeUnixNano: this.#time(endMs),
      attributes: attributesOf(attributes),
      links: isRoot && link !== undefined ? [{ traceId: bytesOf(link.traceId), spanId: bytesOf(link.spanId) }] : [],
      status: failure === undefined ? { code: 0, message: '' } : { code: 2, message: shorten(failure) },
    };
  }

  #time(ms: number): string {
    return nanoseconds(this.#options.known.started + ms);
  }
}

const bytesOf = (digits: string): Buffer => Buffer.from(digits, 'hex');

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
