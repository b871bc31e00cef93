import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameError, FrameReader, frame, maskedFrame, opcodes, webSocketAccept } from './web-socket-frames.ts';

const maxMessageBytes = 70_000;
const read = (bytes: Buffer, masked: boolean, step = bytes.length) => {
  const reader = new FrameReader({ masked, maxMessageBytes });
  const frames: { opcode: number; payload: Buffer }[] = [];
  for (let at = 0; at < bytes.length; at += step) frames.push(...reader.read(bytes.subarray(at, at + step)));
  return frames;
};
const problemOf = (bytes: Buffer, masked: boolean): string | number => {
  try {
    return read(bytes, masked).length;
  } catch (error) {
    if (!(error instanceof FrameError)) throw error;
    return `${error.code}: ${error.message}`;
  }
};

describe('the frames of a WebSocket', () => {
  it('accepts the key of the example in RFC 6455, 1.3', () => {
    expect(webSocketAccept('dGhlIHNhbXBsZSBub25jZQ==')).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
  });

  it('reads the examples of RFC 6455, 5.7', () => {
    const hello = [{ opcode: opcodes.text, payload: Buffer.from('Hello') }];
    expect(read(Buffer.from('810548656c6c6f', 'hex'), false)).toEqual(hello);
    expect(read(Buffer.from('818537fa213d7f9f4d5158', 'hex'), true)).toEqual(hello);
    expect(read(Buffer.from('010348656c80026c6f', 'hex'), false)).toEqual(hello);
    expect(frame(opcodes.text, Buffer.from('Hello')).toString('hex')).toBe('810548656c6c6f');
    expect(frame(opcodes.binary, Buffer.alloc(256)).subarray(0, 4).toString('hex')).toBe('827e0100');
    expect(frame(opcodes.binary, Buffer.alloc(65_536)).subarray(0, 10).toString('hex')).toBe('827f0000000000010000');
  });

  it('reads what it writes, in chunks of any size', () => {
    const sizes = fc.array(fc.constantFrom(0, 1, 125, 126, 300, 65_535, 65_536), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(sizes, fc.constantFrom(1, 3, 1_000, 1e6), fc.boolean(), (lengths, step, masked) => {
        const payloads = lengths.map((length, i) => Buffer.alloc(length, i + 1));
        const write = masked ? maskedFrame : frame;
        const bytes = Buffer.concat(payloads.map((payload) => write(opcodes.binary, payload)));
        const frames = read(bytes, masked, step);
        expect(frames.map(({ payload }) => payload.length)).toEqual(lengths);
        expect(Buffer.concat(frames.map(({ payload }) => payload)).equals(Buffer.concat(payloads))).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('joins fragments with control frames between them', () => {
    const bytes = Buffer.concat([
      Buffer.from('010161', 'hex'),
      frame(opcodes.ping, Buffer.from('p')),
      Buffer.from('000162800163', 'hex'),
    ]);
    expect(read(bytes, false, 1).map(({ opcode, payload }) => [opcode, payload.toString()])).toEqual([
      [opcodes.ping, 'p'],
      [opcodes.text, 'abc'],
    ]);
  });

  it('rejects violations of the protocol with the status for the close frame', () => {
    for (const [hex, masked, problem] of [
      ['c10161', false, '1002: a frame with an extension'],
      ['810161', true, '1002: a frame without a mask'],
      ['81810000000061', false, '1002: a frame with a mask'],
      ['800161', false, '1002: fragments out of order'],
      ['010161810162', false, '1002: fragments out of order'],
      ['830161', false, '1002: a frame of an unknown type'],
      ['8b00', false, '1002: an invalid control frame'],
      ['0900', false, '1002: an invalid control frame'],
      ['897e0080', false, '1002: an invalid control frame'],
      ['827f0000000000011171', false, '1009: a message of more than 70000 bytes'],
      ['827fffffffffffffffff', false, '1009: a message of more than 70000 bytes'],
    ] as const) {
      expect(problemOf(Buffer.from(hex, 'hex'), masked)).toBe(problem);
    }
  });

  it('limits the size of a message in fragments', () => {
    const first = frame(opcodes.binary, Buffer.alloc(60_000));
    first[0] = opcodes.binary;
    const rest = frame(opcodes.continuation, Buffer.alloc(10_001));
    expect(problemOf(Buffer.concat([first, rest]), false)).toBe('1009: a message of more than 70000 bytes');
  });
});
