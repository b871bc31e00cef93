/** A writer of valid and invalid HTTP/2 frames (RFC 9113). */

export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

export const setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

export function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length & 0xffffff, 0, 3);
  head.writeUInt8(type & 0xff, 3);
  head.writeUInt8(flags & 0xff, 4);
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
}

export function settings(values: { readonly [id: number]: number } = {}): Buffer {
  const entries = Object.entries(values);
  const payload = Buffer.alloc(entries.length * 6);
  for (const [i, [id, value]] of entries.entries()) {
    payload.writeUInt16BE(Number(id), i * 6);
    payload.writeUInt32BE(value >>> 0, i * 6 + 2);
  }
  return frame(frameType.settings, 0, 0, payload);
}

export function uint32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value >>> 0);
  return out;
}

/** Headers in HPACK (RFC 7541): literals without indexing and without Huffman coding. */
export function headerBlock(headers: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(headers.flatMap(([name, value]) => [Buffer.from([0]), headerText(name), headerText(value)]));
}

function headerText(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128);
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}

/** The HEADERS frame of a request, with or without END_STREAM. */
export function requestFrame(
  stream: number,
  method: string,
  path: string,
  headers: { readonly [name: string]: string | undefined } = {},
  flags: number = flag.endHeaders | flag.endStream,
): Buffer {
  const block = headerBlock([
    [':method', method],
    [':scheme', 'https'],
    [':authority', 'localhost'],
    [':path', path],
    ...Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  ]);
  return frame(frameType.headers, flags, stream, block);
}
