import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

/** The number of bytes that are compressed at a time: half a millisecond. */
const plainBytes = 64 * 1024;

/** A separately compressed part of a body. Consecutive parts between a head and an end are gzip. */
export interface Deflated {
  readonly bytes: Uint8Array;
  /** The size (bytes) and the CRC-32 of the uncompressed bytes. */
  readonly size: number;
  readonly crc: number;
}

/** Compresses bytes into parts, each in a separate step. */
export function* deflate(bytes: Uint8Array): Generator<Deflated> {
  for (let at = 0; at < bytes.length; at += plainBytes) {
    const plain = bytes.subarray(at, at + plainBytes);
    // A flush instead of an end, since other parts may follow.
    const deflated = deflateRawSync(plain, { level: 1, finishFlush: constants.Z_FULL_FLUSH });
    // zlib returns a slice of a larger buffer.
    const exact = new Uint8Array(deflated.length);
    exact.set(deflated);
    yield { bytes: exact, size: plain.length, crc: crc32(plain) };
  }
}

/** Decompresses a part. */
export const inflate = ({ bytes }: Deflated): Uint8Array =>
  inflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });

/** The fields of a gzip header: its magic number, the method deflate, no flags, no time, an unknown system. */
export const gzipHead = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);

/** The size of the output of {@link GzipEnd} (bytes). */
export const gzipEndBytes = 10;

/** The end of gzip with the checksum and the size of all parts. */
export class GzipEnd {
  #crc = 0;
  #size = 0;

  add({ crc, size }: Deflated): void {
    this.#crc = combine(this.#crc, crc, size);
    this.#size += size;
  }

  bytes(): Uint8Array {
    const end = Buffer.alloc(gzipEndBytes);
    // An empty last block with fixed codes.
    end[0] = 0x03;
    end.writeUInt32LE(this.#crc, 2);
    end.writeUInt32LE(this.#size % 2 ** 32, 6);
    return end;
  }
}

// CRC-32 of a concatenation: polynomials over GF(2), the coefficient of x^0 in the highest bit.

const polynomial = 0xedb88320;
const one = 0x80000000;

/** Returns the CRC-32 of two consecutive texts; `bytes` is the size of the second. */
const combine = (first: number, second: number, bytes: number): number =>
  (multiply(powerOfX(8 * bytes), first) ^ second) >>> 0;

function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= b;
    b = (b & 1) === 0 ? b >>> 1 : (b >>> 1) ^ polynomial;
  }
  return product >>> 0;
}

function powerOfX(exponent: number): number {
  let power = one;
  for (let square = one >>> 1, rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) power = multiply(power, square);
    square = multiply(square, square);
  }
  return power;
}
