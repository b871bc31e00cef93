import type { Log as HttpLog } from '../http/index.ts';
import type { Clock, Random } from '../meta/index.ts';
import type { Store } from '../store/index.ts';

/** The structured log of a server. It never receives secrets. */
export interface Log extends HttpLog {
  readonly warn: (text: string, fields: { readonly [name: string]: unknown }) => void;
  readonly info: (text: string, fields: { readonly [name: string]: unknown }) => void;
}

/** What is injected into a server; each has a default. */
export interface Dependencies {
  readonly clock: Clock;
  readonly random: Random;
  /** Closed with the server. Default: the store of the setting `store`. */
  readonly store: Store;
  /** Default: silent. */
  readonly log: Log;
  /**
   * The name of its identity lease, different from that of every other server of the store. Default: made of the host
   * name and the port.
   */
  readonly identity: string;
}

const nothing = () => {};
export const silentLog: Log = { error: nothing, warn: nothing, info: nothing };
