/** The API over HTTP: the pipeline of a request, the documents about the API, and the sockets that carry it all. */

export { textAnswer } from './answers.ts';
export type { Aggregation, HandlerOptions } from './call.ts';
export { YamlThread } from './codecs/yaml-thread.ts';
export { type Console, type ConsoleIssuer, createConsole, isConsolePath } from './documents/console.ts';
export type { RunningFlag } from './documents/debug-flags.ts';
export { createHealth, type Health, type HealthCheck } from './documents/health.ts';
export { createNonResourceHandler } from './documents/non-resource.ts';
export { createProfiler } from './documents/profiling.ts';
export { createHandler } from './handle.ts';
export { createInFlight, FairLimit, type InFlight, type InFlightLimits } from './limits.ts';
export { type Listener, type ListenerOptions, listen } from './listener/listener.ts';
export { maxConnections } from './listener/listener-options.ts';
export type { Log, RequestEntry } from './log.ts';
export { authorizationObserver } from './metrics/authorization-metrics.ts';
export { createMetrics, emptyCounts, type Metrics } from './metrics/metrics.ts';
export { addLines, type MetricLines } from './metrics/metrics-text.ts';
export {
  type BuildInfo,
  type CollectionKind,
  type EventLoopLag,
  emptyCollections,
  type ProcessUsage,
} from './metrics/process-usage.ts';
export { countReloads } from './metrics/reload-metrics.ts';
export type { ConnectionCounts } from './metrics/request-metrics.ts';
export { commitObserver } from './metrics/store-metrics.ts';
export type { AllowedLabels, MetricSettings } from './metrics/visibility.ts';
export { type AggregatedRelay, createAggregatedRelay } from './relay/aggregated.ts';
export { dialFailure, type KubeletTrust } from './relay/dial.ts';
export { connectionLookup, Lookups } from './relay/lookups.ts';
export { createNodeProxy, type NodeProxy } from './relay/node-proxy.ts';
export { PacedAgent } from './relay/paced-agent.ts';
export { PacedSocket } from './relay/paced-socket.ts';
export { isWebSocket, MessageBody, openWebSocket } from './relay/web-socket.ts';
export { identify, type RequestInfo } from './request-info.ts';
export type { ApiRequest, ApiResponse, Chunk, Handler } from './types.ts';
