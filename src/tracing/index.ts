/** Traces of requests: which are sampled, their spans, and how these reach a collector. */
export { tracingFormat } from './configuration.ts';
export { createTracer, type Tracer } from './tracer.ts';
