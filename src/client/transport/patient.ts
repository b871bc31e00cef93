/** Additions to a transport for interactive programs: patience with a busy server, and warnings of responses. */
import { setTimeout as timeout } from 'node:timers/promises';
import { warningsOf } from './response.ts';
import type { ClientResponse, Signal, Transport } from './transport.ts';

/** How often a request is sent again. */
const maxRetries = 10;
/** The longest pause that a server may ask for (s). */
const maxPauseSeconds = 60;

export interface PatientOptions {
  /** Receives each text of a `Warning` header once. */
  readonly onWarning?: (text: string) => void;
  /** Waits, and rejects when the signal is aborted; by default in real time. */
  readonly wait?: (ms: number, signal: Signal | undefined) => Promise<unknown>;
}

/**
 * Sends a request again, up to ten times, while the server answers 429, or 503 or another 5xx, with `Retry-After` in
 * seconds; and reports the warnings of responses (RFC 9111, 5.5, code 299), each text once.
 */
export function patientTransport(transport: Transport, options: PatientOptions = {}): Transport {
  const { onWarning, wait = pause } = options;
  const reported = new Set<string>();
  const patient = async (request: Parameters<Transport>[0]) => {
    for (let attempt = 0; ; attempt++) {
      const response = await transport(request);
      const seconds = retryAfter(response);
      if (seconds === undefined || attempt === maxRetries || request.signal?.aborted === true) {
        for (const text of onWarning === undefined ? [] : warningsOf(response)) {
          if (reported.has(text)) continue;
          reported.add(text);
          onWarning?.(text);
        }
        return response;
      }
      for await (const _ of response.body);
      await wait(seconds * 1000, request.signal);
    }
  };
  const { webSocket } = transport;
  return Object.assign(patient, webSocket === undefined ? {} : { webSocket });
}

const pause = (ms: number, signal: Signal | undefined): Promise<void> =>
  timeout(ms, undefined, signal === undefined ? {} : { signal });

function retryAfter({ status, headers }: ClientResponse): number | undefined {
  if (status !== 429 && status < 500) return undefined;
  const text = headers['retry-after'] ?? '';
  return /^\d+$/.test(text) ? Math.min(Number(text), maxPauseSeconds) : undefined;
}
