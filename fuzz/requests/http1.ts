import { setTimeout as sleep } from 'node:timers/promises';
import { openSocket } from '../client.ts';
import { mutate } from '../mutate.ts';
import type { Random } from '../random.ts';
import { samples } from '../samples.ts';
import { objectBody } from './bodies.ts';
import type { Generator } from './generator.ts';
import { anyHeaders, anyMethod, anyTarget, anyUser } from './vocabulary.ts';

/** The writes of one connection, as binary strings. */
interface Case {
  [key: string]: string[] | string;
  pieces: string[];
  end: 'close' | 'reset';
}

/** HTTP/1.1 requests as bytes: pipelined, in chunks, with and without bodies, truncated. */
export const http1: Generator<Case> = {
  name: 'requests-http1',
  lanes: 16,
  make: (random) => {
    const requests = random.list(1, random.once(3) ? 4 : 1, () => oneRequest(random));
    let bytes: Buffer = Buffer.from(requests.join(''), 'latin1');
    if (random.once(4))
      bytes = mutate(random, { seeds: [bytes], words: ['\r\n', '\r\n\r\n', ': ', ' ', '0\r\n\r\n', 'HTTP/1.1'] });
    if (random.once(6)) bytes = bytes.subarray(0, random.below(bytes.length));
    const cuts = random.list(0, random.once(3) ? 4 : 0, () => random.below(bytes.length + 1)).sort((a, b) => a - b);
    const all = bytes.toString('latin1');
    const pieces = [0, ...cuts].map((from, i) => all.slice(from, cuts[i] ?? all.length));
    return { pieces, end: random.once(4) ? 'reset' : 'close' };
  },
  play: async (server, _, { pieces, end }) => {
    const answer = await exchange(await openSocket(server, 'http/1.1'), pieces, end);
    return faultOf(answer);
  },
  bytes: ({ pieces }) => Buffer.from(pieces.join(''), 'latin1'),
  withBytes: (given, bytes) => ({ ...given, pieces: [bytes.toString('latin1')] }),
};

const pauseMs = 2;
/** The silence after which no more data is expected (ms). */
const usualQuietMs = 60;
const longestMs = 10_000;

/** Reads until the server closes the connection or is silent. */
export async function exchange(
  socket: Awaited<ReturnType<typeof openSocket>>,
  pieces: readonly string[],
  end: Case['end'],
  quietMs = usualQuietMs,
): Promise<string> {
  const answers: Buffer[] = [];
  let heard = Date.now();
  socket.on('data', (piece: Buffer) => {
    answers.push(piece);
    heard = Date.now();
  });
  const began = Date.now();
  for (const [i, piece] of pieces.entries()) {
    if (i > 0) await sleep(pauseMs);
    if (socket.writable) socket.write(piece, 'latin1');
  }
  if (end === 'reset') {
    await sleep(pauseMs);
    socket.resetAndDestroy();
  }
  heard = Date.now();
  while (!socket.closed && Date.now() - heard < quietMs && Date.now() - began < longestMs) await sleep(5);
  socket.destroy();
  return Buffer.concat(answers).toString('latin1');
}

function faultOf(answer: string): string | undefined {
  if (answer === '') return undefined;
  const [, status] = /^HTTP\/1\.[01] (\d{3}) /.exec(answer) ?? [];
  if (status === undefined) return `the answer is not HTTP: ${JSON.stringify(answer.slice(0, 200))}`;
  // Like the reference server: 500 for a resourceVersion that is not a uint64.
  return status === '500' && answer.includes('Internal error')
    ? `answered with 500: ${answer.slice(0, 2_000)}`
    : undefined;
}

function oneRequest(random: Random): string {
  const user = anyUser(random);
  const version = random.once(15) ? random.pick(['HTTP/1.0', 'HTTP/2.0', 'HTTP/1.2', 'HTTP/0.9', '']) : 'HTTP/1.1';
  const headers = anyHeaders(random, user);
  if (!random.once(15)) headers.push(['host', random.pick(['localhost', 'localhost', '', '[::1]:1', 'a b', 'a,b'])]);
  if (random.once(25)) headers.push(['host', 'second']);
  if (random.once(3))
    headers.push(['connection', random.pick(['close', 'keep-alive', 'upgrade', 'close, upgrade', ''])]);
  if (random.once(10))
    headers.push(['upgrade', random.pick(['websocket', 'h2c', 'SPDY/3.1', 'x', ''])], ['connection', 'Upgrade']);
  if (random.once(20)) headers.push(['expect', random.pick(['100-continue', 'other'])]);
  const body = random.once(2) ? framedBody(random, headers) : '';
  const separator = random.once(30) ? random.pick([':', ' : ', ':\t', ':\r\n ']) : ': ';
  const lines = headers.map(([name, value]) => `${random.once(8) ? name.toUpperCase() : name}${separator}${value}\r\n`);
  return `${anyMethod(random)} ${anyTarget(random)} ${version}\r\n${lines.join('')}\r\n${body}`;
}

/** A body and its framing headers, which are usually correct. */
function framedBody(random: Random, headers: [string, string][]): string {
  const { type, bytes } = objectBody(random, random.pick(samples));
  const body = bytes.subarray(0, 200_000).toString('latin1');
  if (!headers.some(([name]) => name === 'content-type')) headers.push(['content-type', type]);
  const how = random.below(12);
  if (how < 6) {
    headers.push(['content-length', String(body.length)]);
    return body;
  }
  if (how < 9) {
    headers.push([
      'transfer-encoding',
      random.once(8) ? random.pick(['gzip', 'chunked, chunked', 'identity', 'xchunked']) : 'chunked',
    ]);
    return chunked(random, body);
  }
  const length = random.pick([
    '-1',
    '0',
    '99999999999',
    '1e3',
    '0x10',
    '',
    ' 5',
    String(body.length + 5),
    String(Math.max(0, body.length - 5)),
  ]);
  headers.push(['content-length', length]);
  if (random.once(3))
    headers.push(
      random.pick([
        ['transfer-encoding', 'chunked'],
        ['content-length', '3'],
      ]),
    );
  return body;
}

function chunked(random: Random, body: string): string {
  let out = '';
  for (let at = 0; at < body.length; ) {
    const piece = body.slice(at, at + 1 + random.below(random.power(14)));
    const size = random.once(40) ? random.pick(['ffffffffffffffff', '-1', 'g', '']) : piece.length.toString(16);
    out += `${size}${random.once(20) ? ';ext="a"' : ''}\r\n${piece}\r\n`;
    at += piece.length;
  }
  const trailer = random.once(10) ? 'Content-Length: 5\r\nX-Trailer: a\r\n' : '';
  return random.once(15) ? out : `${out}0\r\n${trailer}\r\n`;
}
