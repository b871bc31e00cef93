import type { Registrations, RemoteServer } from '../aggregation/index.ts';
import type { AuditContext, Auditor } from '../audit/index.ts';
import type { Authenticator, Authorizer } from '../auth/index.ts';
import type { FlowControl } from '../fairness/index.ts';
import type { Clock, Names, Random, Stages, Turns, User } from '../meta/index.ts';
import type { Registry, Resource } from '../registry/index.ts';
import type { Tracer } from '../tracing/index.ts';
import type { Codecs } from './codecs/codecs.ts';
import type { AnswerFailure } from './codecs/negotiation.ts';
import type { ReadYaml } from './codecs/yaml-codec.ts';
import type { Reservation } from './limits.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { RequestSeries } from './metrics/series.ts';
import type { FindType } from './openapi/built-in-types.ts';
import type { NodeProxy } from './relay/node-proxy.ts';
import type { RequestInfo } from './request-info.ts';
import type { ApiRequest, ApiResponse } from './types.ts';
import type { Warnings } from './warnings.ts';

/** The state of a request, from its arrival to its end. */
export interface Exchange {
  readonly request: ApiRequest;
  /** The Audit-ID. */
  readonly id: string;
  /** When it arrived (ms since 1970). */
  readonly started: number;
  /** Records the stages of the request. */
  readonly stages: Stages;
  /** Adds a `Warning` header with this text to the response, of success and error alike. */
  readonly warn: (text: string) => void;
  warnings: Warnings | undefined;
  info: RequestInfo;
  series: RequestSeries | undefined;
  /** Who has sent it. Undefined: it is not authenticated. */
  user: User | undefined;
  /** Undefined: it is not audited, or not yet. */
  audit: AuditContext | undefined;
  /** Undefined: it has not come to its seat. */
  call: Call | undefined;
  /** Whether it is a watch or a proxied request, which may take as long as the client wants. */
  longRunning: boolean;
  /** Rejected or abandoned to protect the server. */
  terminated: boolean;
}

/** A request with its request info and its user. */
export interface Call {
  readonly request: ApiRequest;
  /** The Audit-ID. */
  readonly id: string;
  readonly info: RequestInfo;
  /** The resource that is served at the path. */
  readonly resource: Resource | undefined;
  readonly user: User;
  readonly series: RequestSeries;
  /** The seats of the request and its part of the limits. A mutating request has them once its body has arrived. */
  readonly reservation: Reservation;
  /** Adds a `Warning` header with this text to the response, of success and error alike. */
  readonly warn: (text: string) => void;
  /** Records what the events of an audited request say. */
  readonly audit: AuditContext | undefined;
  /** Whether the path and the verb are served: from then on, an error has one of the encodings of the resource. */
  reached: boolean;
  /** Records the stages of the request. */
  readonly stages: Stages;
  /** The turns in which long work of the request runs. */
  readonly turns: Turns;
}

export interface HandlerOptions {
  readonly registry: Registry;
  readonly names: Names;
  /** Finds the built-in types, which have a protobuf encoding. */
  readonly findType: FindType;
  readonly authenticate: Authenticator;
  readonly authorize: Authorizer;
  /** Absent: no request is audited. */
  readonly auditor?: Auditor | undefined;
  readonly clock: Clock;
  /** Generates Audit-IDs. */
  readonly random: Pick<Random, 'uuid'>;
  readonly log: Log;
  /** Whether the server starts: no request counts as slow then. */
  readonly isStarting?: () => boolean;
  readonly metrics: Metrics;
  /** Absent: requests have no seats, and the limits of requests in flight apply. */
  readonly flowControl?: FlowControl | undefined;
  /** Serves non-resource requests. */
  readonly nonResource: NonResourceHandler;
  /** Forwards requests to kubelets, pods and services. */
  readonly nodeProxy: NodeProxy;
  /** Absent: this server serves all group versions itself. */
  readonly aggregation?: Aggregation | undefined;
  readonly readYaml: ReadYaml;
  /** Absent: no request is traced. */
  readonly tracer?: Tracer | undefined;
}

/** The group versions that other API servers serve behind this one. */
export interface Aggregation {
  readonly registrations: Pick<Registrations, 'all' | 'prioritiesOf' | 'remotes'>;
  /** The response of the extension API server. @throws StatusError */
  readonly answer: (call: Call, remote: RemoteServer) => Promise<ApiResponse>;
}

/** The options of a handler and what it derives from them. */
export interface Serving extends HandlerOptions {
  readonly codecs: Codecs;
  readonly answerFailure: AnswerFailure;
  /** The same for a request that has reached its resource. */
  readonly answerResourceFailure: AnswerFailure;
  /** Throws 403 unless the user is also authorized for this verb on the resource of the call. */
  readonly permit: (call: Call, verb: string) => Promise<void>;
}

/** Serves non-resource requests. Throws StatusError. */
export type NonResourceHandler = (call: Call) => ApiResponse | Promise<ApiResponse>;
