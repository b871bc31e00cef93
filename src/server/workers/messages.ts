/** The calls between the processes of a server. The first one is the owner of the store, the others are its workers. */
import type { ApiResponse, MetricLines } from '../../http/index.ts';
import type { ByteString } from '../../meta/index.ts';
import type { Tls } from '../certificates/tls.ts';
import type { ServerSettings } from '../settings/flags.ts';

/** The input of a worker. */
export interface WorkerStart {
  readonly settings: ServerSettings;
  /** The identity of the server. */
  readonly identity: string;
  /** Whether there is a board with the latest revision of the store. */
  readonly hasBoard: boolean;
}

/** How clients reach the server. */
export interface Publication {
  readonly tls: Tls;
  /** URL such as `https://127.0.0.1:6443`. */
  readonly url: string;
}

/** The parameters of a request to a health endpoint. */
export interface HealthParameters {
  readonly verbose: boolean;
  readonly exclude: readonly string[];
  readonly include: readonly string[];
}

/** The owner's functions for workers: it speaks for the whole server. */
export interface OwnerCalls {
  readonly health: (path: string, parameters: HealthParameters) => Promise<ApiResponse>;
  readonly healthOutcomes: () => Promise<string>;
  /** The text of `/metrics`. */
  readonly metrics: () => Promise<string>;
  readonly resetMetrics: () => Promise<void>;
  /** Changes the levels of the log in all processes. */
  readonly setLogLevels: (text: string) => void;
  /** Appends lines to the audit log. Rejects when they cannot be written. */
  readonly appendAudit: (lines: readonly ByteString[]) => Promise<void>;
  /** This number of the connections that the worker has taken has ended. */
  readonly closed: (connections: number) => void;
}

/** The worker's functions for the owner. */
export interface WorkerCalls {
  /** Resolves when the worker can serve requests. */
  readonly start: (start: WorkerStart) => Promise<void>;
  /** Must be called before the worker gets connections, and after each change. */
  readonly publish: (publication: Publication) => Promise<void>;
  /** Returns at once: the event loop of the worker runs. */
  readonly ping: () => void;
  readonly metricLines: () => Promise<MetricLines>;
  readonly resetMetrics: () => void;
  readonly setLogLevels: (text: string) => void;
  /** Finishes the requests in flight. Resolves when the worker holds nothing any more. */
  readonly stop: () => Promise<void>;
}

/** The message that comes with the handle of an accepted connection. */
export const connectionMessage = { type: 'connection' } as const;

/** The descriptors at which a worker finds the stream of its store, and the board with the latest revision. */
export const storeDescriptor = 4;
export const boardDescriptor = 5;
