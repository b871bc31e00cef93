import { openSocket } from '../client.ts';
import { mutate } from '../mutate.ts';
import type { Random } from '../random.ts';
import { samples } from '../samples.ts';
import { objectBody } from './bodies.ts';
import { flag, frame, frameType, headerBlock, preface, setting, settings, uint32 } from './frames.ts';
import type { Generator } from './generator.ts';
import { exchange } from './http1.ts';
import { anyHeaders, anyMethod, anyTarget, anyUser } from './vocabulary.ts';

/** The frames of one connection, as binary strings. */
interface Case {
  [key: string]: string[] | string;
  pieces: string[];
  end: 'close' | 'reset';
}

/** HTTP/2 frames: requests, and other valid and invalid frames. */
export const http2: Generator<Case> = {
  name: 'requests-http2',
  lanes: 16,
  make: (random) => {
    const frames = [preface, settings(random.once(3) ? oddSettings(random) : {})];
    let stream = 1;
    for (const _ of random.list(1, 12, () => 0)) {
      if (random.once(2)) {
        frames.push(...oneRequest(random, stream));
        stream += random.once(20) ? random.pick([-2, 0, 1, 2 ** 20]) : 2;
      } else frames.push(oddFrame(random, Math.max(0, stream - 2 * random.below(4))));
    }
    let pieces = frames.map((piece) => piece.toString('latin1'));
    if (random.once(5)) {
      const all = mutate(random, {
        seeds: [Buffer.concat(frames)],
        words: ['\0\0\0', '\0\0\x08\x06\0\0\0\0\0', '\x82\x84\x87'],
      });
      pieces = [all.toString('latin1')];
    }
    return { pieces: random.once(2) ? [pieces.join('')] : pieces, end: random.once(4) ? 'reset' : 'close' };
  },
  play: async (server, _, { pieces, end }) => {
    const answer = await exchange(await openSocket(server, 'h2'), pieces, end);
    return answer.includes('unexpected failure') ? `answered with 500: ${answer.slice(0, 2_000)}` : undefined;
  },
  bytes: ({ pieces }) => Buffer.from(pieces.join(''), 'latin1'),
  withBytes: (given, bytes) => ({ ...given, pieces: [bytes.toString('latin1')] }),
};

const sizes = [0, 1, 100, 65_535, 2 ** 24 - 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];

function oddSettings(random: Random): { [id: number]: number } {
  const ids = random.list(1, 4, () => random.pick([...Object.values(setting), 0, 99]));
  return Object.fromEntries(ids.map((id) => [id, random.pick(sizes)]));
}

function oneRequest(random: Random, stream: number): Buffer[] {
  const pseudo: [string, string][] = [
    [':method', anyMethod(random)],
    [':path', anyTarget(random)],
    [':scheme', 'https'],
    [':authority', 'localhost'],
  ];
  if (random.once(10)) pseudo.splice(random.below(pseudo.length), 1);
  if (random.once(15))
    pseudo.push(
      random.pick([
        [':protocol', 'websocket'],
        [':status', '200'],
        [':path', '/'],
        [':made-up', ''],
      ]),
    );
  const headers = anyHeaders(random, anyUser(random));
  if (random.once(15))
    headers.push(
      random.pick([
        ['connection', 'close'],
        ['transfer-encoding', 'chunked'],
        ['TE', 'gzip'],
        ['Upper', 'a'],
        ['a\r\nb', 'c'],
        ['', 'x'],
        ['host', 'other'],
      ]),
    );
  const { type, bytes } = objectBody(random, random.pick(samples));
  const hasBody = random.once(2);
  if (hasBody) headers.push(['content-type', type]);
  if (hasBody && random.once(3)) headers.push(['content-length', random.pick([String(bytes.length), '0', '5', '-1'])]);
  const all = random.once(15) ? [...headers, ...pseudo] : [...pseudo, ...headers];
  const head = headFrames(random, stream, headerBlock(all), hasBody ? 0 : flag.endStream);
  return hasBody ? [...head, ...dataFrames(random, stream, bytes)] : head;
}

/** A header block in one HEADERS frame, or with CONTINUATION frames. */
function headFrames(random: Random, stream: number, block: Buffer, flags: number): Buffer[] {
  if (!random.once(6)) return [frame(frameType.headers, flags | flag.endHeaders, stream, block)];
  const middle = random.below(block.length);
  return [
    frame(frameType.headers, flags, stream, block.subarray(0, middle)),
    ...(random.once(5) ? [frame(frameType.ping, 0, 0, Buffer.alloc(8))] : []),
    frame(frameType.continuation, random.once(8) ? 0 : flag.endHeaders, stream, block.subarray(middle)),
  ];
}

function dataFrames(random: Random, stream: number, body: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  const size = random.pick([1_000, 16_384, 16_384, 16_385]);
  for (let at = 0; at < Math.min(body.length, 60_000); at += size) {
    frames.push(frame(frameType.data, 0, stream, body.subarray(at, Math.min(at + size, 60_000))));
  }
  if (!random.once(6)) frames.push(frame(frameType.data, flag.endStream, stream));
  return frames;
}

function oddFrame(random: Random, stream: number): Buffer {
  const id = random.once(8) ? random.pick([0, 2, 2 ** 31 - 1]) : stream;
  switch (random.below(8)) {
    case 0:
      return frame(frameType.reset, 0, id, uint32(random.below(15)));
    case 1:
      return frame(frameType.windowUpdate, 0, random.once(2) ? 0 : id, uint32(random.pick(sizes)));
    case 2:
      return frame(frameType.ping, random.below(2), 0, Buffer.alloc(random.once(10) ? 3 : 8));
    case 3:
      return frame(frameType.priority, 0, id, Buffer.concat([uint32(random.pick([0, id, 7])), Buffer.from([255])]));
    case 4:
      return random.once(4) ? frame(frameType.settings, flag.ack, 0) : settings(oddSettings(random));
    case 5:
      return frame(frameType.goAway, 0, 0, Buffer.concat([uint32(random.below(9)), uint32(random.below(15))]));
    case 6:
      return frame(frameType.headers, flag.endHeaders | flag.endStream, id, headerBlock([['x-trailer', 'a']]));
    default:
      return frame(random.below(14), random.below(256), id, Buffer.alloc(random.below(40), random.below(256)));
  }
}
