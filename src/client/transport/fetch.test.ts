import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fetchTransport } from './fetch.ts';

/** A WebSocket of a browser, which the test opens, fills and closes. */
class BrowserSocket extends EventTarget {
  static readonly OPEN = 1;
  static opened: BrowserSocket[] = [];
  readyState = 0;
  bufferedAmount = 0;
  protocol = '';
  readonly sent: Uint8Array[] = [];
  readonly url: string;
  readonly protocols: readonly string[];

  constructor(url: URL, protocols: readonly string[]) {
    super();
    this.url = url.href;
    this.protocols = protocols;
    BrowserSocket.opened.push(this);
  }
  open(): void {
    this.readyState = 1;
    this.protocol = this.protocols[0] ?? '';
    this.dispatchEvent(new Event('open'));
  }
  receive(text: string): void {
    const { buffer } = new TextEncoder().encode(text);
    this.dispatchEvent(Object.assign(new Event('message'), { data: buffer }));
  }
  end(wasClean: boolean, code: number): void {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event('close'), { wasClean, code }));
  }
  send(message: Uint8Array): void {
    this.sent.push(message);
  }
  close(): void {
    if (this.readyState !== 3) this.end(true, 1000);
  }
}

const seen: { readonly url: string; readonly headers: object }[] = [];
let response = () => Response.json({});
beforeEach(() => {
  BrowserSocket.opened = [];
  seen.length = 0;
  response = () => Response.json({});
  vi.stubGlobal('WebSocket', BrowserSocket);
  vi.stubGlobal('fetch', async (url: string, { headers }: { readonly headers: object }) => {
    seen.push({ url, headers });
    return response();
  });
});
afterEach(() => vi.unstubAllGlobals());

const request = { url: '/api/v1/namespaces/default/pods/web/exec', headers: {}, protocols: ['v5.channel.k8s.io'] };
const server = 'https://cluster.example.com:6443';

/** Begins to open a WebSocket; resolves once the browser has got it. */
async function begin(options: object = {}) {
  const opening =
    fetchTransport({ server, ...options }).webSocket?.(request) ?? Promise.reject(new Error('no sockets'));
  opening.catch(() => {});
  await vi.waitUntil(() => BrowserSocket.opened.length > 0);
  return { opening, socket: BrowserSocket.opened[0] as BrowserSocket };
}

async function open() {
  const { opening, socket } = await begin();
  socket.open();
  return { messages: await opening, socket };
}

describe('a transport over fetch', () => {
  it('asks for a token before each request', async () => {
    let count = 0;
    const token = async () => `token-${++count}`;
    const transport = fetchTransport({ token });
    for (const url of ['/a', '/b']) await transport({ method: 'GET', url, headers: {} });
    expect(seen.map(({ headers }) => headers)).toEqual([
      { authorization: 'Bearer token-1' },
      { authorization: 'Bearer token-2' },
    ]);
  });

  it('refuses paths that name another host', async () => {
    const transport = fetchTransport();
    await expect(transport({ method: 'GET', url: '//evil', headers: {} })).rejects.toThrow('one slash');
    await expect(transport.webSocket?.({ ...request, url: '//evil' })).rejects.toThrow('one slash');
  });
});

describe('a WebSocket of the platform', () => {
  it('carries the token in a subprotocol of the API domain, since browsers send no header', async () => {
    const { socket } = await begin({ token: async () => 'täken?', apiDomain: 'orch.io' });
    const encoded = Buffer.from('täken?').toString('base64url');
    expect(socket.url).toBe(`wss://cluster.example.com:6443${request.url}`);
    expect(socket.protocols).toEqual(['v5.channel.k8s.io', `base64url.bearer.authorization.orch.io.${encoded}`]);
  });

  it('has the messages in their order, and ends when the server closes', async () => {
    const { messages, socket } = await open();
    socket.receive('one');
    socket.receive('two');
    const texts: string[] = [];
    for await (const message of messages.messages) {
      texts.push(new TextDecoder().decode(message));
      if (texts.length === 2) socket.receive('three');
      if (texts.length === 3) socket.end(true, 1000);
    }
    expect(texts).toEqual(['one', 'two', 'three']);
    await expect(messages.send(new Uint8Array())).rejects.toMatchObject({ code: 503 });
  });

  it('fails after the last message when the connection is lost', async () => {
    const { messages, socket } = await open();
    socket.receive('one');
    socket.end(false, 1006);
    const reading = messages.messages[Symbol.asyncIterator]();
    expect(await reading.next()).toMatchObject({ done: false });
    await expect(reading.next()).rejects.toMatchObject({ code: 503, message: expect.stringContaining('1006') });
  });

  it('holds 32 MiB of messages that nobody reads, and then fails', async () => {
    const { messages, socket } = await open();
    const text = 'x'.repeat(2 ** 20);
    for (let i = 0; i < 33; i++) socket.receive(text);
    expect(socket.readyState).toBe(3);
    const read = async () => {
      let count = 0;
      for await (const _ of messages.messages) count += 1;
      return count;
    };
    await expect(read()).rejects.toThrow('faster than they are read');
  });

  it('tells why the server refuses it, by the response to the same request without an upgrade', async () => {
    response = () => Response.json({ kind: 'Status', code: 403, reason: 'Forbidden', message: 'no' }, { status: 403 });
    const { opening, socket } = await begin();
    socket.end(false, 1006);
    await expect(opening).rejects.toMatchObject({ code: 403, message: 'no' });
    expect(seen).toEqual([{ url: `${server}${request.url}`, headers: {} }]);
  });

  it('fails without a reason where the server refuses only the missing upgrade', async () => {
    response = () => Response.json({ kind: 'Status', code: 400, message: 'Upgrade request required' }, { status: 400 });
    const { opening, socket } = await begin();
    socket.end(false, 1006);
    await expect(opening).rejects.toMatchObject({ code: 503, message: 'the server did not open the WebSocket' });
  });
});
