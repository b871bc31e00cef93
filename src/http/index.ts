/** The API over HTTP: the pipeline of a request, the documents about the API, and the sockets that carry it all. */

export { textAnswer } from './answers.ts';
export { authorizationObserver } from './authorization-counts.ts';
export type { HandlerOptions } from './call.ts';
export type { RunningFlag } from './debug-flags.ts';
export { dialFailure, type KubeletTrust } from './dial.ts';
export { createHandler } from './handle.ts';
export { createHealth, type Health, type HealthCheck } from './health.ts';
export { createInFlight, type InFlight, type InFlightLimits } from './in-flight.ts';
export { listen } from './listener.ts';
export type { Log, RequestEntry } from './log.ts';
export { type ConnectionCounts, commitObserver, createMetrics, emptyCounts, type Metrics } from './metrics.ts';
export { createNodeProxy, type NodeProxy } from './node-proxy.ts';
export { createNonResourceHandler } from './non-resource.ts';
export { PacedSocket } from './paced-socket.ts';
export {
  type CollectionKind,
  type EventLoopLag,
  emptyCollections,
  observeCollection,
  type ProcessUsage,
} from './process-usage.ts';
export { createProfiler } from './profiling.ts';
export { countReloads } from './reload-counts.ts';
export { identify, type RequestInfo } from './request-info.ts';
export { Shares } from './shares.ts';
export type { ApiRequest, ApiResponse, Chunk, Handler } from './types.ts';
export { isWebSocket, MessageBody, openWebSocket } from './web-socket.ts';
export { YamlThread } from './yaml-thread.ts';
