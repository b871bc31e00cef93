import type { ClientResponse } from '../../client/index.ts';

/** A response with a value as JSON, for a transport of a test. */
export const jsonResponse = (status: number, value: unknown): ClientResponse => ({
  status,
  headers: {},
  body: (async function* () {
    yield new TextEncoder().encode(JSON.stringify(value));
  })(),
});
