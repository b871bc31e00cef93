import type { Random } from '../random.ts';
import { samples } from '../samples.ts';
import { authorization, type User, users } from '../server.ts';

/** Valid and invalid parts of requests. */

const documents = [
  '/',
  '/version',
  '/livez?verbose',
  '/readyz/ping',
  '/metrics',
  '/api',
  '/apis',
  '/apis/apps/v1',
  '/openapi/v2',
  '/openapi/v3/api/v1?hash=a',
];
const collections = samples.map(({ collection }) => collection);
const namesOfObjects = [
  'sample',
  'default',
  'web',
  '%2e%2e',
  '..',
  'a%2Fb',
  '%00',
  '%ff',
  'x'.repeat(300),
  '__proto__',
  '日',
];
const subresources = [
  'status',
  'scale',
  'log',
  'exec',
  'proxy',
  'proxy/a/b',
  'eviction',
  'binding',
  'finalize',
  'made-up',
  'token',
];
const parameters = [
  'watch=1&timeoutSeconds=1',
  'watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
  'limit=1',
  'limit=-1',
  'limit=99999999999999999999',
  'continue=abc',
  'resourceVersion=0',
  'resourceVersion=99999999999',
  'resourceVersion=1&resourceVersionMatch=Exact',
  'labelSelector=a%20in%20(b,c),!d',
  'fieldSelector=metadata.name%3Dsample',
  'labelSelector=%00',
  'dryRun=All',
  'fieldValidation=Strict',
  'fieldManager=m&force=true',
  'pretty=1',
  'gracePeriodSeconds=0&propagationPolicy=Orphan',
  'follow=true&container=c&tailLines=5',
  'command=ls&stdin=1',
  '%',
  '=&=&',
  'a=b'.repeat(500),
];

export function anyTarget(random: Random): string {
  if (random.once(6)) return random.pick(documents);
  let path = random.once(12) ? '/apis/none.example.com/v1/things' : random.pick(collections);
  if (random.once(8))
    path = path.replace(
      '/namespaces/default',
      random.pick(['', '/namespaces/', '/watch/namespaces/default', '/namespaces/none']),
    );
  if (!random.once(3)) path += `/${random.pick(namesOfObjects)}`;
  if (random.once(4)) path += `/${random.pick(subresources)}`;
  if (random.once(12))
    path = random.pick([
      `//${path}`,
      `https://other${path}`,
      `${path}/`,
      path.toUpperCase(),
      `${path};a=b`,
      '*',
      'localhost:443',
      '',
    ]);
  const query = random.list(0, 2, () => random.pick(parameters)).join('&');
  return query === '' ? path : `${path}?${query}`;
}

export const anyMethod = (random: Random): string =>
  random.once(8)
    ? random.pick([
        'HEAD',
        'OPTIONS',
        'TRACE',
        'CONNECT',
        'PROPFIND',
        'get',
        'deletecollection',
        'LIST',
        'QUERY',
        'M-SEARCH',
        'A B',
        'GET\t',
        '',
      ])
    : random.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

export const anyUser = (random: Random): User => random.pick(users);

const values: { readonly [name: string]: readonly string[] } = {
  accept: [
    'application/json',
    'application/yaml',
    'application/vnd.orch.protobuf',
    'application/json;as=Table;v=v1;g=meta.orch.io',
    'application/vnd.orch.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.orch.io',
    'application/json;stream=watch',
    'text/html',
    `application/json;${'q=0.1,'.repeat(300)}`,
  ],
  'accept-encoding': ['gzip', 'gzip;q=0', '*', 'br, gzip;q=0.5'],
  'content-type': [
    'application/json',
    'application/yaml',
    'application/vnd.orch.protobuf',
    'application/merge-patch+json',
    'application/json-patch+json',
    'application/strategic-merge-patch+json',
    'application/apply-patch+yaml',
    'application/json; charset=latin1',
    'text/plain',
    '',
  ],
  'impersonate-user': ['bob', 'system:anonymous', 'system:serviceaccount:default:default', ''],
  'impersonate-group': ['system:masters', 'a, b', ''],
  'impersonate-extra-scopes%2fa': ['x'],
  'impersonate-other': ['x'],
  'user-agent': ['curl/8', 'kubectl/v1.33', '\xff\xfe', 'x'.repeat(2000)],
  'if-none-match': ['"x"', '*'],
  'x-forwarded-for': ['1.2.3.4, evil'],
  range: ['bytes=0-1'],
  cookie: ['a=b; c="d'],
  'x-long': ['y'.repeat(9_000)],
};

/** Random headers, including those of the user. */
export function anyHeaders(random: Random, user: User): [name: string, value: string][] {
  const names = random.list(0, 4, () => random.pick(Object.keys(values)));
  const made = names.map((name): [string, string] => [name, random.pick(values[name] ?? [''])]);
  const { authorization: token } = authorization(user);
  if (token !== undefined)
    made.push([
      'authorization',
      random.once(20) ? random.pick(['Bearer', 'Bearer x y', 'Basic Zm9v', `${token} `]) : token,
    ]);
  return made;
}
