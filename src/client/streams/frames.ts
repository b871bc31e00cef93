import { randomBytes } from 'node:crypto';
import { StatusError } from '../../meta/index.ts';

export const opcodes = { continuation: 0x0, text: 0x1, binary: 0x2, close: 0x8, ping: 0x9, pong: 0xa } as const;

/** Maximum size of a message from the server (bytes). */
const maxMessage = 32 * 1024 * 1024;

/** Encodes a frame of a client, whose payload is masked (RFC 6455, 5.3). */
export function maskedFrame(opcode: number, payload: Uint8Array): Uint8Array {
  const { length } = payload;
  const extended = length < 126 ? 0 : length < 0x10000 ? 2 : 8;
  const frame = Buffer.alloc(2 + extended + 4 + length);
  frame[0] = 0x80 | opcode;
  frame[1] = 0x80 | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended === 2) frame.writeUInt16BE(length, 2);
  if (extended === 8) frame.writeBigUInt64BE(BigInt(length), 2);
  const mask = randomBytes(4);
  const start = 2 + extended;
  frame.set(mask, start);
  for (let i = 0; i < length; i++) frame[start + 4 + i] = (payload[i] as number) ^ (mask[i % 4] as number);
  return frame;
}

/** A message, or a control frame. */
export interface Frame {
  readonly opcode: number;
  readonly payload: Uint8Array;
}

/** Parses the frames of a server and joins fragmented messages. */
export class FrameReader {
  #unread: Buffer = Buffer.alloc(0);
  /** The fragments of an incomplete message, with the opcode of the first one. */
  #fragments: Uint8Array[] = [];
  #opcode: number | undefined;
  #size = 0;

  /** Yields the messages and control frames that end in these bytes. @throws StatusError 502 for an invalid frame */
  *read(bytes: Uint8Array): Generator<Frame> {
    let rest = this.#unread.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#unread, bytes]);
    for (;;) {
      const head = headOf(rest);
      if (head === undefined || rest.length < head.start + head.length) break;
      const payload = rest.subarray(head.start, head.start + head.length);
      rest = rest.subarray(head.start + head.length);
      this.#unread = rest;
      const frame = this.#join(head, payload);
      if (frame !== undefined) yield frame;
    }
    this.#unread = rest;
  }

  #join({ opcode, final }: Head, payload: Uint8Array): Frame | undefined {
    if (opcode >= opcodes.close) return { opcode, payload };
    if ((opcode === opcodes.continuation) !== (this.#opcode !== undefined)) throw violation('fragments out of order');
    this.#opcode ??= opcode;
    this.#size += payload.length;
    if (this.#size > maxMessage) throw violation(`a message of more than ${maxMessage} bytes`);
    this.#fragments.push(Uint8Array.from(payload));
    if (!final) return undefined;
    const message = { opcode: this.#opcode, payload: Buffer.concat(this.#fragments) };
    [this.#fragments, this.#opcode, this.#size] = [[], undefined, 0];
    return message;
  }
}

interface Head {
  readonly opcode: number;
  /** Whether this frame is the last of its message. */
  readonly final: boolean;
  /** Where the payload begins, and its length. */
  readonly start: number;
  readonly length: number;
}

/** Returns undefined while the header is incomplete. */
function headOf(bytes: Buffer): Head | undefined {
  if (bytes.length < 2) return undefined;
  const [first = 0, second = 0] = bytes;
  if ((first & 0x70) !== 0 || (second & 0x80) !== 0) throw violation('a frame with an extension or a mask');
  const short = second & 0x7f;
  const start = 2 + (short < 126 ? 0 : short === 126 ? 2 : 8);
  if (bytes.length < start) return undefined;
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (length > maxMessage) throw violation(`a frame of more than ${maxMessage} bytes`);
  return { opcode: first & 0x0f, final: first >= 0x80, start, length };
}

const violation = (what: string) => new StatusError(502, 'BadGateway', `the server sent ${what} over the WebSocket`);
