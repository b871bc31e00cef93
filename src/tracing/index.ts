/** Traces of requests: sampling, spans, and their export to a collector. */
export { tracingFormat } from './configuration.ts';
export { createTracer, type Tracer } from './tracer.ts';
