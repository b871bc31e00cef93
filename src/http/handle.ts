/** The path of a request: it arrives, is served or fails, is answered, and ends. */
import { type Attributes, type Decision, systemAnonymous } from '../auth/index.ts';
import {
  accessDenied,
  type Clock,
  inTurnAfter,
  readTimeMs,
  Stage,
  Stages,
  scheduler,
  shorten,
  statusError,
  type User,
} from '../meta/index.ts';
import { emptyBody } from './answers.ts';
import type { Call, Exchange, HandlerOptions, Serving } from './call.ts';
import { createCodecs } from './codecs/codecs.ts';
import { failureAnswers } from './codecs/negotiation.ts';
import { largeResponse, maxUncompressedBytes } from './compression.ts';
import { AuthorizationError, failureAnswer } from './failures.ts';
import { impersonate } from './impersonate.ts';
import { flowClassOf, Reservation } from './limits.ts';
import { pieces } from './listener/pieces.ts';
import { isStreamed, TrackedBody } from './listener/tracked-body.ts';
import type { RequestEntry } from './log.ts';
import { slowRequestLog } from './metrics/slow-requests.ts';
import { relayAt } from './relay/relay-at.ts';
import { protocolCredentials } from './relay/web-socket.ts';
import { attributesOf, hasImpersonation, identify, unknownRequest } from './request-info.ts';
import { checkTimeout, isLongRunning } from './timeout.ts';
import type { ApiRequest, ApiResponse, Chunk, Handler } from './types.ts';
import { createVerbs } from './verbs.ts';
import { Warnings, withWarnings } from './warnings.ts';

/** The form of an Audit-ID that a client may choose. */
const auditIdForm = /^[\x20-\x7e]{1,256}$/;

/** The server without its sockets. */
export function createHandler(options: HandlerOptions): Handler {
  const { clock, random } = options;
  const serving = createServing(options);
  const serve = createService(serving);
  const respond = createRespond(options);

  return async (request) => {
    const sentId = request.headers['audit-id'];
    const exchange: Exchange = {
      request,
      id: sentId !== undefined && auditIdForm.test(sentId) ? sentId : random.uuid(),
      started: clock.now(),
      stages: new Stages(clock),
      warn: (text) => {
        exchange.warnings ??= new Warnings();
        exchange.warnings.add(text);
      },
      warnings: undefined,
      info: unknownRequest,
      series: undefined,
      user: undefined,
      audit: undefined,
      call: undefined,
      longRunning: false,
      terminated: false,
    };
    let response: ApiResponse;
    try {
      response = await serve(exchange);
    } catch (error) {
      response = failureAnswer(serving, exchange, error);
    }
    const { audit, call, stages } = exchange;
    const isWhole = response.tunnel === undefined && !isStreamed(response.body);
    const recording = audit?.responded(response.status, isWhole);
    if (recording !== undefined) {
      const { user, request: sent } = exchange;
      await inTurnAfter(recording, () => scheduler.turns(ownerOf(user, sent)));
    }
    call?.reservation.seats?.release();
    // The rest of a response is built behind the requests that have seats.
    if (!isWhole) call?.turns.goBehind?.();
    stages.enter(Stage.response);
    return respond(exchange, response);
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

/** The owner of the computing time of a request: its user, or the network of a client that is anonymous. */
const ownerOf = (user: User | undefined, { peer }: ApiRequest): string =>
  user === undefined || user.name === systemAnonymous ? peer.network : user.name;

type Serve = (exchange: Exchange) => Promise<ApiResponse>;

/** The way from the arrival of a request to its response. @throws StatusError, AuthorizationError */
function createService(serving: Serving): Serve {
  const { aggregation, auditor, authorize, flowControl, metrics, names, registry, nonResource, tracer } = serving;
  const { APIResponseCompression: compress, AuthorizeWithSelectors: withSelectors } = registry.features;
  const verbs = createVerbs(serving);

  return async (exchange) => {
    const { request, id, started, stages, warn } = exchange;
    // Identify: the request info, and the resource at its path.
    const info = identify(request.method, request.url);
    const path = info.resource;
    const resource = path === undefined ? undefined : registry.find(path.group, path.version, path.resource);
    const isAggregating = aggregation !== undefined && aggregation.registrations.remotes.size > 0;
    const relay = isAggregating ? relayAt(info, aggregation) : undefined;
    const series = metrics.series(info, resource, request.headers['content-type']);
    exchange.info = info;
    exchange.series = series;
    checkTimeout(request, info);
    // Authenticate.
    const annotations = auditor === undefined ? undefined : new Map<string, string>();
    let user = await authenticateRequest(exchange, annotations, serving);
    exchange.user = user;
    if (tracer !== undefined) stages.trace = tracer.begin(request, info, { user, id, started, stages });
    if (auditor !== undefined) stages.enter(Stage.audit);
    const turns = scheduler.turns(ownerOf(user, request));
    if (info.selectorLength >= minLongSelectors && turns.over) await turns.next();
    let attributes = attributesOf(info, user, withSelectors);
    // Audit.
    const audit = auditor?.begin(request, attributes, id, started, annotations);
    exchange.audit = audit;
    if (audit?.received !== undefined) await inTurnAfter(audit.received, () => turns);
    // Impersonate.
    if (hasImpersonation(request.headers)) {
      stages.enter(Stage.impersonation);
      user = await impersonate(user, request, authorize, names, accessDenied);
      attributes = { ...attributes, user };
      if (user !== exchange.user) audit?.impersonated(user);
    }
    // Wait for a seat, which a proxied request does not take, and limit the requests in flight. A mutating request has
    // both once its body has arrived.
    const flowClass = relay === undefined ? flowClassOf(info, resource) : 'proxied';
    const needsSeats = relay === undefined ? flowClass !== 'proxied' : !isLongRunning(request, info);
    const seats = needsSeats ? flowControl?.classify(attributes) : undefined;
    const reservation = new Reservation(metrics.inFlight, user, flowClass, seats);
    const reached = false;
    const call: Call = { request, id, info, resource, user, series, reservation, warn, audit, reached, stages, turns };
    exchange.call = call;
    if (flowClass === 'mutating' && path !== undefined) reservation.check();
    else {
      const entering = reservation.enter(call);
      if (entering !== undefined) await entering;
    }
    if (flowClass === 'longRunning' || flowClass === 'proxied') {
      exchange.longRunning = true;
      if (series.longRunning !== undefined) series.longRunning.value++;
    }
    // Authorize.
    stages.enter(Stage.authorization);
    await authorizeRequest(attributes, audit, serving);
    // Dispatch.
    const response = await (relay ?? (path === undefined ? nonResource : verbs))(call);
    if (flowClass !== 'readOnly') return response;
    const isLarge = isStreamed(response.body) || response.body.length > maxUncompressedBytes;
    return isLarge ? largeResponse(response, call, compress) : response;
  };
}

/**
 * The user of a request. Adds to the warnings of its response and to its audit annotations.
 * @throws StatusError 401
 */
async function authenticateRequest(
  { request, info, started, warn }: Exchange,
  annotations: Map<string, string> | undefined,
  { authenticate, clock, metrics, names }: HandlerOptions,
): Promise<User> {
  const { headers, peer, upgrades } = request;
  let user: User | undefined;
  try {
    const authorization = headers['authorization'] ?? (upgrades ? protocolCredentials(request, names) : undefined);
    const annotate = annotations && ((key: string, value: string) => void annotations.set(key, value));
    const { network, certificate } = peer;
    const { path } = info;
    const outcome = authenticate({ authorization, certificate, path, owner: network, sent: request, warn, annotate });
    const turnsOf = (found: User | undefined) => scheduler.turns(ownerOf(found, request));
    user = outcome instanceof Promise ? await inTurnAfter<User | undefined>(outcome, turnsOf) : outcome;
  } catch (error) {
    metrics.authenticated('error', (clock.now() - started) / 1_000);
    throw error;
  }
  metrics.authenticated(user === undefined ? 'failure' : 'success', (clock.now() - started) / 1_000, user?.name);
  if (user === undefined) throw statusError.unauthorized();
  return user;
}

/**
 * Resolves when the request is allowed.
 * @throws StatusError 403; AuthorizationError when no authorizer allows the request and one has failed
 */
async function authorizeRequest(
  attributes: Attributes,
  audit: Exchange['audit'],
  { authorize, metrics }: HandlerOptions,
): Promise<void> {
  let decision: Decision;
  try {
    const outcome = authorize(attributes);
    decision = outcome instanceof Promise ? await outcome : outcome;
  } catch (error) {
    metrics.authorized('error');
    audit?.authorizationFailed();
    throw error;
  }
  const { allowed, denied = false, reason, error } = decision;
  if (!allowed && error !== undefined) {
    metrics.authorized('error');
    audit?.authorizationFailed();
    throw new AuthorizationError(error);
  }
  metrics.authorized(allowed ? 'allowed' : denied ? 'denied' : 'no-opinion');
  audit?.authorized(allowed, reason);
  if (!allowed) throw accessDenied(attributes, reason);
}

/** Longer responses are sent in chunks, and their unread bytes are counted (bytes). */
const maxWholeBytes = 64 * 1024;

type Respond = (exchange: Exchange, answer: ApiResponse) => ApiResponse;

/** The response with the headers of every response. Concludes the request once the client has read it or has disconnected. */
function createRespond(options: HandlerOptions): Respond {
  const { clock } = options;
  const conclude = createConclude(options);
  const uidHeader = options.names.flowControlHeader.toLowerCase();
  const schemaHeader = `${uidHeader}flowschema-uid`;
  const levelHeader = `${uidHeader}prioritylevel-uid`;

  return (exchange, answer) => {
    const { request, id, user, call, warnings } = exchange;
    const response = warnings === undefined ? answer : withWarnings(answer, warnings);
    const { status, tunnel, trailers, waits } = response;
    const turns = call?.turns;
    // The response of a kubelet to an upgrade has its own headers.
    if (tunnel !== undefined) {
      const closed = () => conclude(exchange, status, tunnel.bytesRead, undefined);
      if (tunnel.closed) closed();
      else tunnel.once('close', closed);
      return { ...response, turns };
    }
    // V8 gives each object that replaces fields of a spread one a hidden class of its own, and is slow to read it.
    const headers: { [name: string]: string | readonly string[] } = {};
    for (const name in response.headers) headers[name] = response.headers[name] as string;
    headers['audit-id'] = id;
    const seats = call?.reservation.seats;
    if (seats !== undefined) {
      headers[schemaHeader] = seats.schema.uid;
      headers[levelHeader] = seats.level.configuration.uid;
    }
    const isHead = request.method === 'HEAD';
    let { body } = response;
    if (isStreamed(body)) {
      if (!isHead || headers['content-length'] === undefined) {
        const sent = { status, headers, body, trailers, waits, turns };
        return tracked(exchange, sent, body[Symbol.asyncIterator](), clock, conclude);
      }
      body = emptyBody;
    }
    const { length } = body;
    if (request.whenOver === undefined) conclude(exchange, status, length, undefined);
    else if (length > maxWholeBytes && !isHead) {
      headers['content-length'] = String(length);
      const slices = pieces(body, scheduler.turns(ownerOf(user, request)));
      return tracked(exchange, { status, headers, body, trailers, waits, turns }, slices, clock, conclude);
    } else request.whenOver(() => conclude(exchange, status, length, undefined));
    if (isHead) {
      headers['content-length'] ??= String(length);
      body = emptyBody;
    }
    return { status, headers, body, trailers, waits, turns };
  };
}

/** The response with this body. Concludes the request at the end of it. */
function tracked(
  exchange: Exchange,
  response: ApiResponse,
  body: AsyncIterator<Chunk>,
  clock: Clock,
  conclude: Conclude,
): ApiResponse {
  const { request, call } = exchange;
  const begun = clock.monotonic();
  // Long-running responses may be idle. Watches count their unread bytes, and relayed requests are limited themselves.
  const isPaced = request.whenOver !== undefined && !exchange.longRunning && response.waits !== true;
  const trackedBody = new TrackedBody(body, {
    unread: isPaced ? call?.reservation : undefined,
    turns: response.turns,
    isLate: (size) => isPaced && clock.monotonic() - begun > readTimeMs(size),
    onEnd: (size, error) => conclude(exchange, response.status, size, error),
  });
  request.whenOver?.(() => void trackedBody.return().catch(() => {}));
  return { ...response, body: trackedBody };
}

/** A request is slow after this time (ms), plus a millisecond for each {@link bytesPerMs} bytes of its response. */
const slowMs = 500;
const bytesPerMs = 64 * 1024;

/** `size`: of the response (bytes). `error`: why it was cut off. */
type Conclude = (exchange: Exchange, status: number, size: number, error: unknown) => void;

/** Ends a request: releases what it has of the limits, and ends its audit and its trace. Counts and logs it. */
function createConclude({ clock, metrics, log, isStarting }: HandlerOptions): Conclude {
  const logSlow = slowRequestLog(log, clock);

  return (exchange, status, size, error) => {
    const { request, id: auditID, started, stages, info, user, audit, call } = exchange;
    const { series = metrics.series(info, undefined), longRunning, terminated } = exchange;
    call?.reservation.release();
    if (error === undefined) void audit?.complete();
    else audit?.panicked(error);
    const milliseconds = clock.now() - started;
    if (longRunning && series.longRunning !== undefined) series.longRunning.value--;
    series.count(status, milliseconds / 1000, stages.waitedMs / 1000, info.verb === 'watch' ? undefined : size);
    if (terminated) series.countTermination(status);
    if (error !== undefined) {
      series.countAbort();
      log.error('response aborted', { auditID, method: request.method, path: shorten(info.path), error });
    }
    const slow = info.resource !== undefined && !longRunning && milliseconds >= slowMs + size / bytesPerMs;
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
