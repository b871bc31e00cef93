import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../meta/index.ts';
import { openCollector, tracesUrl } from './collector.ts';
import { attributesOf, nanoseconds, type SpanData, spanKind } from './span-data.ts';

const span: SpanData = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  name: 'GET /api/v1/pods',
  kind: spanKind.server,
  startTimeUnixNano: nanoseconds(1_700_000_000_000),
  endTimeUnixNano: nanoseconds(1_700_000_000_001.5),
  attributes: attributesOf({ 'http.request.method': 'GET', 'http.response.status_code': 200 }),
  events: [],
  links: [],
  status: { code: 0, message: '' },
};

interface Exchange {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** A collector that answers with these statuses in turn, then with 200. 0: it does not answer. */
async function start(statuses: readonly number[], headers: { readonly [name: string]: string } = {}) {
  const exchanges: Exchange[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      const status = statuses[exchanges.length] ?? 200;
      exchanges.push({ path: request.url, headers: request.headers, body: JSON.parse(text) });
      if (status !== 0) response.writeHead(status, headers).end(status === 200 ? '{}' : 'a reason');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const clock = new VirtualClock();
  const collector = openCollector({
    url: tracesUrl(`127.0.0.1:${port}`) as URL,
    serviceName: 'apiserver',
    instance: 'server-1',
    scope: { name: 'orch', version: '1.0.0' },
    clock,
  });
  cleanups.push(() => {
    collector.close();
    server.close();
    server.closeAllConnections();
  });
  const until = async (condition: () => boolean) => {
    while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  /** Sends a span with a time limit of 10 s. Skips the pauses between attempts. */
  const deliver = async (): Promise<string> => {
    const deadline = clock.now() + 10_000;
    let outcome: string | undefined;
    collector.send([span], 10_000).then(
      () => {
        outcome = 'accepted';
      },
      (error: Error) => {
        outcome = error.message;
      },
    );
    await until(() => {
      const { next = deadline } = clock;
      const isSilent = statuses[exchanges.length - 1] === 0;
      if (next < deadline || isSilent) clock.set(next);
      return outcome !== undefined;
    });
    return outcome as unknown as string;
  };
  return { clock, collector, exchanges, until, deliver };
}

describe('a trace collector', () => {
  it('gets spans as OTLP in JSON: hexadecimal identifiers, 64-bit integers as strings', async () => {
    const { collector, exchanges } = await start([]);
    await collector.send([span], 10_000);
    expect(exchanges).toEqual([
      {
        path: '/v1/traces',
        headers: expect.objectContaining({ 'content-type': 'application/json' }) as object,
        body: {
          resourceSpans: [
            {
              resource: {
                attributes: [
                  { key: 'service.name', value: { stringValue: 'apiserver' } },
                  { key: 'service.instance.id', value: { stringValue: 'server-1' } },
                ],
              },
              scopeSpans: [
                {
                  scope: { name: 'orch', version: '1.0.0' },
                  spans: [
                    {
                      traceId: '0af7651916cd43dd8448eb211c80319c',
                      spanId: 'b7ad6b7169203331',
                      name: 'GET /api/v1/pods',
                      kind: 2,
                      startTimeUnixNano: '1700000000000000000',
                      endTimeUnixNano: '1700000000001500000',
                      attributes: [
                        { key: 'http.request.method', value: { stringValue: 'GET' } },
                        { key: 'http.response.status_code', value: { intValue: '200' } },
                      ],
                      events: [],
                      links: [],
                      status: { code: 0, message: '' },
                    },
                  ],
                },
              ],
            },
          ],
        },
      },
    ]);
  });

  it('gets a batch again after a status that OTLP calls retryable', async () => {
    const { exchanges, deliver } = await start([503, 429, 502, 504]);
    expect(await deliver()).toBe('accepted');
    expect(exchanges.length).toBe(5);
  });

  it('gets a batch again no earlier than Retry-After says', async () => {
    const { clock, collector, exchanges, until } = await start([503], { 'retry-after': '8' });
    const delivery = collector.send([span], 10_000);
    const startedAt = clock.now();
    await until(() => clock.next === startedAt + 8_000);
    expect(exchanges.length).toBe(1);
    clock.set(startedAt + 8_000);
    await delivery;
    expect(exchanges.length).toBe(2);
  });

  it('does not get a batch again that it has rejected', async () => {
    const { exchanges, deliver } = await start([400]);
    expect(await deliver()).toBe('400: a reason');
    expect(exchanges.length).toBe(1);
  });

  it('has until the deadline, then the last failure is the reason', async () => {
    expect(await (await start([503, 0])).deliver()).toBe('503: a reason');
    expect(await (await start([0])).deliver()).toBe('no response within 10000 ms');
  });

  it.each<readonly [string, string, string, string]>([
    ['of a response that accepts', 'HTTP/1.1 200 OK\r\n\r\n', 'x', 'accepted'],
    ['of a response that rejects', 'HTTP/1.1 400 Bad\r\n\r\n', 'x', `400: ${'x'.repeat(500)}`],
    ['of interim responses', '', 'HTTP/1.1 103 Early\r\n\r\n', 'the collector sent too many interim responses'],
  ])('is disconnected when there is no end %s', async (_, head, piece, expected) => {
    const server = createSocketServer((socket) => {
      socket.on('error', () => {});
      const send = () => {
        while (!socket.destroyed && socket.write(piece.repeat(1_000)));
      };
      socket.once('data', () => {
        socket.write(head);
        socket.on('drain', send);
        send();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const clock = new VirtualClock();
    const url = tracesUrl(`127.0.0.1:${(server.address() as AddressInfo).port}`) as URL;
    const scope = { name: 'orch', version: '1.0.0' };
    const collector = openCollector({ url, serviceName: 'apiserver', instance: 'server-1', scope, clock });
    cleanups.push(() => {
      collector.close();
      server.close();
    });
    let outcome: string | undefined;
    collector.send([span], 1_000).then(
      () => {
        outcome = 'accepted';
      },
      (error: Error) => {
        outcome = error.message;
      },
    );
    // The repeated export reaches the deadline.
    while (outcome === undefined) await clock.advance(100, () => new Promise((resolve) => setTimeout(resolve, 5)));
    const connections = () => new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
    expect(outcome).toBe(expected);
    await expect.poll(connections).toBe(0);
  });

  it('gets nothing after a close, which ends a delivery', async () => {
    const { collector, exchanges, until } = await start([0]);
    const delivery = collector.send([span], 10_000);
    await until(() => exchanges.length === 1);
    collector.close();
    await expect(delivery).rejects.toThrow();
    expect(exchanges.length).toBe(1);
  });
});

describe('the endpoint of a collector', () => {
  it('is host:port, or a URL, with the path of OTLP for traces', () => {
    for (const [endpoint, url] of [
      ['localhost:4318', 'http://localhost:4318/v1/traces'],
      ['[::1]:4318', 'http://[::1]:4318/v1/traces'],
      ['collector.example', 'http://collector.example/v1/traces'],
      ['https://collector.example', 'https://collector.example/v1/traces'],
      ['https://collector.example/otlp/', 'https://collector.example/otlp/v1/traces'],
      ['HTTPS://collector.example/v1/traces', 'https://collector.example/v1/traces'],
    ]) {
      expect(tracesUrl(endpoint as string)?.href).toBe(url);
    }
  });

  it('has no other scheme, credentials, query or fragment', () => {
    for (const endpoint of [
      '',
      ':4318',
      'localhost:99999',
      'localhost:4318/path',
      'unix:/run/collector.sock',
      'dns:///collector:4318',
      'ftp://collector',
      'https://user:password@collector',
      'https://collector/?key=secret',
      'https://collector/#here',
      'two words',
    ]) {
      expect(tracesUrl(endpoint)).toBeUndefined();
    }
  });
});
