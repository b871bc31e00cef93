import type { Authenticator, Authorizer } from '../auth/index.ts';
import type { Clock, Names, Random, User } from '../meta/index.ts';
import type { Registry } from '../registry/index.ts';
import type { FindType } from './built-in-types.ts';
import type { Codecs } from './codecs.ts';
import type { Series } from './counters.ts';
import type { Log } from './log.ts';
import type { AnswerFailure } from './media.ts';
import type { Metrics } from './metrics.ts';
import type { NodeProxy } from './node-proxy.ts';
import type { RequestInfo } from './request-info.ts';
import type { Seat } from './seat.ts';
import type { ApiRequest, ApiResponse } from './types.ts';
import type { ReadYaml } from './yaml-codec.ts';

/** A request on its way: who makes it, and what it is about. */
export interface Call {
  readonly request: ApiRequest;
  readonly info: RequestInfo;
  readonly user: User;
  readonly series: Series;
  /** What the request has of that which is shared. A write enters its lane with its body. */
  readonly seat: Seat;
  /** Texts for `Warning` headers, of answers and refusals alike. */
  readonly warnings: Set<string>;
}

export interface HandlerOptions {
  readonly registry: Registry;
  readonly names: Names;
  /** Finds the built-in types, which have a protobuf encoding. */
  readonly findType: FindType;
  readonly authenticate: Authenticator;
  readonly authorize: Authorizer;
  readonly clock: Clock;
  /** Identifies requests. */
  readonly random: Pick<Random, 'uuid'>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Everything that is no resource. */
  readonly nonResource: NonResourceHandler;
  /** What goes on to nodes. */
  readonly nodeProxy: NodeProxy;
  readonly readYaml: ReadYaml;
}

/** What a handler works with: what it was given, and what it made of that. */
export interface Serving extends HandlerOptions {
  readonly codecs: Codecs;
  readonly answerFailure: AnswerFailure;
  /** Throws 403 unless the requester may do this too to what the call is about. */
  readonly permit: (call: Call, verb: string) => Promise<void>;
}

/** Answers every path that is no resource. Throws StatusError. */
export type NonResourceHandler = (call: Call) => ApiResponse | Promise<ApiResponse>;
