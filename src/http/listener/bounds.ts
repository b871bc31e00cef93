// Upper bounds of the histograms, as in the reference server.

/** Of requests, to their end. */
export const durationBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
/** Of responses (bytes). */
export const sizeBounds = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
export const admissionBounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

/** Of authentication, and of conversion webhooks. */
export const authenticationBounds = Array.from({ length: 15 }, (_, i) => 2 ** i / 1000);

/** Of calls of authorization webhooks: those of the client library. */
export const callBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Of work queues. */
export const queueBounds = Array.from({ length: 10 }, (_, i) => Number(`1e${i - 8}`));

/** Of watch events (bytes). */
export const eventBounds = Array.from({ length: 8 }, (_, i) => 1024 * 2 ** i);

const hour = 3600;
const day = 24 * hour;
/** Of the time for which client certificates are still valid: half an hour to a year. */
export const expiryBounds = [
  ...[0, hour / 2, hour, 2 * hour, 6 * hour, 12 * hour, day, 2 * day, 4 * day, 7 * day],
  ...[30 * day, 90 * day, 180 * day, 360 * day],
];

/** Of commits and flushes of the embedded store, as in the write-ahead log of etcd. */
export const flushBounds = Array.from({ length: 14 }, (_, i) => 2 ** i / 1000);

/** Of the pauses of the garbage collector, as in the client library of Prometheus for Node. */
export const collectionBounds = [0.001, 0.01, 0.1, 1, 2, 5];
