import type { ResourcePlace, Stages, User } from '../meta/index.ts';

/** The parts of a request that its trace shows. */
export interface Traceable {
  readonly method: string;
  readonly headers: { readonly [name: string]: string | undefined };
  readonly peer: { readonly address: string };
}

export interface TraceableInfo {
  /** Without the query, which may contain secrets. */
  readonly path: string;
  readonly verb: string;
  readonly resource: ResourcePlace | undefined;
}

/** The start of an authenticated request. */
export interface RequestStart {
  readonly user: User;
  /** The Audit-ID. */
  readonly id: string;
  /** Time of arrival (ms since 1970). */
  readonly started: number;
  readonly stages: Stages;
}
