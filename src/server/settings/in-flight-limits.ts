import type { InFlightLimits } from '../../http/index.ts';
import type { ServerSettings } from './flags.ts';

/** Watches are mostly idle; the limit bounds their memory. */
const maxWatches = 100_000;
/**
 * Proxied requests to nodes use two connections each, which take 0.4 MB of memory when neither side reads. The second ones
 * use at most a quarter of the file descriptors.
 */
const maxProxied = 4_000;
const proxiedShare = 1 / 4;
/** Bytes of request bodies that are received or processed: about 80 of the largest. */
const maxReceiving = 256 * 1024 * 1024;
/** Bytes of large responses that are built for one client. */
const maxResponses = 256 * 1024 * 1024;
/** Bytes of responses that clients have not read: one chunk of several hundred lists, which costs three times its size. */
const maxUnread = 128 * 1024 * 1024;

/** Bytes of the selectors of lists and watches: 400 watches with the largest, or 100,000 with a name. */
const maxSelectors = 64 * 1024 * 1024;

const unlimited = Number.POSITIVE_INFINITY;
const limitOf = (setting: number) => (setting === 0 ? unlimited : setting);

/** The seats of all priority levels; undefined when requests have none. */
export const seatsOf = ({
  enablePriorityAndFairness,
  maxRequestsInflight,
  maxMutatingRequestsInflight,
}: ServerSettings): number | undefined => {
  const seats = maxRequestsInflight + maxMutatingRequestsInflight;
  return enablePriorityAndFairness && seats > 0 ? seats : undefined;
};

/** The limits of concurrent requests, in a process with a limit of file descriptors. */
export const inFlightLimits = (settings: ServerSettings, maxFiles = unlimited): InFlightLimits => ({
  // Where requests have seats, these limit how many there are.
  readOnly: seatsOf(settings) === undefined ? limitOf(settings.maxRequestsInflight) : unlimited,
  mutating: seatsOf(settings) === undefined ? limitOf(settings.maxMutatingRequestsInflight) : unlimited,
  longRunning: maxWatches,
  proxied: Math.min(maxProxied, Math.floor(maxFiles * proxiedShare)),
  receiving: maxReceiving,
  responses: maxResponses,
  unread: maxUnread,
  selectors: maxSelectors,
});
