/** The part of a SPDY/3.1 server that kubectl uses for commands and forwarded ports. */
import { Socket } from 'node:net';
import { constants, createInflate } from 'node:zlib';
import { type ApiRequest, type ApiResponse, textAnswer } from '../../http/index.ts';
import { spdyProtocols } from '../../meta/index.ts';
import { exitStatus } from './exit-status.ts';
import { headerDictionary } from './header-dictionary.ts';

/** The data for a client that upgrades its connection: the output of a command, or the response of ports. */
export type Channels =
  | { readonly type: 'streams'; readonly output: AsyncIterable<Uint8Array>; readonly exitCode: number }
  | { readonly type: 'ports'; readonly ports: readonly number[]; readonly response: string };

const types = { synStream: 1, synReply: 2, reset: 3, ping: 6, goAway: 7 } as const;
const fin = 1;
const headLength = 8;
/** Maximum size of a control frame of the client in bytes, and maximum number of its streams. */
const maxControl = 16 * 1024;
const maxStreams = 256;
/** Maximum number of unread bytes before frames of the client are read on. */
const maxWaiting = 64 * 1024;

/** The 101 response with a tunnel for the client, or an error for another protocol. */
export function spdyAnswer({ headers }: ApiRequest, channels: Channels): ApiResponse {
  const supported = spdyProtocols[channels.type === 'ports' ? 'port' : 'command'];
  const offered = (headers['x-stream-protocol-version'] ?? '').split(',').map((name) => name.trim());
  const chosen = supported.find((protocol) => offered.includes(protocol));
  if (headers['upgrade']?.toLowerCase() !== 'spdy/3.1')
    return textAnswer(400, 'unable to upgrade: SPDY/3.1 or WebSocket is needed\n');
  if (chosen === undefined) return textAnswer(403, `unable to upgrade: unsupported protocols: ${offered.join(', ')}\n`);
  return {
    status: 101,
    headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': chosen },
    body: Buffer.alloc(0),
    tunnel: new SpdyPeer(channels),
  };
}

/** An in-memory connection: the client writes its frames to it. */
class SpdyPeer extends Socket {
  readonly #channels: Channels;
  readonly #inflate = createInflate({ dictionary: headerDictionary, flush: constants.Z_SYNC_FLUSH });
  /** The types of the open streams, by their ids. */
  readonly #streams = new Map<number, string>();
  #remainder: Buffer = Buffer.alloc(0);
  /** Remaining bytes of a data frame to discard. */
  #bytesToSkip = 0;
  #hasReplied = false;
  #hasStarted = false;
  #wake = () => {};

  constructor(channels: Channels) {
    super();
    this.#channels = channels;
    // Also rejects pending reads of headers.
    this.#inflate.on('error', () => this.destroy());
    this.once('close', () => {
      this.#inflate.close();
      this.#wake();
    });
  }

  override _read(): void {
    this.#wake();
  }

  override _final(callback: () => void): void {
    this.push(null);
    callback();
  }

  override _write(bytes: Buffer, _: BufferEncoding, callback: (error?: Error | null) => void): void {
    // A client that violates the protocol is cut off.
    this.#receive(bytes)
      .catch(() => this.destroy())
      .finally(() => callback());
  }

  override _writev(chunks: { chunk: Buffer }[], callback: (error?: Error | null) => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'buffer' as BufferEncoding, callback);
  }

  async #receive(bytes: Buffer): Promise<void> {
    let rest = this.#remainder.length === 0 ? bytes : Buffer.concat([this.#remainder, bytes]);
    for (;;) {
      const skipped = Math.min(this.#bytesToSkip, rest.length);
      this.#bytesToSkip -= skipped;
      rest = rest.subarray(skipped);
      if (this.#bytesToSkip > 0 || rest.length < headLength) break;
      // Each frame may have an answer.
      await this.#drained();
      const length = rest.readUIntBE(5, 3);
      const isControl = (rest.readUInt8(0) & 0x80) !== 0;
      if (!isControl) {
        const id = rest.readUInt32BE(0);
        this.#bytesToSkip = length;
        rest = rest.subarray(headLength);
        this.#data(id);
        continue;
      }
      if (length > maxControl) throw new Error(`a control frame of ${length} bytes is too long`);
      if (rest.length < headLength + length) break;
      await this.#control(rest.readUInt16BE(2), rest.subarray(headLength, headLength + length));
      rest = rest.subarray(headLength + length);
    }
    this.#remainder = Buffer.from(rest);
  }

  /** Resolves once the client has read most of the data. */
  async #drained(): Promise<void> {
    while (!this.destroyed && this.readableLength > maxWaiting) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async #control(type: number, payload: Buffer): Promise<void> {
    if (type === types.ping) this.#send(control(types.ping, payload));
    else if (type === types.goAway) this.end();
    else if (type === types.reset) this.#streams.delete(payload.readUInt32BE(0));
    else if (type === types.synStream) await this.#open(payload);
  }

  async #open(payload: Buffer): Promise<void> {
    if (this.#streams.size >= maxStreams) throw new Error('too many streams are open');
    const id = payload.readUInt32BE(0) & 0x7fffffff;
    const headers = await this.#headersOf(payload.subarray(10));
    const streamType = headers.get('streamtype') ?? '';
    this.#streams.set(id, streamType);
    this.#reply(id);
    if (this.#channels.type === 'streams') this.#start(this.#channels);
    // Ports never fail.
    else if (streamType === 'error') this.#end(id);
  }

  async #headersOf(block: Buffer): Promise<ReadonlyMap<string, string>> {
    await new Promise<void>((resolve, reject) => {
      this.#inflate.write(block, (error) => (error ? reject(error) : resolve()));
    });
    return pairsOf((this.#inflate.read() as Buffer | null) ?? Buffer.alloc(0));
  }

  /** Responds to data of a forwarded port; input of commands is discarded. */
  #data(id: number): void {
    if (this.#channels.type !== 'ports' || this.#streams.get(id) !== 'data') return;
    this.#send(data(id, Buffer.from(this.#channels.response)));
    this.#end(id);
  }

  /** Runs the command once the client has opened its streams. */
  #start({ output, exitCode }: Extract<Channels, { type: 'streams' }>): void {
    const find = (streamType: string) => [...this.#streams].find(([, type]) => type === streamType)?.[0];
    const [out, error] = [find('stdout'), find('error')];
    if (this.#hasStarted) {
      const late = find('stderr');
      if (late !== undefined) this.#end(late);
      return;
    }
    if (out === undefined || error === undefined) return;
    this.#hasStarted = true;
    const run = async () => {
      for await (const piece of output) {
        this.#send(data(out, piece));
        await this.#drained();
      }
      this.#end(out);
      this.#send(data(error, Buffer.from(JSON.stringify(exitStatus(exitCode)))));
      this.#end(error);
      const other = find('stderr');
      if (other !== undefined) this.#end(other);
    };
    run().catch(() => this.destroy());
  }

  /** Accepts a stream without headers, as uncompressed blocks of zlib. */
  #reply(id: number): void {
    const stored = Buffer.from([0, 4, 0, 0xfb, 0xff, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);
    const header = this.#hasReplied ? [] : [Buffer.from([0x78, 0x01])];
    this.#hasReplied = true;
    this.#send(control(types.synReply, Buffer.concat([word(id), ...header, stored])));
  }

  #end(id: number): void {
    if (this.#streams.delete(id)) this.#send(data(id, Buffer.alloc(0), fin));
  }

  #send(frame: Buffer): void {
    if (!this.destroyed && !this.readableEnded) this.push(frame);
  }
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const control = (type: number, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0x80, 3, 0, type]), word(payload.length), payload]);

function data(id: number, bytes: Uint8Array, flags = 0): Buffer {
  const length = word(bytes.length);
  length[0] = flags;
  return Buffer.concat([word(id), length, bytes]);
}

/** The pairs of a block of headers. @throws RangeError when it is cut off */
function pairsOf(block: Buffer): ReadonlyMap<string, string> {
  let at = 0;
  const next = (): number => {
    at += 4;
    return block.readUInt32BE(at - 4);
  };
  const text = (): string => {
    const length = next();
    at += length;
    return block.toString('latin1', at - length, at);
  };
  const pairs = new Map<string, string>();
  for (let remaining = next(); remaining > 0 && at < block.length; remaining--) {
    const name = text();
    pairs.set(name, text());
  }
  return pairs;
}
