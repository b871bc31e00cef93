/** The composition root: a whole server, and the embedding API of the package. */
export {
  type Client,
  type ClientOptions,
  type ClientRequest,
  type ClientResponse,
  type ClientWatch,
  type ClientWatchEvent,
  createClient,
  type HttpsOptions,
  httpsTransport,
  type InProcessHandler,
  type InProcessOptions,
  type ItemOptions,
  inProcessTransport,
  type ListOptions,
  type ObjectList,
  type Place,
  type Transport,
  type WatchParameters,
} from '../client/index.ts';
export {
  type ApiObject,
  type Clock,
  type Names,
  type ObjectMeta,
  type Random,
  type Status,
  StatusError,
  VirtualClock,
} from '../meta/index.ts';
export { openLmdbStore, openMemoryStore, type Store, StoreError } from '../store/index.ts';
export type { Dependencies, Log } from './dependencies.ts';
export type { Address } from './listening.ts';
export { createServer, type OrchServer } from './server.ts';
export type { ServerOptions } from './server-options.ts';
export { StartError } from './start-error.ts';
export { version } from './version.ts';
