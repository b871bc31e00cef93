import type { Log as HttpLog, RunningFlag } from '../http/index.ts';
import type { Clock, Random } from '../meta/index.ts';
import type { Store } from '../store/index.ts';
import type { LogPart } from './settings/log-levels.ts';

/** The structured log of a server. It never receives secrets. */
export interface Log extends HttpLog {
  readonly info: (text: string, fields: { readonly [name: string]: unknown }) => void;
  /** Absent: nothing of this level is logged. */
  readonly debug?: ((text: string, fields: { readonly [name: string]: unknown }) => void) | undefined;
  readonly part?: (part: LogPart) => Log;
  /** The levels of all parts, which can be changed. */
  readonly levels?: RunningFlag;
}

/** The log of a part of the server, where the log has parts. */
export const logOf = (log: Log, part: LogPart): Log => log.part?.(part) ?? log;

/** Is told what a start does. */
export interface StartObserver {
  /** A step begins. `place`: where it is, such as that of the store. */
  begin(step: 'store' | 'objects', place?: string): void;
  /** So many objects more have been read into caches. */
  loaded(objects: number): void;
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
  /** Is told what the start does. Default: nobody is. */
  readonly starting: StartObserver;
}

export { silentLog } from '../client/index.ts';
