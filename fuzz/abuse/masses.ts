import { randomBytes } from 'node:crypto';
import { type Ask, type Client, shown } from '../client.ts';
import { asAdmin, hold, type Scenario, succeeded } from './scenario.ts';

/** Very many requests, each of which is allowed. */

/** How many requests are under way at a time. */
const atOnce = 130;

interface Mass {
  readonly title: string;
  readonly prepare?: (client: Client) => Promise<unknown>;
  readonly ask: (i: number) => Ask;
  /** How many requests. */
  readonly count: number;
}

const accounts = '/api/v1/namespaces/default/serviceaccounts';

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
};

/** 429 is a right answer. */
const expected = new Set([201, 401, 429]);

export const massScenarios: readonly Scenario[] = Object.entries(masses).map(
  ([name, { title, prepare, ask, count }]) => ({
    name: `mass-of-${name}`,
    title,
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
