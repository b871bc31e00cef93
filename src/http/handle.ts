import type { AuditContext } from '../audit/index.ts';
import type { FlowRequest } from '../fairness/index.ts';
import {
  accessDenied,
  type Clock,
  type Names,
  Stage,
  Stages,
  StatusError,
  scheduler,
  shorten,
  statusError,
  type User,
} from '../meta/index.ts';
import {
  AuthorizationError,
  authenticateRequest,
  authorizationErrorAnswer,
  authorizeRequest,
  hasImpersonation,
} from './access.ts';
import { emptyBody } from './answers.ts';
import type { Call, HandlerOptions, Serving } from './call.ts';
import { createCodecs } from './codecs/codecs.ts';
import { failureAnswers } from './codecs/negotiation.ts';
import { largeResponse, maxUncompressedBytes } from './compression.ts';
import { impersonate } from './impersonate.ts';
import { flowClassOf, Reservation } from './limits.ts';
import { pieces } from './listener/pieces.ts';
import { TrackedBody } from './listener/tracked-body.ts';
import type { RequestEntry } from './log.ts';
import type { RequestSeries } from './metrics/request-metrics.ts';
import { slowRequestLog } from './metrics/slow-requests.ts';
import { Overload, overloadAnswer } from './overload.ts';
import { isLongRunning } from './relay/aggregated.ts';
import { relayAt } from './relay/relay-at.ts';
import { attributesOf, identify, type RequestInfo } from './request-info.ts';
import type { ApiRequest, ApiResponse, Chunk, Handler } from './types.ts';
import { createVerbs } from './verbs.ts';
import { Warnings, withWarnings } from './warnings.ts';

/** The server without its sockets. */
export function createHandler(options: HandlerOptions): Handler {
  const { aggregation, auditor, authorize, clock, flowControl, metrics, names, random, registry, nonResource, tracer } =
    options;
  const { APIResponseCompression: compress, AuthorizeWithSelectors: withSelectors } = registry.features;
  const serving = createServing(options);
  const verbs = createVerbs(serving);
  const seatHeaders = seatHeaderNames(names);
  const conclude = createConclusion(options);

  return async (request) => {
    const started = clock.now();
    const id = auditIdOf(request, random);
    const annotations = auditor === undefined ? undefined : new Map<string, string>();
    const progress = beginProgress(started, id, clock);
    const { stages } = progress;
    let warnings: Warnings | undefined;
    const warn = (text: string) => {
      warnings ??= new Warnings();
      warnings.add(text);
    };
    let audit: AuditContext | undefined;
    let seats: FlowRequest | undefined;
    let reservation: Reservation | undefined;
    let response: ApiResponse;
    try {
      // Identify: the request info, and the resource at its path.
      const info = identify(request.method, request.url);
      const path = info.resource;
      const resource = path === undefined ? undefined : registry.find(path.group, path.version, path.resource);
      const series = metrics.series(info, resource, request.headers['content-type']);
      const relay =
        aggregation !== undefined && aggregation.registrations.remotes.size > 0
          ? relayAt(info, aggregation)
          : undefined;
      progress.info = info;
      progress.series = series;
      // Authenticate.
      let user = await authenticateRequest(request, info.path, started, warn, annotations, options);
      progress.user = user;
      if (tracer !== undefined) stages.trace = tracer.begin(request, info, { user, id, started, stages });
      if (auditor !== undefined) stages.enter(Stage.audit);
      const turns = scheduler.turns(user.name);
      if (info.selectorLength >= minLongSelectors && turns.over) await turns.next();
      let attributes = attributesOf(info, user, withSelectors);
      // Audit.
      audit = auditor?.begin(request, attributes, id, started, annotations);
      if (audit?.received !== undefined) await audit.received;
      // Impersonate.
      if (hasImpersonation(request.headers)) {
        stages.enter(Stage.impersonation);
        user = await impersonate(user, request, authorize, names, accessDenied);
        attributes = { ...attributes, user };
        if (user !== progress.user) audit?.impersonated(user);
      }
      // Wait for a seat, which a proxied request does not take, and limit the requests in flight. A mutating request has
      // both once its body has arrived.
      const flowClass = relay === undefined ? flowClassOf(info, resource) : 'proxied';
      const needsSeats = relay === undefined ? flowClass !== 'proxied' : !isLongRunning(request, info);
      seats = needsSeats ? flowControl?.classify(attributes) : undefined;
      const arrival = { request, info, resource, flowClass, seats, turns, stages };
      reservation = new Reservation(metrics.inFlight, user, arrival);
      if (flowClass === 'mutating' && path !== undefined) reservation.check();
      else {
        const entering = reservation.enter();
        if (entering !== undefined) await entering;
      }
      if (flowClass === 'longRunning' || flowClass === 'proxied') markLongRunning(progress, series);
      // Authorize.
      stages.enter(Stage.authorization);
      await authorizeRequest(attributes, audit, options);
      // Dispatch.
      const call: Call = {
        request,
        id,
        info,
        resource,
        user,
        series,
        reservation,
        warn,
        audit,
        reached: false,
        stages,
        turns,
      };
      progress.call = call;
      response = await (relay ?? (path === undefined ? nonResource : verbs))(call);
      if (response.status === 101) response = { ...response, turns };
      if (flowClass === 'readOnly' && (isStreamed(response.body) || response.body.length > maxUncompressedBytes)) {
        response = await largeResponse(response, call, compress);
      }
    } catch (error) {
      progress.terminated = error instanceof Overload || isTimeout(error);
      if (progress.user === undefined) audit = auditUnauthenticated(options, request, progress);
      response = errorAnswer(serving, request, progress, error, audit);
    }
    const recording = audit?.responded(response.status, response.tunnel === undefined && !isStreamed(response.body));
    if (recording !== undefined) await recording;
    response = withOwnHeaders(response, id, seats, seatHeaders);
    if (warnings !== undefined) response = withWarnings(response, warnings);
    // Respond. The request is in flight until the client has read the last byte.
    reservation?.leaveSeats();
    stages.enter(Stage.response);
    return deliver(request, response, { reservation, user: progress.user }, (size, error) => {
      reservation?.release();
      if (error === undefined) void audit?.complete();
      else audit?.panicked(error);
      conclude(request, progress, response.status, size, error);
    });
  };
}

function createServing(options: HandlerOptions): Serving {
  const { AuthorizeWithSelectors: withSelectors, CBORServingAndStorage: cbor } = options.registry.features;
  const codecs = createCodecs({ ...options, cbor });
  return {
    ...options,
    codecs,
    answerFailure: failureAnswers(codecs.documents),
    answerResourceFailure: failureAnswers(codecs.all),
    permit: ({ info, user }, verb) =>
      authorizeRequest({ ...attributesOf(info, user, withSelectors), verb }, undefined, options),
  };
}

/** Selectors of this length (characters) take long to parse: some 100 ns for each character. */
const minLongSelectors = 1024;

/** The form of an Audit-ID that a client may choose. */
const auditIdForm = /^[\x20-\x7e]{1,256}$/;

function auditIdOf({ headers }: ApiRequest, random: HandlerOptions['random']): string {
  const id = headers['audit-id'];
  return id !== undefined && auditIdForm.test(id) ? id : random.uuid();
}

/** The headers of the UIDs of the flow schema and the priority level. */
interface SeatHeaders {
  readonly schema: string;
  readonly level: string;
}

function seatHeaderNames({ flowControlHeader }: Names): SeatHeaders {
  const start = flowControlHeader.toLowerCase();
  return { schema: `${start}flowschema-uid`, level: `${start}prioritylevel-uid` };
}

/** Adds the Audit-ID and the headers of the seats, except to the response of a kubelet to an upgrade. */
function withOwnHeaders(
  response: ApiResponse,
  id: string,
  seats: FlowRequest | undefined,
  { schema, level }: SeatHeaders,
): ApiResponse {
  if (response.tunnel !== undefined) return response;
  // Several objects spread into one would have a hidden class of its own in V8 for each response.
  const headers: { [name: string]: string | readonly string[] } = {};
  for (const name in response.headers) headers[name] = response.headers[name] as string;
  headers['audit-id'] = id;
  if (seats !== undefined) {
    headers[schema] = seats.schema.uid;
    headers[level] = seats.level.configuration.uid;
  }
  return { ...response, headers };
}

type OnEnd = (size: number, error: unknown) => void;

/** Longer responses are sent in chunks, and their unread bytes are counted (bytes). */
const maxWholeBytes = 64 * 1024;

/** To whom a response is counted. */
interface Receiver {
  readonly reservation: Reservation | undefined;
  /** Undefined: not authenticated. */
  readonly user: User | undefined;
}

/** Returns the response. Calls `onEnd` once the client has read it or has disconnected. */
function deliver(request: ApiRequest, response: ApiResponse, receiver: Receiver, onEnd: OnEnd): ApiResponse {
  const { reservation, user } = receiver;
  const { body, tunnel } = response;
  if (tunnel !== undefined) {
    const closed = () => onEnd(tunnel.bytesRead, undefined);
    if (tunnel.closed) closed();
    else tunnel.once('close', closed);
    return response;
  }
  if (isStreamed(body) && request.method === 'HEAD' && response.headers['content-length'] !== undefined) {
    return deliver(request, { ...response, body: emptyBody }, receiver, onEnd);
  }
  if (isStreamed(body))
    return { ...response, body: trackBody(request, body[Symbol.asyncIterator](), reservation, onEnd) };
  const { length } = body;
  if (request.whenOver === undefined) onEnd(length, undefined);
  else if (length > maxWholeBytes && request.method !== 'HEAD') {
    const headers = { ...response.headers, 'content-length': String(length) };
    const slices = pieces(body, scheduler.turns(user?.name ?? request.peer.address));
    return { ...response, headers, body: trackBody(request, slices, reservation, onEnd) };
  } else request.whenOver(() => onEnd(length, undefined));
  return request.method === 'HEAD' ? withoutBody(response, length) : response;
}

function trackBody(
  request: ApiRequest,
  body: AsyncIterator<Chunk>,
  reservation: Reservation | undefined,
  onEnd: OnEnd,
): AsyncIterable<Chunk> {
  const trackedBody = new TrackedBody(body, reservation, onEnd);
  request.whenOver?.(() => void trackedBody.return().catch(() => {}));
  return trackedBody;
}

/** The state of a request, for metrics and the log. */
interface Progress {
  readonly started: number;
  /** The Audit-ID. */
  readonly id: string;
  readonly stages: Stages;
  info: RequestInfo;
  user: User | undefined;
  series: RequestSeries | undefined;
  /** Undefined: not authorized yet. */
  call: Call | undefined;
  /** Whether it is a watch or a proxied request, which may take as long as the client wants. */
  longRunning: boolean;
  /** Rejected or abandoned to protect the server. */
  terminated: boolean;
}

const beginProgress = (started: number, id: string, clock: Clock): Progress => ({
  started,
  id,
  stages: new Stages(clock),
  info: unknownRequest,
  user: undefined,
  series: undefined,
  call: undefined,
  longRunning: false,
  terminated: false,
});

/** Counts a watch or a proxied request as in progress, until its conclusion. */
function markLongRunning(progress: Progress, { longRunning }: RequestSeries): void {
  progress.longRunning = true;
  if (longRunning !== undefined) longRunning.value++;
}

/** Whether the server has waited too long: for the body of the request, or for the response. */
const isTimeout = (error: unknown): boolean =>
  error instanceof StatusError && (error.code === 408 || error.code === 504);

const isStreamed = (body: ApiResponse['body']): body is AsyncIterable<Chunk> =>
  typeof body !== 'string' && !(body instanceof Uint8Array);

const unknownRequest: RequestInfo = {
  path: '',
  query: new URLSearchParams(),
  verb: '',
  resource: undefined,
  watchPath: false,
  selectors: {},
  selectorLength: 0,
};

/** Audits a request that failed to authenticate, unless its URL is invalid. */
function auditUnauthenticated(
  { auditor }: HandlerOptions,
  request: ApiRequest,
  { started, id, info }: Progress,
): AuditContext | undefined {
  if (info === unknownRequest) return undefined;
  const { verb, resource, path } = info;
  return auditor?.begin(request, { user: undefined, verb, resource, path }, id, started);
}

/** A request is slow after this time (ms), plus a millisecond for each {@link bytesPerMs} bytes of its response. */
const slowMs = 500;
const bytesPerMs = 64 * 1024;

type Conclude = (request: ApiRequest, progress: Progress, status: number, size: number, error: unknown) => void;

/** Counts and logs each request at its end, and ends its trace. */
function createConclusion({ clock, metrics, log, isStarting }: HandlerOptions): Conclude {
  const logSlow = slowRequestLog(log, clock);
  return (request, progress, status, size, error) => {
    const { started, id: auditID, stages, info, user, series = metrics.series(info, undefined) } = progress;
    const milliseconds = clock.now() - started;
    if (progress.longRunning && series.longRunning !== undefined) series.longRunning.value--;
    series.count(status, milliseconds / 1000, stages.waitedMs / 1000, info.verb === 'watch' ? undefined : size);
    if (progress.terminated) series.countTermination(status);
    if (error !== undefined) {
      series.countAbort();
      log.error('response aborted', { auditID, method: request.method, path: shorten(info.path), error });
    }
    const slow = info.resource !== undefined && !progress.longRunning && milliseconds >= slowMs + size / bytesPerMs;
    if (slow || log.request !== undefined) {
      const entry: RequestEntry = {
        method: request.method,
        path: info.path,
        verb: info.verb,
        user: user?.name ?? '',
        address: request.peer.address,
        agent: request.headers['user-agent'] ?? '',
        status,
        size,
        milliseconds,
      };
      log.request?.(entry);
      if (slow && isStarting?.() !== true) logSlow(entry, auditID, stages);
    }
    stages.trace?.end(status, size);
  };
}

let failures = 0;

/** The response to an error. An unexpected error is logged with a number, and the response has this number only. */
function errorAnswer(
  { log, answerFailure, answerResourceFailure }: Serving,
  request: ApiRequest,
  { call, info, id: auditID }: Progress,
  error: unknown,
  audit: AuditContext | undefined,
): ApiResponse {
  const answer = call?.reached === true ? answerResourceFailure : answerFailure;
  if (error instanceof StatusError) {
    if (error instanceof Overload) {
      audit?.responseStatus(error.toStatus());
      return overloadAnswer(error);
    }
    if (error.code >= 500 && error.cause !== undefined) {
      log.error(error.message, { auditID, method: request.method, path: shorten(info.path), error: error.cause });
    }
    audit?.responseStatus(error.toStatus());
    return answer(error, request.headers);
  }
  if (error instanceof AuthorizationError) {
    log.error('authorization failed', {
      auditID,
      method: request.method,
      path: shorten(info.path),
      why: error.message,
    });
    return authorizationErrorAnswer(request.url, error);
  }
  failures += 1;
  const id = failures;
  log.error('request failed', { id, auditID, method: request.method, path: shorten(info.path), error });
  audit?.panicked(error);
  return answer(statusError.internal(`unexpected failure ${id}`), request.headers);
}

/** The response to HEAD: the response to GET without its body. */
function withoutBody(response: ApiResponse, length: number): ApiResponse {
  return { ...response, headers: { 'content-length': String(length), ...response.headers }, body: emptyBody };
}
