import { parseJsonInSteps, readOwnJson, stringifyJsonInSteps } from '../codec/index.ts';
import {
  type Annotate,
  type ByteString,
  bufferOf,
  decodeText,
  encodeText,
  inTurns,
  isJsonObject,
  type Json,
  type JsonObject,
  type Steps,
  shorten,
  statusError,
  type Turns,
  toUserInfo,
  type User,
} from '../meta/index.ts';
import type { RequestAuditConfig } from './policy.ts';
import type { AuditEvent, ObjectReference, ResponseStatus, Stage } from './types.ts';

/** The largest request or response object of an event (bytes): that of a request body. A larger one is left out. */
export const maxObject = 3 * 1024 * 1024;

/** The most of an annotation that an event shows, in characters. */
const maxAnnotation = 10_000;

/** The content of an event when its request arrives; the rest follows. */
export type ReceivedEvent = Omit<AuditEvent, 'stage' | 'reached'>;

/** The log of the server, as far as requests use it. */
export interface AnnotationLog {
  readonly warn: (text: string, fields: { readonly [name: string]: unknown }) => void;
}

export interface ContextOptions {
  readonly config: RequestAuditConfig;
  readonly event: ReceivedEvent;
  readonly annotations: ReadonlyMap<string, string>;
  /** When events are made: a long-running request has one more, a refused one has no other. */
  readonly kind: 'short' | 'longRunning' | 'unauthenticated';
  /** The API domain. */
  readonly domain: string;
  readonly now: () => number;
  /** Requests wait until their events are written. */
  readonly blocking: boolean;
  /** False: the event must be written and cannot be. */
  readonly emit: (event: AuditEvent) => Promise<boolean> | undefined;
  readonly log: AnnotationLog;
  /** Counts a request that is refused because of that. */
  readonly reject: () => void;
}

/** Gathers what the events of one request say, and makes an event at each stage. */
export class AuditContext {
  readonly #options: ContextOptions;
  readonly #annotations: Map<string, string>;
  /**
   * Resolves when the event of the stage RequestReceived is written; undefined: there is nothing to wait for. Rejects with
   * a StatusError 500 where it must be written and cannot be; no other event follows then.
   */
  readonly received: Promise<void> | undefined;
  #event: ReceivedEvent;
  #over = false;

  constructor(options: ContextOptions) {
    this.#options = options;
    this.#annotations = new Map(options.annotations);
    this.#event = options.event;
    const written =
      options.kind === 'unauthenticated' ? undefined : this.#emit('RequestReceived', options.event.received);
    this.received = written?.then((stored) => {
      if (stored) return;
      this.#over = true;
      options.reject();
      throw statusError.internal('failed to store audit event');
    });
  }

  /** Whether the response object is asked for. */
  get recordsResponse(): boolean {
    return this.#event.level === 'RequestResponse';
  }

  /** Needs no receiver. */
  readonly annotate: Annotate = (key, value, level) => {
    if (level === 'Request' && this.#event.level === 'Metadata') return;
    const shown = value.length <= maxAnnotation ? value : `${value.slice(0, maxAnnotation)}...TRUNCATED`;
    const known = this.#annotations.get(key);
    if (known === undefined) this.#annotations.set(key, shown);
    else if (known !== shown) {
      const { log, event } = this.#options;
      log.warn('an audit annotation has another value already', { auditID: event.auditID, annotation: key });
    }
  };

  authorized(allowed: boolean, reason: string): void {
    this.annotate(`authorization.${this.#options.domain}/decision`, allowed ? 'allow' : 'forbid');
    this.annotate(`authorization.${this.#options.domain}/reason`, reason);
  }

  /** No decision was reached. */
  authorizationFailed(): void {
    this.annotate(`authorization.${this.#options.domain}/reason`, 'internal error');
  }

  impersonated(user: User): void {
    this.#set({ impersonatedUser: toUserInfo(user) });
  }

  /**
   * The decoded body of a request. Its metadata completes the object reference, at any level. Resolves when it is
   * recorded: a large value is written in turns.
   */
  async requestObject(value: JsonObject, turns: Turns): Promise<void> {
    const { metadata } = value;
    if (isJsonObject(metadata ?? null)) this.#refer(metadata as JsonObject);
    await this.requestValue(value, turns);
  }

  /** Records the value of a request without an object: a decoded patch, or the options of a deletion. Also in turns. */
  async requestValue(value: Json, turns: Turns): Promise<void> {
    if (this.#event.level === 'Metadata') return;
    const omits = this.#options.config.omitManagedFields;
    const shown = omits ? await inTurns(withoutManagedFields(value), turns) : value;
    const text = await inTurns(stringifyJsonInSteps(shown), turns);
    this.#set({ requestObject: this.#fitting(encodeText(text)) });
  }

  /** The name of a created object, where the request had none. */
  named(name: string): void {
    this.#refer({ name });
  }

  /** A Status that is returned in place of an object. */
  responseStatus({ status, message, reason, details, code }: ResponseStatus): void {
    const shown = { metadata: {}, status, message, reason, details, code };
    this.#set({ responseStatus: shown });
    if (!this.recordsResponse) return;
    const json = encodeText(JSON.stringify({ kind: 'Status', apiVersion: 'v1', ...shown }));
    this.#set({ responseObject: this.#fitting(json) });
  }

  /** The JSON of the object or list that is returned, at the level RequestResponse. Likewise in turns. */
  async responseObject(json: ByteString, turns: Turns): Promise<void> {
    if (!this.recordsResponse) return;
    const fitting = this.#fitting(json);
    if (fitting === undefined || !this.#options.config.omitManagedFields) this.#set({ responseObject: fitting });
    else {
      const steps = parseJsonInSteps(bufferOf(fitting));
      const value = steps === undefined ? readOwnJson(decodeText(fitting)) : (await inTurns(steps, turns)).value;
      const shown = await inTurns(withoutManagedFields(value), turns);
      const text = await inTurns(stringifyJsonInSteps(shown), turns);
      this.#set({ responseObject: encodeText(text) });
    }
  }

  /**
   * The response can be sent once the result resolves; undefined: at once. A request whose response is `whole` is complete
   * before it is sent where requests wait for their events.
   */
  responded(code: number, whole: boolean): Promise<unknown> | undefined {
    if (this.#over) return undefined;
    this.#set({ responseStatus: { metadata: {}, ...this.#event.responseStatus, code } });
    const { kind, blocking } = this.#options;
    if (kind === 'short') return blocking && whole ? this.complete() : undefined;
    this.#over = kind === 'unauthenticated';
    return this.#emit('ResponseStarted');
  }

  /** The response was read, or its client has gone. */
  complete(): Promise<unknown> | undefined {
    if (this.#over) return undefined;
    this.#over = true;
    return this.#emit('ResponseComplete');
  }

  /** An unexpected error. No other event follows. */
  panicked(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    const message = `APIServer panic'd: ${shorten(error instanceof Error ? error.message : String(error))}`;
    this.responseStatus({ status: 'Failure', message, reason: 'InternalError', code: 500 });
    void this.#emit('Panic');
  }

  #set(fields: Partial<ReceivedEvent>): void {
    this.#event = { ...this.#event, ...fields };
  }

  #refer(metadata: JsonObject): void {
    const reference: ObjectReference = this.#event.objectRef ?? {};
    const missing = Object.fromEntries(
      (['namespace', 'name', 'uid', 'resourceVersion'] as const)
        .map((field) => [field, metadata[field]] as const)
        .filter(([field, value]) => reference[field] === undefined && typeof value === 'string' && value !== ''),
    );
    this.#set({ objectRef: { ...reference, ...missing } });
  }

  #fitting(json: ByteString): ByteString | undefined {
    if (json.length <= maxObject) return json;
    this.annotate(`audit.${this.#options.domain}/truncated`, 'true');
    return undefined;
  }

  #emit(stage: Stage, reached = this.#options.now()): Promise<boolean> | undefined {
    const { config, emit } = this.#options;
    if (config.omitStages.has(stage)) return undefined;
    const annotations =
      this.#annotations.size === 0 ? undefined : Object.fromEntries([...this.#annotations].sort(byKey));
    return emit({ ...this.#event, stage, reached, annotations });
  }
}

const byKey = ([a]: readonly [string, string], [b]: readonly [string, string]) => (a < b ? -1 : 1);

/** An object, a list or a table without `metadata.managedFields`; of a list, one item in each step. */
function* withoutManagedFields(value: Json): Steps<Json> {
  if (!isJsonObject(value)) return value;
  const { metadata = null, items, rows } = value;
  const shown = { ...value };
  if (isJsonObject(metadata)) shown['metadata'] = unmanaged(metadata);
  if (Array.isArray(items)) shown['items'] = yield* eachInSteps(items, withoutManagedFields);
  if (Array.isArray(rows)) shown['rows'] = yield* eachInSteps(rows, withoutManagedFieldsInRow);
  return shown;
}

function* withoutManagedFieldsInRow(row: Json): Steps<Json> {
  if (!isJsonObject(row) || row['object'] === undefined) return row;
  return { ...row, object: yield* withoutManagedFields(row['object']) };
}

function* eachInSteps(values: readonly Json[], convert: (value: Json) => Steps<Json>): Steps<Json[]> {
  const converted: Json[] = [];
  for (const value of values) {
    yield;
    converted.push(yield* convert(value));
  }
  return converted;
}

function unmanaged(metadata: JsonObject): JsonObject {
  const rest = { ...metadata };
  delete rest['managedFields'];
  return rest;
}
