import type { Log as HttpLog, RunningFlag } from '../http/index.ts';
import type { Clock, Random } from '../meta/index.ts';
import type { Store } from '../store/index.ts';
import type { LogPart } from './settings/log-levels.ts';

/** The structured log of a server. It never receives secrets. */
export interface Log extends HttpLog {
  readonly info: (text: string, fields: { readonly [name: string]: unknown }) => void;
  /** Undefined while this level is not logged. */
  readonly debug?: ((text: string, fields: { readonly [name: string]: unknown }) => void) | undefined;
  readonly part?: (part: LogPart) => Log;
  /** The levels of all parts, which can be changed at runtime. */
  readonly levels?: RunningFlag;
}

/** The log of a part of the server; the log itself when it has no parts. */
export const logOf = (log: Log, part: LogPart): Log => log.part?.(part) ?? log;

/** Observes the progress of a start. */
export interface StartObserver {
  /** A step begins. `place`: the location of the store. */
  begin(step: 'store' | 'objects', place?: string): void;
  /** This number of further objects has been read into caches. */
  loaded(objects: number): void;
}

/** The dependencies that are injected into a server; each has a default. */
export interface Dependencies {
  readonly clock: Clock;
  readonly random: Random;
  /** Closed with the server. Default: the store of the setting `store`. */
  readonly store: Store;
  /** Default: silent. */
  readonly log: Log;
  /**
   * The name of its identity lease, unique among the servers of the store. Default: derived from the host name and the
   * port.
   */
  readonly identity: string;
  /** Observes the start. Default: none. */
  readonly starting: StartObserver;
}

export { silentLog } from '../client/index.ts';
