/**
 * How long a client may take to read so much of a response (ms; bytes): a minute, as in the reference server, and a second
 * for each 512 KiB. A response that is being read refers to the state at its beginning, and so holds all that was replaced
 * or deleted since.
 */
export const readTimeMs = (bytes: number): number => 60_000 + bytes / 512;
