import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { drivenClock } from '../../store/testing/driven-clock.ts';
import { identify } from '../request-info.ts';
import { createAggregatedRelay, pathThere } from './aggregated.ts';
import { userHeaders } from './proxy-headers.ts';

const there = (url: string) => pathThere(identify('GET', url));
const apples = '/apis/fruit.example.com/v1/namespaces/x/apples';

describe('the path that an extension API server is asked for', () => {
  it('is the path that was authorized, encoded again', () => {
    expect(there(`${apples}/a%2Fb%20c`)).toBe(`${apples}/a/b%20c`);
    expect(there(`${apples}/a%252e%3Fb%23`)).toBe(`${apples}/a%252e%3Fb%23`);
    expect(there(`${apples}/a:b@c=d`)).toBe(`${apples}/a:b@c=d`);
    expect(there(`${apples}/`)).toBe(`${apples}/`);
  });

  it.each(['/..', '/%2e%2e/pears', '/./a', '//a', '/a%2F..%2F..', '/a/%2E'])(
    'is refused when it ends in %s',
    (rest) => {
      expect(() => there(apples + rest)).toThrow('must not have empty segments, "." or ".."');
    },
  );

  it('has the parameters in order', () => {
    expect(there(`${apples}?b=%20x&a=2&a=1`)).toBe(`${apples}?a=2&a=1&b=+x`);
  });
});

describe('the headers that name a user', () => {
  it('have values in UTF-8 and encoded keys', () => {
    const user = { name: 'jo', uid: 'u', groups: ['a', 'b,c'], extra: { 'Example.com/k(y)': ['é'] } };
    expect(userHeaders(user)).toEqual({
      'x-remote-user': 'jo',
      'x-remote-uid': 'u',
      'x-remote-group': ['a', 'b,c'],
      'x-remote-extra-example.com%2fk%28y%29': [Buffer.from('é').toString('latin1')],
    });
  });

  it('hold no line breaks', () => {
    expect(() => userHeaders({ name: 'a\r\nX-Remote-Group: system:masters', groups: [] })).toThrow(
      'invalid header field value for "X-Remote-User"',
    );
  });
});

it('a request of this server itself begins in a turn of its own', async () => {
  const events: string[] = [];
  const server = createServer((socket) => {
    events.push('connection');
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const relay = createAggregatedRelay({
    clock: drivenClock(),
    certificate: () => undefined,
    locate: () => Promise.reject(new Error('not asked')),
    isIdentity: () => false,
  });
  const turns = { over: true, next: async () => void events.push('turn') };
  const service = { namespace: 'n', name: 'x', port: 443, ca: '', verify: false };
  const address = { host: '127.0.0.1', port: String((server.address() as AddressInfo).port) };
  await expect(relay.ask(service, address, { path: '/', user: { name: 'a', groups: [] } }, turns)).rejects.toThrow(
    'Get',
  );
  expect(events).toEqual(['turn', 'connection']);
  relay.close();
  server.close();
});
