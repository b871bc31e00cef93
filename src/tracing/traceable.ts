import type { ResourcePlace, Stages, User } from '../meta/index.ts';

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
