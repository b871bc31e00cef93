/** The frames of WebSockets (RFC 6455), of both sides. */
import { createHash, randomBytes } from 'node:crypto';

export const opcodes = { continuation: 0x0, text: 0x1, binary: 0x2, close: 0x8, ping: 0x9, pong: 0xa } as const;

/** Status codes of a close frame (RFC 6455, 7.4.1). */
export const closeCodes = { normal: 1000, protocolError: 1002, tooBig: 1009 } as const;

/** The first opcode of control frames. */
const firstControlOpcode = 0x8;
/** The longest payload of a control frame (RFC 6455, 5.5). */
const maxControlBytes = 125;
const maskBytes = 4;

/** The `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key` (RFC 6455, 4.2.2). */
export const webSocketAccept = (key: string): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');

/** The head of an unmasked frame that is a whole message. */
export function frameHead(opcode: number, length: number): Buffer {
  const head = Buffer.alloc(length < 126 ? 2 : length < 0x10000 ? 4 : 10);
  head[0] = 0x80 | opcode;
  if (length < 126) head[1] = length;
  else if (length < 0x10000) {
    head[1] = 126;
    head.writeUInt16BE(length, 2);
  } else {
    head[1] = 127;
    head.writeUIntBE(length, 4, 6);
  }
  return head;
}

/** A message of a server in one frame. */
export const frame = (opcode: number, payload: Uint8Array): Buffer =>
  Buffer.concat([frameHead(opcode, payload.length), payload]);

/** A message of a client in one frame, which is masked (RFC 6455, 5.3). */
export function maskedFrame(opcode: number, payload: Uint8Array): Buffer {
  const head = frameHead(opcode, payload.length);
  head[1] = (head[1] as number) | 0x80;
  const mask = randomBytes(maskBytes);
  return Buffer.concat([head, mask, unmasked(payload, mask)]);
}

/** The payload with or without its mask: masking is its own inverse. */
function unmasked(payload: Uint8Array, mask: Uint8Array): Buffer {
  const bytes = Buffer.from(payload);
  for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] as number) ^ (mask[i % maskBytes] as number);
  return bytes;
}

/** A violation of the protocol. The message completes "the peer has sent …". */
export class FrameError extends Error {
  /** The status for the close frame. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** A message, or a control frame. */
export interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
}

export interface FrameReaderOptions {
  /** Whether the peer masks its frames: a client must, a server must not. */
  readonly masked: boolean;
  /** Maximum size of a message (bytes). */
  readonly maxMessageBytes: number;
}

interface Head {
  readonly opcode: number;
  /** Whether the message ends with this frame. */
  readonly final: boolean;
  /** Where the payload begins, and its length. */
  readonly start: number;
  readonly length: number;
}

/** Parses the frames of a peer, and joins the fragments of messages. Holds one message at most. */
export class FrameReader {
  readonly #options: FrameReaderOptions;
  /** The received bytes of an incomplete frame. */
  #chunks: Buffer[] = [];
  #available = 0;
  /** The number of bytes without which the frame remains incomplete. */
  #required = 0;
  /** The fragments of an incomplete message, in a buffer that grows, with the opcode of the first one. */
  #message: Buffer = Buffer.alloc(0);
  #size = 0;
  #opcode: number | undefined;

  constructor(options: FrameReaderOptions) {
    this.#options = options;
  }

  /** The messages and control frames that end in these bytes. @throws FrameError */
  *read(bytes: Uint8Array): Generator<Frame> {
    this.#chunks.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    this.#available += bytes.length;
    if (this.#available < this.#required) return;
    let rest = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    for (;;) {
      const head = this.#parseHead(rest);
      this.#required = head === undefined ? rest.length + 1 : head.start + head.length;
      if (head === undefined || rest.length < this.#required) break;
      const frame = this.#parseFrame(head, rest);
      rest = rest.subarray(this.#required);
      this.#hold(rest);
      if (frame !== undefined) yield frame;
    }
    // The copy releases the buffer of the socket.
    this.#hold(Buffer.from(rest));
  }

  #hold(rest: Buffer): void {
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#available = rest.length;
  }

  #parseFrame({ opcode, final, start, length }: Head, bytes: Buffer): Frame | undefined {
    const content = bytes.subarray(start, start + length);
    const payload = this.#options.masked ? unmasked(content, bytes.subarray(start - maskBytes, start)) : content;
    if (opcode >= firstControlOpcode) return { opcode, payload };
    if (final && this.#opcode === undefined) return { opcode, payload };
    this.#opcode ??= opcode;
    this.#append(payload);
    if (!final) return undefined;
    const message = { opcode: this.#opcode, payload: this.#message.subarray(0, this.#size) };
    this.#message = Buffer.alloc(0);
    this.#size = 0;
    this.#opcode = undefined;
    return message;
  }

  #append(payload: Buffer): void {
    const size = this.#size + payload.length;
    if (size > this.#message.length) {
      const larger = Buffer.alloc(Math.min(Math.max(size, 2 * this.#message.length), this.#options.maxMessageBytes));
      this.#message.copy(larger, 0, 0, this.#size);
      this.#message = larger;
    }
    payload.copy(this.#message, this.#size);
    this.#size = size;
  }

  /** Undefined: incomplete. */
  #parseHead(bytes: Buffer): Head | undefined {
    if (bytes.length < 2) return undefined;
    const [first = 0, second = 0] = bytes;
    this.#checkHead(first, second);
    const opcode = first & 0x0f;
    const short = second & 0x7f;
    const extended = short === 127 ? 8 : short === 126 ? 2 : 0;
    const start = 2 + extended + (this.#options.masked ? maskBytes : 0);
    if (bytes.length < start) return undefined;
    const length = extended === 0 ? short : Number(extended === 2 ? bytes.readUInt16BE(2) : bytes.readBigUInt64BE(2));
    const { maxMessageBytes } = this.#options;
    if (opcode < firstControlOpcode && this.#size + length > maxMessageBytes) {
      throw new FrameError(closeCodes.tooBig, `a message of more than ${maxMessageBytes} bytes`);
    }
    return { opcode, final: first >= 0x80, start, length };
  }

  #checkHead(first: number, second: number): void {
    const opcode = first & 0x0f;
    const isMasked = (second & 0x80) !== 0;
    if ((first & 0x70) !== 0) throw violation('a frame with an extension');
    if (isMasked !== this.#options.masked) throw violation(`a frame ${isMasked ? 'with' : 'without'} a mask`);
    if (opcode >= firstControlOpcode) {
      const isValid = opcode <= opcodes.pong && first >= 0x80 && (second & 0x7f) <= maxControlBytes;
      if (!isValid) throw violation('an invalid control frame');
    } else if (opcode > opcodes.binary) throw violation('a frame of an unknown type');
    else if ((opcode === opcodes.continuation) !== (this.#opcode !== undefined)) {
      throw violation('fragments out of order');
    }
  }
}

const violation = (what: string): FrameError => new FrameError(closeCodes.protocolError, what);
