import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StatusError } from '../meta/index.ts';
import { builtinResources } from '../resources/index.ts';
import { identify, splitAtRest } from './request-info.ts';

/** `verb group/version namespace resource name subresource rest`, with `-` for what is empty. */
function told(method: string, url: string): string {
  const { verb, resource } = identify(method, url);
  if (resource === undefined) return `${verb} no resource`;
  const { group, version, namespace, resource: plural, name, subresource, rest } = resource;
  return [verb, `${group}/${version}`, ...[namespace, plural, name, subresource, rest].map((part) => part || '-')].join(
    ' ',
  );
}

describe('identify', () => {
  // The path shapes of the specification ("Endpoints"), each with every verb that its method can mean.
  it.each([
    ['GET', '/api/v1/nodes', 'list /v1 - nodes - - -'],
    ['GET', '/api/v1/pods?limit=5', 'list /v1 - pods - - -'],
    ['GET', '/api/v1/namespaces', 'list /v1 - namespaces - - -'],
    ['GET', '/api/v1/namespaces/a', 'get /v1 a namespaces a - -'],
    ['PUT', '/api/v1/namespaces/a/finalize', 'update /v1 a namespaces a finalize -'],
    ['PATCH', '/api/v1/namespaces/a/status', 'patch /v1 a namespaces a status -'],
    ['GET', '/api/v1/namespaces/a/pods', 'list /v1 a pods - - -'],
    ['GET', '/api/v1/namespaces/a/pods/', 'list /v1 a pods - - -'],
    ['POST', '/api/v1/namespaces/a/pods', 'create /v1 a pods - - -'],
    ['DELETE', '/api/v1/namespaces/a/pods', 'deletecollection /v1 a pods - - -'],
    ['GET', '/api/v1/namespaces/a/pods/x', 'get /v1 a pods x - -'],
    ['DELETE', '/api/v1/namespaces/a/pods/x', 'delete /v1 a pods x - -'],
    ['GET', '/api/v1/namespaces/a/pods/x/log', 'get /v1 a pods x log -'],
    ['POST', '/api/v1/namespaces/a/pods/x/proxy/b/c', 'create /v1 a pods x proxy b/c'],
    ['GET', '/apis/apps/v1/deployments', 'list apps/v1 - deployments - - -'],
    ['GET', '/apis/apps/v1/namespaces/a/deployments/x/scale', 'get apps/v1 a deployments x scale -'],
  ])('%s %s', (method, url, expected) => {
    expect(told(method, url)).toBe(expected);
  });

  // RFC 9110, 9.1: methods are case-sensitive. HTTP/2 carries any.
  it.each([
    'OPTIONS',
    'deletecollection',
    'LIST',
    'WATCH',
    'get',
    'Get',
    'impersonate',
    '*',
    'constructor',
    '__proto__',
  ])('has no verb for the method %s', (method) => {
    const pod = '/api/v1/namespaces/a/pods/x';
    expect(told(method, pod)).toBe(' /v1 a pods x - -');
    expect(told(method, '/api/v1/pods?watch=1')).toBe(' /v1 - pods - - -');
    // Of what is not a resource the verb is the method, where HTTP has one of that name.
    expect(told(method, '/metrics')).toBe(`${method === 'OPTIONS' ? 'options' : ''} no resource`);
  });

  it.each([
    ['/api/v1/pods?watch=1', 'watch /v1 - pods - - -'],
    ['/api/v1/pods?watch=true', 'watch /v1 - pods - - -'],
    ['/api/v1/pods?watch', 'watch /v1 - pods - - -'],
    ['/api/v1/pods?watch=0', 'list /v1 - pods - - -'],
    ['/api/v1/pods?watch=False', 'list /v1 - pods - - -'],
    // "GET collection or item with query watch" is a watch (specification, "Operations").
    ['/api/v1/namespaces/a/pods/x?watch=1', 'watch /v1 a pods x - -'],
    ['/api/v1/namespaces/a/pods/x/log?watch=1', 'get /v1 a pods x log -'],
    ['/api/v1/watch/pods', 'watch /v1 - pods - - -'],
    ['/api/v1/watch/namespaces/a/pods/x', 'watch /v1 a pods x - -'],
    ['/apis/apps/v1/watch/deployments', 'watch apps/v1 - deployments - - -'],
  ])('recognises a watch or not: %s', (url, expected) => {
    expect(told('GET', url)).toBe(expected);
  });

  it.each([
    '/',
    '/api',
    '/api/',
    '/api/v1',
    '/apis',
    '/apis/apps',
    '/apis/apps/v1',
    '/apis/apps/v1/',
    '/healthz',
    '/nope/a/b/c',
  ])('has no resource for %s', (url) => {
    expect(told('GET', url)).toBe('get no resource');
  });

  it('takes an empty part for no name at all, so that it never widens a request to all namespaces', () => {
    expect(told('GET', '/api/v1/namespaces//pods')).toBe('get no resource');
    expect(told('GET', '//api/v1/pods')).toBe('get no resource');
  });

  it('keeps the path after a subresource unchanged', () => {
    expect(told('GET', '/api/v1/namespaces/a/pods/x/proxy//b//c')).toBe('get /v1 a pods x proxy /b//c');
    expect(told('GET', '/api/v1/namespaces/a/pods/x//b')).toBe('get no resource');
  });

  it('decodes the path before it is split', () => {
    expect(told('GET', '/api/v1/namespaces/a%2Fpods/x')).toBe('get /v1 a pods x - -');
    expect(identify('GET', '/%68ealthz').path).toBe('/healthz');
    expect(() => identify('GET', '/api/v1/pods/%ff')).toThrow(StatusError);
  });

  it('accepts the absolute form (RFC 9112, 3.2.2)', () => {
    expect(told('GET', 'https://example.com:6443/api/v1/pods?watch=1')).toBe('watch /v1 - pods - - -');
    expect(identify('GET', 'https://example.com').path).toBe('/');
  });
});

/**
 * The request info of the reference server (apiserver/pkg/endpoints/request/requestinfo.go), in the form of `told`. Not
 * modelled is where this server differs: paths with empty segments are not resources, the prefix `proxy/` means nothing,
 * `watch` alone is the name of a resource, and a GET of one object with `watch` is a watch.
 */
function expected(method: string, segments: readonly string[], watch: boolean): string {
  const [prefix, ...rest] = segments;
  const version = prefix === 'apis' ? 1 : 0;
  if ((prefix !== 'api' && prefix !== 'apis') || rest.length < version + 2)
    return `${method.toLowerCase()} no resource`;
  let parts = rest.slice(version + 1);
  const byPath = parts[0] === 'watch';
  if (byPath) parts = parts.slice(1);
  let namespace = '-';
  if (parts[0] === 'namespaces' && parts.length > 1) {
    namespace = parts[1] as string;
    if (parts.length > 2 && parts[2] !== 'status' && parts[2] !== 'finalize') parts = parts.slice(2);
  }
  const [resource, name = '-', subresource = '-', ...below] = parts;
  const byMethod: { readonly [method: string]: string } = {
    POST: 'create',
    GET: name === '-' ? (watch ? 'watch' : 'list') : 'get',
    HEAD: name === '-' ? (watch ? 'watch' : 'list') : 'get',
    PUT: 'update',
    PATCH: 'patch',
    DELETE: name === '-' ? 'deletecollection' : 'delete',
  };
  const verb = byPath ? 'watch' : (byMethod[method] ?? '');
  const group = version === 0 ? '' : rest[0];
  return `${verb} ${group}/${rest[version]} ${namespace} ${resource} ${name} ${subresource} ${below.join('/') || '-'}`;
}

it('finds in every path what the reference server finds', () => {
  const word = fc.constantFrom(
    'api',
    'apis',
    'namespaces',
    'watch',
    'status',
    'finalize',
    'pods',
    'a',
    'log',
    'proxy',
    'v1',
  );
  const segments = fc
    .tuple(fc.constantFrom('api', 'apis', 'healthz'), fc.array(word, { maxLength: 8 }))
    .map(([root, below]) => [root, ...below]);
  const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE');
  const isWatchAlone = (path: readonly string[]) => {
    const start = path[0] === 'apis' ? 3 : 2;
    return path[start] === 'proxy' || (path[start] === 'watch' && path.length === start + 1);
  };
  fc.assert(
    fc.property(segments, method, fc.boolean(), fc.boolean(), (path, verb, watch, slash) => {
      fc.pre(!isWatchAlone(path));
      const said = expected(verb, path, watch);
      const url = `/${path.join('/')}${slash ? '/' : ''}${watch ? '?watch=1' : ''}`;
      const found = told(verb, url);
      const isNamed = watch && /^get \S*\/\S+ \S+ \S+ (?!- )\S+ - -$/.test(said);
      expect(found).toBe(isNamed ? said.replace(/^get/, 'watch') : said);
    }),
    { numRuns: 5_000 },
  );
});

it('knows the subresources of namespaces: any other segment there is a resource in the namespace', () => {
  const subresources = builtinResources
    .find(({ group, plural }) => group === '' && plural === 'namespaces')
    ?.subresources.map(({ name }) => name);
  expect(subresources?.toSorted()).toEqual(['finalize', 'status']);
  for (const name of subresources ?? []) {
    expect(told('GET', `/api/v1/namespaces/a/${name}`)).toBe(`get /v1 a namespaces a ${name} -`);
  }
});

describe('splitAtRest', () => {
  const pod = '/api/v1/namespaces/proxy/pods/proxy/proxy';
  it.each([
    [pod, pod, ''],
    [`${pod}?a=/proxy/b`, pod, '?a=/proxy/b'],
    [`${pod}/`, pod, '/'],
    [`${pod}//b%2Fc/%20?d=e`, pod, '//b%2Fc/%20?d=e'],
    // The slashes that authorization sees count.
    [`${pod}%2fb/c`, pod, '%2fb/c'],
    ['/api/v1/namespaces/a%2Fpods/x/proxy/b', '/api/v1/namespaces/a%2Fpods/x/proxy', '/b'],
    ['/api/v1/nodes/n/%70roxy/b', '/api/v1/nodes/n/%70roxy', '/b'],
    ['https://example.com/api/v1/nodes/n/proxy/b', '/api/v1/nodes/n/proxy', '/b'],
  ])('splits %s', (url, before, rest) => {
    expect(splitAtRest(url, identify('GET', url))).toEqual({ before, rest });
  });
});
