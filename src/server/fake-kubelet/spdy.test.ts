import { once } from 'node:events';
import type { Socket } from 'node:net';
import { constants, createDeflate, type Deflate } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { headerDictionary } from './header-dictionary.ts';
import { type Channels, spdyAnswer } from './spdy.ts';

const open: Socket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

const word = (value: number) => Buffer.from(Uint32Array.of(value).buffer).reverse();
const textOf = (text: string) => [word(text.length), Buffer.from(text)];

/** A client, which reads the frames of the server. */
class Client {
  readonly socket: Socket;
  readonly #deflate: Deflate = createDeflate({ dictionary: headerDictionary });
  #received = Buffer.alloc(0);
  readonly #seen: string[] = [];

  constructor(channels: Channels, protocols: string) {
    const headers = { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocols };
    const { tunnel } = spdyAnswer({ headers } as unknown as Parameters<typeof spdyAnswer>[0], channels);
    this.socket = tunnel as Socket;
    open.push(this.socket);
    this.socket.on('data', (piece: Buffer) => {
      this.#received = Buffer.concat([this.#received, piece]);
    });
  }

  async openStream(id: number, headers: { readonly [name: string]: string }): Promise<void> {
    const pairs = Object.entries(headers);
    const block = Buffer.concat([word(pairs.length), ...pairs.flatMap((pair) => pair.flatMap(textOf))]);
    this.#deflate.write(block);
    const compressed = await new Promise<Buffer>((resolve) => {
      this.#deflate.flush(constants.Z_SYNC_FLUSH, () => resolve(this.#deflate.read() as Buffer));
    });
    const payload = Buffer.concat([word(id), word(0), Buffer.alloc(2), compressed]);
    // In two pieces: frames arrive as they like.
    const frame = Buffer.concat([Buffer.from([0x80, 3, 0, 1]), word(payload.length), payload]);
    this.socket.write(frame.subarray(0, 11));
    this.socket.write(frame.subarray(11));
  }

  send(id: number, text: string): void {
    this.socket.write(Buffer.concat([word(id), word(text.length), Buffer.from(text)]));
  }

  /** The frames so far: replies, and the data and the ends of streams. */
  frames(): string[] {
    const found: string[] = [];
    for (let at = 0; at < this.#received.length; ) {
      const length = this.#received.readUIntBE(at + 5, 3);
      const [first = 0, flags = 0] = [this.#received[at], this.#received[at + 4]];
      const id = this.#received.readUInt32BE(first >= 0x80 ? at + 8 : at);
      const payload = this.#received.toString('utf8', at + 8, at + 8 + length);
      found.push(
        first >= 0x80 ? `control ${this.#received[at + 3]} of ${id}` : `${id}${flags === 1 ? ' ends' : `: ${payload}`}`,
      );
      at += 8 + length;
    }
    this.#received = Buffer.alloc(0);
    this.#seen.push(...found);
    return this.#seen;
  }
}

async function* printed(): AsyncGenerator<Buffer> {
  yield Buffer.from('hello\n');
}

describe('SPDY', () => {
  it('carries the output of a command and its status, when the client has opened their streams', async () => {
    const client = new Client(
      { type: 'streams', output: printed(), exitCode: 3 },
      'v5.channel.k8s.io, v4.channel.k8s.io',
    );
    await client.openStream(1, { streamtype: 'error' });
    await expect.poll(() => client.frames()).toEqual(['control 2 of 1']);
    await client.openStream(3, { streamtype: 'stdout' });
    await client.openStream(5, { streamtype: 'stderr' });
    const status =
      '{"metadata":{},"status":"Failure","reason":"NonZeroExitCode","message":"command terminated with non-zero exit code: ' +
      'exit status 3","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}';
    const all = ['control 2 of 1', 'control 2 of 3', 'control 2 of 5', '3: hello\n', '3 ends'];
    all.push(`1: ${status}`, '1 ends', '5 ends');
    await expect.poll(() => client.frames().toSorted()).toEqual(all.toSorted());
  });

  it('carries the response of a port for each connection', async () => {
    const client = new Client({ type: 'ports', ports: [80], response: 'page' }, 'portforward.k8s.io');
    const seen: string[] = [];
    for (const first of [1, 5]) {
      const headers = { port: '80', requestid: String(first) };
      await client.openStream(first, { streamtype: 'error', ...headers });
      await client.openStream(first + 2, { streamtype: 'data', ...headers });
      seen.push(`control 2 of ${first}`, `${first} ends`, `control 2 of ${first + 2}`);
      await expect.poll(() => client.frames()).toEqual(seen);
      client.send(first + 2, 'GET / HTTP/1.1\r\n\r\n');
      seen.push(`${first + 2}: page`, `${first + 2} ends`);
      await expect.poll(() => client.frames()).toEqual(seen);
    }
  });

  it.each([
    ['pings', [0x80, 3, 0, 6, 0, 0, 0, 4, 0, 0, 0, 1]],
    ['data', [0, 0, 0, 3, 0, 0, 0, 1, 0x78]],
  ])('reads %s no faster than the client reads the answers', async (_, frame) => {
    const client = new Client({ type: 'ports', ports: [80], response: 'x'.repeat(1_000) }, 'portforward.k8s.io');
    await client.openStream(3, { streamtype: 'data' });
    await expect.poll(() => client.frames()).toEqual(['control 2 of 3']);
    client.socket.removeAllListeners('data').pause();
    const block = Buffer.concat(Array.from({ length: 5_000 }, () => Buffer.from(frame)));
    let written = 0;
    for (let i = 0; i < 40; i++) client.socket.write(block, () => written++);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(client.socket.readableLength).toBeLessThan(100_000);
    client.socket.resume();
    await expect.poll(() => written).toBe(40);
  });

  it('ends with a frame that is too long, or whose headers cannot be read', async () => {
    for (const bytes of [
      [0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff],
      [0x80, 3, 0, 1, 0, 0, 0, 14, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4],
    ]) {
      const { socket } = new Client({ type: 'ports', ports: [80], response: '' }, 'portforward.k8s.io');
      socket.on('error', () => {});
      const closed = once(socket, 'close');
      socket.write(Buffer.from(bytes));
      await closed;
    }
  });
});
