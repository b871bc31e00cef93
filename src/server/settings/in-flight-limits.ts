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

/** Responses that are compressed while they are sent: each has a state of zlib, and the beginning of its body. */
const maxCompressed = 256;

/**
 * Gets and lists, and as many mutating requests, whose clients have yet to read the response. Seats limit how many are
 * served; what is not read takes up to 80 KB each.
 */
const maxUnreadResponses = 8_192;

const unlimited = Number.POSITIVE_INFINITY;
const limitOf = (setting: number) => (setting === 0 ? unlimited : setting);

type LimitSettings = Pick<
  ServerSettings,
  'enablePriorityAndFairness' | 'maxRequestsInflight' | 'maxMutatingRequestsInflight' | 'workers'
>;

/** The share of each worker in a limit of the whole server. */
export const shareOf = ({ workers }: Pick<ServerSettings, 'workers'>, limit: number): number =>
  Math.ceil(limit / workers);

/** The seats of all priority levels in this process; undefined when requests have none. */
export const seatsOf = (settings: LimitSettings): number | undefined => {
  const seats = settings.maxRequestsInflight + settings.maxMutatingRequestsInflight;
  return settings.enablePriorityAndFairness && seats > 0 ? shareOf(settings, seats) : undefined;
};

/**
 * The limits of concurrent requests in this process, which has a limit of file descriptors. Each worker has an equal share of
 * those of the server.
 */
export const inFlightLimits = (settings: LimitSettings, maxFiles = unlimited): InFlightLimits => {
  const share = (limit: number) => shareOf(settings, limit);
  const hasSeats = seatsOf(settings) !== undefined;
  return {
    readOnly: share(hasSeats ? maxUnreadResponses : limitOf(settings.maxRequestsInflight)),
    mutating: share(hasSeats ? maxUnreadResponses : limitOf(settings.maxMutatingRequestsInflight)),
    longRunning: share(maxWatches),
    proxied: Math.min(share(maxProxied), Math.floor(maxFiles * proxiedShare)),
    receiving: share(maxReceiving),
    responses: share(maxResponses),
    unread: share(maxUnread),
    selectors: share(maxSelectors),
    compressed: share(maxCompressed),
  };
};
