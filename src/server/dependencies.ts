import type { Log as HttpLog } from '../http/index.ts';
import type { Clock, Random } from '../meta/index.ts';
import type { Store } from '../store/index.ts';

/** Where a server tells of itself. No secrets are handed to it. */
export interface Log extends HttpLog {
  readonly warn: (text: string, fields: { readonly [name: string]: unknown }) => void;
  readonly info: (text: string, fields: { readonly [name: string]: unknown }) => void;
}

/** What a server gets from outside; each has a default. */
export interface Dependencies {
  readonly clock: Clock;
  readonly random: Random;
  /** Closed with the server. Default: what the setting `store` says. */
  readonly store: Store;
  /** Default: nothing is logged. */
  readonly log: Log;
}

const nothing = () => {};
export const silentLog: Log = { error: nothing, warn: nothing, info: nothing };
