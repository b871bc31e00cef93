/**
 * The longest time in which a client must read this many bytes of a response (ms): a minute, as in the reference server, and
 * a second for each 512 KiB. A response shows the state at its beginning: until it ends, it holds every object that has been
 * replaced or deleted since.
 */
export const readTimeMs = (bytes: number): number => 60_000 + bytes / 512;
