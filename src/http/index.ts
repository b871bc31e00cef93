/** The API over HTTP: the pipeline of a request, the documents about the API, and the sockets that carry it all. */
export { createHandler, type HandlerOptions } from './handle.ts';
export { createHealth, type Health, type HealthCheck, type HealthEndpoint } from './health.ts';
export { createInFlight, type InFlight, type InFlightLimits } from './in-flight.ts';
export { defaultListenerLimits, type Listener, type ListenerLimits, type ListenerOptions, listen } from './listener.ts';
export type { Log, RequestEntry } from './log.ts';
export { createMetrics, type Metrics } from './metrics.ts';
export type { FindType } from './openapi.ts';
export { createSurface, type Surface, type SurfaceOptions } from './surface.ts';
export type { ApiRequest, ApiResponse, Chunk, Handler, Peer, RequestHeaders } from './types.ts';
