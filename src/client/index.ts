/** A small typed client and its transports. */
export {
  type Client,
  type ClientOptions,
  createClient,
  type ItemOptions,
  type ListOptions,
  type ObjectList,
  type Place,
  type WatchParameters,
} from './client.ts';
export { type HttpsOptions, httpsTransport } from './https.ts';
export { type InProcessHandler, type InProcessOptions, inProcessTransport } from './in-process.ts';
export { readJson } from './response.ts';
export type { ClientRequest, ClientResponse, Transport } from './transport.ts';
export type { ClientWatch, ClientWatchEvent } from './watch.ts';
