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
/** Bytes of responses that clients have not read: one chunk of several hundred lists, which costs three times its size. */
const maxUnread = 128 * 1024 * 1024;

/** Bytes of the selectors of lists and watches: 400 watches with the largest, or 100,000 with a name. */
const maxSelectors = 64 * 1024 * 1024;

const limitOf = (setting: number) => (setting === 0 ? Number.POSITIVE_INFINITY : setting);

/** The limits of concurrent requests, in a process with a limit of file descriptors. */
export const inFlightLimits = (settings: ServerSettings, maxFiles = Number.POSITIVE_INFINITY): InFlightLimits => ({
  readOnly: limitOf(settings.maxRequestsInflight),
  mutating: limitOf(settings.maxMutatingRequestsInflight),
  longRunning: maxWatches,
  proxied: Math.min(maxProxied, Math.floor(maxFiles * proxiedShare)),
  receiving: maxReceiving,
  unread: maxUnread,
  selectors: maxSelectors,
});
