/** The API over HTTP: the pipeline of a request, the documents about the API, and the sockets that carry it all. */
export type { RunningFlag } from './debug-flags.ts';
export { dialFailure, type KubeletTrust } from './dial.ts';
export { createHandler } from './handle.ts';
export { createHealth, type Health, type HealthCheck } from './health.ts';
export { createInFlight, type InFlight, type InFlightLimits } from './in-flight.ts';
export { listen } from './listener.ts';
export type { Log, RequestEntry } from './log.ts';
export { createMetrics, emptyCounts, type Metrics } from './metrics.ts';
export { createNodeProxy, type NodeProxy } from './node-proxy.ts';
export { createNonResourceHandler } from './non-resource.ts';
export { createProfiler } from './profiling.ts';
export type { ApiRequest, ApiResponse, Handler } from './types.ts';
export { YamlThread } from './yaml-thread.ts';
