import { describe, expect, it } from 'vitest';
import { CelError, type ListValue, type MapValue, type Value } from '../values.ts';
import { callOf, overloadOf } from './testing/calls.ts';
import { type UrlValue, urlLibrary } from './url.ts';

const call = callOf(urlLibrary);
const url = (text: string) => call('url', text) as UrlValue;

function queryOf(text: string): { [key: string]: Value[] } {
  const map = call('getQuery', url(text)) as MapValue;
  return Object.fromEntries(
    [...map.keys()].map((key) => {
      const list = map.get(key) as ListValue;
      return [key, Array.from({ length: list.size }, (_, i) => list.get(i))];
    }),
  );
}

describe('url', () => {
  it.each([
    // text, scheme, host, hostname, port, escaped path
    ['https://example.com:80/', 'https', 'example.com:80', 'example.com', '80', '/'],
    ['HTTPS://Example.com/path', 'https', 'Example.com', 'Example.com', '', '/path'],
    ['https://example.com', 'https', 'example.com', 'example.com', '', ''],
    ['https://example.com:/', 'https', 'example.com:', 'example.com', '', '/'],
    ['https://user:secret@example.com:443/a?b#c', 'https', 'example.com:443', 'example.com', '443', '/a'],
    ['https://[::1]:80/', 'https', '[::1]:80', '::1', '80', '/'],
    ['https://[fe80::1%25en0]/', 'https', '[fe80::1%en0]', 'fe80::1%en0', '', '/'],
    ['https://example.com/path with spaces/', 'https', 'example.com', 'example.com', '', '/path%20with%20spaces/'],
    ['https://example.com/a%2Fb/%7e', 'https', 'example.com', 'example.com', '', '/a%2Fb/%7e'],
    ['https://example.com/a%2F "', 'https', 'example.com', 'example.com', '', '/a/%20%22'],
    ['https://example.com/ü', 'https', 'example.com', 'example.com', '', '/%C3%BC'],
    ['/absolute-path', '', '', '', '', '/absolute-path'],
    ['//example.com/a', '', 'example.com', 'example.com', '', '/a'],
    ['mailto:a@example.com', 'mailto', '', '', '', ''],
    ['https:://example.com/', 'https', '', '', '', ''],
    ['file:/etc/hosts', 'file', '', '', '', '/etc/hosts'],
    ['*', '', '', '', '', '*'],
  ])('parses %s', (text, scheme, host, hostname, port, path) => {
    expect(call('isURL', text)).toBe(true);
    const parts = ['getScheme', 'getHost', 'getHostname', 'getPort', 'getEscapedPath'];
    expect(parts.map((name) => call(name, url(text)))).toEqual([scheme, host, hostname, port, path]);
  });

  it.each([
    ['', 'parse "": empty url'],
    ['example.com', 'parse "example.com": invalid URI for request'],
    ['../relative', 'parse "../relative": invalid URI for request'],
    [':nope', 'parse ":nope": missing protocol scheme'],
    ['https://a b.com/', 'parse "https://a b.com/": invalid character " " in host name'],
    ['https://example.com:port/', 'parse "https://example.com:port/": invalid port ":port" after host'],
    ['https://[::1/', 'parse "https://[::1/": missing \']\' in host'],
    ['https://[::1]80/', 'parse "https://[::1]80/": invalid port "80" after host'],
    ['https://ex%41mple.com/', 'parse "https://ex%41mple.com/": invalid URL escape "%41"'],
    ['https://[fe80::1%25%41%2f]/', 'parse "https://[fe80::1%25%41%2f]/": invalid URL escape "%2f"'],
    ['https://us er@example.com/', 'parse "https://us er@example.com/": net/url: invalid userinfo'],
    ['https://us%zzer@example.com/', 'parse "https://us%zzer@example.com/": invalid URL escape "%zz"'],
    ['https://example.com/%', 'parse "https://example.com/%": invalid URL escape "%"'],
    ['https://example.com/\t', 'parse "https://example.com/\\t": net/url: invalid control character in URL'],
    ['/a%zz', 'parse "/a%zz": invalid URL escape "%zz"'],
    // Valid as a path with `#`, and then no valid fragment.
    ['https://example.com/?a#%zz', 'parse "https://example.com/?a#%zz": invalid URL escape "%zz"', true],
  ])('refuses %j', (text, message, isUrl = false) => {
    expect(call('isURL', text)).toBe(isUrl);
    expect(() => url(text)).toThrow(new CelError(`URL parse error during conversion from string: ${message}`));
  });

  it.each([
    ['https://example.com/path?k1=a&k2=b&k2=c', { k1: ['a'], k2: ['b', 'c'] }],
    ['https://example.com/path?key with spaces=value+with%20spaces', { 'key with spaces': ['value with spaces'] }],
    ['https://example.com/path?', {}],
    ['https://example.com/path', {}],
    ['https://example.com/?a&b=&=c&&d=e=f', { a: [''], b: [''], '': ['c'], d: ['e=f'] }],
    ['https://example.com/?ok=1&bad=%zz&a;b=2#x=y', { ok: ['1'] }],
    ['mailto:a@example.com?subject=hi', { subject: ['hi'] }],
    [
      '/?__proto__=1&constructor=2',
      Object.fromEntries([
        ['__proto__', ['1']],
        ['constructor', ['2']],
      ]),
    ],
  ])('reads the query of %s', (text, query) => {
    expect(queryOf(text)).toEqual(query);
  });

  it.each([
    ['https://example.com/a?b#c', 'HTTPS://example.com/a?b#c', true],
    ['https://example.com/%C3%BC', 'https://example.com/ü', true],
    ['https://example.com/#', 'https://example.com/', true],
    ['https://example.com/a%2Fb', 'https://example.com/a/b', false],
    ['https://example.com/?', 'https://example.com/', false],
    ['https://example.com', 'https://example.com/', false],
    ['https://a@example.com', 'https://a:@example.com', false],
    ['file:/a', 'file:///a', false],
    ['https://example.com/#a', 'https://example.com/#b', false],
  ])('%s equals %s: %s', (a, b, equal) => {
    expect(url(a).equals(url(b))).toBe(equal);
    expect(url(b).equals(url(a))).toBe(equal);
  });

  it('takes time linear in the length of its text', () => {
    const long = `https://example.com/${'%41 ü'.repeat(100_000)}?${'a=%41+&'.repeat(100_000)}`;
    const parsed = url(long);
    expect(call('getEscapedPath', parsed)).toHaveLength(1 + 100_000 * 'A%20%C3%BC'.length);
    expect(queryOf(long)['a']).toHaveLength(100_000);
  });

  it('reads the parameters of a long query in steps, and refuses too many', () => {
    const steps = overloadOf(urlLibrary, 'getQuery').steps?.(url(`https://example.com/?${'a=%&'.repeat(100_000)}`));
    let count = 0;
    while (steps?.next().done === false) count++;
    expect(count).toBeGreaterThan(20);
    const tooMany = url(`https://example.com/?${'a&'.repeat(400_001)}`);
    expect(() => call('getQuery', tooMany)).toThrow('the list is too large');
  });

  it('costs a tenth of the length of its text; a check costs 1', () => {
    const { cost, estimate } = overloadOf(urlLibrary, 'url');
    expect(cost?.(['https://kubernetes.example/'], null)).toBe(3);
    // Four code points, eight UTF-16 units.
    expect(cost?.(['😀'.repeat(10)], null)).toBe(1);
    const size = { min: 5, max: 42 };
    expect(estimate?.([{ size, type: { kind: 'string' }, literal: undefined, elementSize: undefined }])).toEqual({
      cost: { min: 1, max: 5 },
      resultSize: size,
    });
    expect(overloadOf(urlLibrary, 'isURL').cost?.(['https://example.com/'], true)).toBe(1);
    expect(overloadOf(urlLibrary, 'isURL').cost?.(['x'.repeat(1_000_000)], false)).toBe(10_000);
    expect(url('https://example.com/').size).toBe(1);
    expect(url(`https://example.com/${'x'.repeat(1_000_000)}`).size).toBe(10_001);
  });
});
