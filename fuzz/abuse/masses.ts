import { randomBytes } from 'node:crypto';
import { type Ask, type Client, shown } from '../client.ts';
import type { ServerOptions } from '../server.ts';
import { asAdmin, configMaps, hold, makeConfigMaps, type Scenario, succeeded } from './scenario.ts';

/** Very many requests, each of which is allowed. */

/** How many requests are under way at a time. */
const atOnce = 130;

interface Mass {
  readonly title: string;
  readonly prepare?: (client: Client) => Promise<unknown>;
  readonly ask: (i: number) => Ask;
  /** How many requests. */
  readonly count: number;
  readonly options?: ServerOptions;
}

const accounts = '/api/v1/namespaces/default/serviceaccounts';
const events = '/api/v1/namespaces/default/events';
const leases = '/apis/coordination.orch.io/v1/namespaces/default/leases';
const authorizationReviews = '/apis/authorization.orch.io/v1';
const tokenReviews = '/apis/authentication.orch.io/v1/tokenreviews';

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
/** A token in the form of those of the server, whose signature nobody made. */
const forged = (i: number) => {
  const claims = {
    iss: 'https://orch.default.svc.cluster.local',
    sub: `system:serviceaccount:a:${i}`,
    aud: ['https://orch.default.svc.cluster.local'],
  };
  return `${encoded({ alg: 'RS256' })}.${encoded(claims)}.${randomBytes(256).toString('base64url')}`;
};

/** Makes 10,000 config maps. */
const prepareConfigMaps = (client: Client) =>
  makeConfigMaps(client, 10_000, (i) => ({
    metadata: { name: `m${i}`, labels: { mass: 'yes' } },
    data: { text: 'x'.repeat(500) },
  }));

/** Gives bob a role with these rules. */
async function makeRole(client: Client, rules: readonly object[]): Promise<void> {
  const roles = '/apis/rbac.authorization.orch.io/v1/namespaces/default';
  const roleRef = { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'many' };
  const subjects = [{ apiGroup: 'rbac.authorization.orch.io', kind: 'User', name: 'bob' }];
  succeeded('a role', await client.http1(asAdmin('POST', `${roles}/roles`, { metadata: { name: 'many' }, rules })));
  const binding = { metadata: { name: 'many' }, roleRef, subjects };
  succeeded('a binding', await client.http1(asAdmin('POST', `${roles}/rolebindings`, binding)));
}

const get = (path: string, accept = 'application/json'): Ask => ({
  user: 'admin',
  method: 'GET',
  path,
  headers: { accept },
});

let version = '';

const masses: { readonly [name: string]: Mass } = {
  'token-requests': {
    title: 'tokens are signed by the thousand while others are served',
    prepare: async (client) =>
      succeeded('an account', await client.http1(asAdmin('POST', accounts, { metadata: { name: 'a' } }))),
    ask: () => asAdmin('POST', `${accounts}/a/token`, { spec: { audiences: times(50, (i) => `audience${i}`) } }),
    count: 5_000,
  },
  'forged-tokens': {
    title: 'forged tokens are refused by the thousand while others are served',
    ask: (i) => ({
      user: 'nobody',
      method: 'GET',
      path: '/version',
      headers: { authorization: `Bearer ${forged(i)}` },
    }),
    count: 10_000,
  },
  'reviews-of-forged-tokens': {
    title: 'reviews of forged tokens keep nobody waiting',
    ask: (i) => asAdmin('POST', tokenReviews, { spec: { token: forged(i) } }),
    count: 5_000,
  },
  'access-reviews': {
    title: 'access reviews by the thousand keep nobody waiting',
    ask: (i) => {
      const attributes = { resourceAttributes: { verb: `v${i}`, resource: `r${i}`, namespace: `n${i}` } };
      const groups = times(1_000, (j) => `group${j}`);
      return asAdmin('POST', `${authorizationReviews}/subjectaccessreviews`, {
        spec: { ...attributes, user: `u${i}`, groups },
      });
    },
    count: 3_000,
  },
  events: {
    title: 'events by the ten thousand keep nobody waiting',
    ask: (i) =>
      asAdmin('POST', events, {
        metadata: { name: `e${i}` },
        involvedObject: { kind: 'Pod', namespace: 'default', name: `p${i}` },
        reason: 'Made',
        message: 'm'.repeat(500),
      }),
    count: 20_000,
  },
  leases: {
    title: 'leases that are renewed without pause keep nobody waiting',
    prepare: (client) =>
      Promise.all(
        times(50, (i) =>
          client.http2(asAdmin('POST', leases, { metadata: { name: `l${i}` }, spec: { holderIdentity: 'a' } })),
        ),
      ),
    ask: (i) =>
      asAdmin('PATCH', `${leases}/l${i % 50}`, { spec: { holderIdentity: `h${i}` } }, 'application/merge-patch+json'),
    count: 10_000,
  },
  discovery: {
    title: 'discovery and OpenAPI with an Accept header that always changes keep nobody waiting',
    ask: (i) => {
      const paths = ['/apis', '/api', '/openapi/v2', '/openapi/v3', '/api/v1', '/openapi/v3/api/v1'];
      const accept = `application/x-${i};q=0.1, application/json;q=0.${i % 10}, application/${'y'.repeat(900)}${i}`;
      return {
        ...get(paths[i % paths.length] as string, accept),
        headers: { accept, 'accept-encoding': 'gzip', 'if-none-match': `"${i}"` },
      };
    },
    count: 2_000,
  },
  scrapes: {
    title: 'a thousand scrapes of the metrics keep nobody waiting',
    ask: (i) => ({
      user: 'admin',
      method: 'GET',
      path: '/metrics',
      headers: { 'user-agent': `agent-${i}`, accept: 'text/plain' },
    }),
    count: 1_000,
  },
  'small-pages': {
    title: 'lists in pages of one object keep nobody waiting',
    prepare: prepareConfigMaps,
    ask: () => get(`${configMaps}?limit=1&labelSelector=none%3Dnone`),
    count: 2_000,
  },
  'old-pages': {
    title: 'small pages at an old resourceVersion keep nobody waiting',
    prepare: async (client) => {
      await prepareConfigMaps(client);
      const { body } = await client.http1(get(`${configMaps}?limit=1`));
      version = (JSON.parse(body.toString()) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
    },
    ask: () =>
      get(`${configMaps}?limit=1&resourceVersion=${version}&resourceVersionMatch=Exact&labelSelector=none%3Dnone`),
    count: 500,
  },
  'rules-reviews': {
    title: 'reviews of the rules of users by the thousand keep nobody waiting',
    prepare: async (client) => {
      const rules = times(2_000, (i) => ({ apiGroups: [`g${i}`], resources: [`r${i}`], verbs: ['get'] }));
      await makeRole(client, rules);
    },
    ask: () => ({
      ...asAdmin('POST', `${authorizationReviews}/selfsubjectrulesreviews`, { spec: { namespace: 'default' } }),
      user: 'bob',
    }),
    count: 500,
  },
  'initial-events': {
    title: 'watches that begin with all of 10,000 objects keep nobody waiting',
    prepare: prepareConfigMaps,
    ask: () =>
      get(
        `${configMaps}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1`,
      ),
    count: 500,
    options: { flags: ['--feature-gates=WatchList=true'] },
  },
  'deleted-collections': {
    title: 'deletions of a collection by many at once keep nobody waiting',
    prepare: prepareConfigMaps,
    ask: () => asAdmin('DELETE', `${configMaps}?labelSelector=mass%3Dyes`),
    count: 50,
  },
};

/** 429 is a right answer; an object may be gone. */
const expected = new Set([200, 201, 304, 401, 404, 406, 409, 429]);

export const massScenarios: readonly Scenario[] = Object.entries(masses).map(
  ([name, { title, prepare, ask, count, options = {} }]) => ({
    name: `mass-of-${name}`,
    title,
    options,
    fullOnly: true,
    attack: async ({ client }) => {
      await prepare?.(client);
      let next = 0;
      const work = async () => {
        while (next < count) {
          const i = next++;
          const { status, body } = await (i % 2 === 0 ? client.http2(ask(i)) : client.http1(ask(i)));
          hold(expected.has(status), `a request is answered with ${status}: ${shown(body)}`);
        }
      };
      await Promise.all(times(atOnce, work));
    },
  }),
);
