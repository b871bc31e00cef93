import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { scheduler } from '../src/meta/index.ts';
import { type Answer, inTime, isSettled, settle, startWorld, turns, type World } from './support/in-process.ts';

// Gets and lists as the specification has them: "Resource version semantics", "Chunked lists", "Events" and "Errors".
const configMaps = '/api/v1/namespaces/default/configmaps';
const query = (parameters: { [name: string]: string | number }) =>
  `?${Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')}`;

let world: World;
afterEach(() => world.close());

const make = async (name: string, labels = {}, collection = configMaps) =>
  (await world.send('POST', collection, { metadata: { name, labels }, data: { n: name } })).body;
const change = async (name: string, text: string, collection = configMaps) =>
  (await world.send('PUT', `${collection}/${name}`, { metadata: { name }, data: { n: text } })).body;
const versionOf = (object: Answer['body']): string => object.metadata.resourceVersion;
const namesOf = ({ body }: Answer): string[] =>
  body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
const dataOf = ({ body }: Answer): string[] => body.items.map((item: { data: { n: string } }) => item.data.n);
const read = (parameters: { [name: string]: string | number } = {}, url = configMaps) =>
  world.send('GET', url + query(parameters));

/** Five objects; `old` is a version at which all of them were there as they were made. */
async function five(): Promise<string> {
  for (const name of ['a', 'b', 'c', 'd', 'e']) await make(name, { app: name < 'c' ? 'x' : 'y' });
  return versionOf((await read()).body);
}

/**
 * Five objects that the server knows of, at version `old`; then a sixth, at version `new`, that is stored and of which
 * the news has not come yet.
 */
async function behind(): Promise<{ old: string; new: string }> {
  world = await startWorld();
  const old = await five();
  world.store.hold();
  const { metadata } = await make('f');
  expect(Number(metadata.resourceVersion)).toBeGreaterThan(Number(old));
  return { old, new: metadata.resourceVersion };
}

describe('get: the table of resource versions', () => {
  const one = (parameters = {}) => read(parameters, `${configMaps}/f`);

  it('unset: most recent', async () => {
    await behind();
    const answer = one();
    expect(await isSettled(answer)).toBe(false);
    world.store.release();
    expect((await answer).body.data).toEqual({ n: 'f' });
  });

  it('0: any', async () => {
    await behind();
    // There was a version without it.
    expect(await one({ resourceVersion: 0 })).toMatchObject({ status: 404, body: { reason: 'NotFound' } });
    world.store.release();
    expect((await one({ resourceVersion: 0 })).status).toBe(200);
  });

  it('non-zero: not older than', async () => {
    const versions = await behind();
    expect((await one({ resourceVersion: versions.old })).status).toBe(404);
    const answer = one({ resourceVersion: versions.new });
    expect(await isSettled(answer)).toBe(false);
    world.store.release();
    expect((await answer).status).toBe(200);
    // Newer than asked for is right as well.
    await change('f', 'changed');
    expect((await one({ resourceVersion: versions.new })).body.data).toEqual({ n: 'changed' });
  });

  it('refuses what is not a version', async () => {
    world = await startWorld();
    await make('f');
    const { status, body } = await one({ resourceVersion: 'abc' });
    expect([status, body.message]).toEqual([
      500,
      'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ]);
  });
});

type Versions = Awaited<ReturnType<typeof behind>>;
const all = ['a', 'b', 'c', 'd', 'e', 'f'];
const present = (limit: number | undefined) => all.slice(0, limit ?? all.length);

/** The checks of each meaning of a version for a list with these parameters, limited or not. */
const meanings = {
  /** Waits for what is stored. */
  async mostRecent(parameters: { [name: string]: string | number }, limit: number | undefined, versions: Versions) {
    const answer = read(parameters);
    expect(await isSettled(answer)).toBe(false);
    world.store.release();
    expect(namesOf(await answer)).toEqual(present(limit));
    expect(Number(versionOf((await answer).body))).toBeGreaterThanOrEqual(Number(versions.new));
  },
  /** Is answered at once with what is there. */
  async any(parameters: { [name: string]: string | number }, limit: number | undefined, versions: Versions) {
    const answer = await read(parameters);
    expect(namesOf(answer)).toEqual(present(limit).filter((name) => name !== 'f'));
    expect(versionOf(answer.body)).toBe(versions.old);
  },
  /** Waits for that version only, and may show a later one. */
  async notOlderThan(parameters: { [name: string]: string | number }, limit: number | undefined, versions: Versions) {
    const before = await read({ ...parameters, resourceVersion: versions.old });
    expect([namesOf(before), versionOf(before.body)]).toEqual([
      present(limit).filter((name) => name !== 'f'),
      versions.old,
    ]);
    const after = read({ ...parameters, resourceVersion: versions.new });
    expect(await isSettled(after)).toBe(false);
    world.store.release();
    expect(namesOf(await after)).toEqual(present(limit));
    const later = await read({ ...parameters, resourceVersion: versions.old });
    expect([namesOf(later), versionOf(later.body)]).toEqual([present(limit), versions.new]);
  },
  /** Shows that version whatever came after it. */
  async exact(parameters: { [name: string]: string | number }, limit: number | undefined, versions: Versions) {
    world.store.release();
    await world.send('DELETE', `${configMaps}/a`);
    await change('b', 'changed');
    for (const version of [versions.old, versions.new]) {
      const answer = await read({ ...parameters, resourceVersion: version });
      const shown = present(limit).filter((name) => version === versions.new || name !== 'f');
      expect([namesOf(answer), dataOf(answer), versionOf(answer.body)]).toEqual([shown, shown, version]);
    }
    // Unavailable: the store has given that version up.
    await world.store.compact(await world.store.revision());
    world.clock.advance(200_000);
    expect(await read({ ...parameters, resourceVersion: versions.old })).toMatchObject({
      status: 410,
      body: { kind: 'Status', reason: 'Expired', code: 410 },
    });
  },
};

describe('list: the table of resource versions', () => {
  let versions: Versions;
  beforeEach(async () => {
    versions = await behind();
  });

  // resourceVersionMatch, limit, resourceVersion (undefined: unset; any: some version) and what it means.
  const cells: [string | undefined, number | undefined, string | undefined, keyof typeof meanings][] = [
    [undefined, undefined, undefined, 'mostRecent'],
    [undefined, undefined, '0', 'any'],
    [undefined, undefined, 'non-zero', 'notOlderThan'],
    [undefined, 2, undefined, 'mostRecent'],
    [undefined, 2, '0', 'any'],
    [undefined, 2, 'non-zero', 'exact'],
    ['Exact', undefined, 'non-zero', 'exact'],
    ['Exact', 2, 'non-zero', 'exact'],
    ['NotOlderThan', undefined, '0', 'any'],
    ['NotOlderThan', undefined, 'non-zero', 'notOlderThan'],
    ['NotOlderThan', 2, '0', 'any'],
    ['NotOlderThan', 2, 'non-zero', 'notOlderThan'],
  ];
  it.each(cells)('match %s, limit %s, version %s: %s', async (match, limit, version, meaning) => {
    await meanings[meaning](
      {
        ...(match === undefined ? {} : { resourceVersionMatch: match }),
        ...(limit === undefined ? {} : { limit }),
        ...(version === undefined ? {} : { resourceVersion: version }),
      },
      limit,
      versions,
    );
  });

  it.each([
    [undefined, '0'],
    [0, '0'],
    [undefined, ''],
  ])('limit with a token is a continuation, of version %s too', async (_, version) => {
    const first = await read({ limit: 2, resourceVersion: 0 });
    world.store.release();
    await world.send('DELETE', `${configMaps}/c`);
    const next = await read({ limit: 2, continue: first.body.metadata.continue, resourceVersion: version });
    expect([namesOf(next), versionOf(next.body)]).toEqual([['c', 'd'], versions.old]);
  });

  it('a token and a version together are refused', async () => {
    const first = await read({ limit: 2, resourceVersion: 0 });
    expect(
      await read({ limit: 2, continue: first.body.metadata.continue, resourceVersion: versions.old }),
    ).toMatchObject({
      status: 400,
      body: { reason: 'BadRequest', message: 'specifying resource version is not allowed when using continue' },
    });
  });
});

describe('list: combinations without a meaning', () => {
  beforeEach(async () => {
    world = await startWorld();
  });
  const unless = 'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided';
  const zero = 'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"';
  const continued = 'Forbidden: resourceVersionMatch is forbidden when continue is provided';
  const unknown = 'Unsupported value: "Bogus": supported values: "Exact", "NotOlderThan", ""';
  const refusals: [string, string[]][] = [
    ['resourceVersionMatch=Exact', [unless]],
    ['resourceVersionMatch=Exact&limit=2', [unless]],
    ['resourceVersionMatch=Exact&resourceVersion=0', [zero]],
    ['resourceVersionMatch=Exact&resourceVersion=0&limit=2', [zero]],
    ['resourceVersionMatch=NotOlderThan', [unless]],
    ['resourceVersionMatch=NotOlderThan&limit=2', [unless]],
    ['resourceVersionMatch=NotOlderThan&resourceVersion=', [unless]],
    ['resourceVersionMatch=Bogus&resourceVersion=1', [unknown]],
    ['resourceVersionMatch=Bogus', [unless, unknown]],
    ['resourceVersionMatch=Exact&resourceVersion=1&continue=x', [continued]],
    ['resourceVersionMatch=NotOlderThan&continue=x', [unless, continued]],
  ];
  it.each(refusals)('%s', async (parameters, messages) => {
    const { status, body } = await world.send('GET', `${configMaps}?${parameters}`);
    expect(status).toBe(422);
    const told = messages.map((message) => `resourceVersionMatch: ${message}`);
    expect(body).toMatchObject({
      reason: 'Invalid',
      details: {
        group: 'meta.k8s.io',
        kind: 'ListOptions',
        causes: messages.map((message) => ({ field: 'resourceVersionMatch', message })),
      },
      message: `ListOptions.meta.k8s.io "" is invalid: ${told.length === 1 ? told[0] : `[${told.join(', ')}]`}`,
    });
  });

  it.each(['abc', '-1', '1.5', ' 1', '18446744073709551616'])('resourceVersion=%s is not a version', async (text) => {
    const answer = await read({ resourceVersion: text });
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(`invalid resource version: resourceVersion: Invalid value: "${text}"`);
  });

  it('sendInitialEvents is for watches', async () => {
    const { status, body } = await read({ sendInitialEvents: 'true' });
    expect([status, body.details.causes]).toEqual([
      422,
      [
        {
          reason: 'FieldValueForbidden',
          field: 'sendInitialEvents',
          message: 'Forbidden: sendInitialEvents is forbidden for list',
        },
      ],
    ]);
  });
});

describe('a version from the future', () => {
  const requests: [string, (version: string) => string][] = [
    ['get', (version) => `${configMaps}/a?resourceVersion=${version}`],
    ['list', (version) => `${configMaps}?resourceVersion=${version}`],
    ['list with limit', (version) => `${configMaps}?limit=1&resourceVersion=${version}`],
    ['list Exact', (version) => `${configMaps}?resourceVersionMatch=Exact&resourceVersion=${version}`],
    ['list NotOlderThan', (version) => `${configMaps}?resourceVersionMatch=NotOlderThan&resourceVersion=${version}`],
  ];
  it.each(requests)('%s: waits a while, then 504 with the time to come back', async (_, url) => {
    world = await startWorld();
    await five();
    const answer = world.send('GET', url('1000000'));
    expect(await isSettled(answer)).toBe(false);
    world.clock.advance(1_000);
    expect(await isSettled(answer)).toBe(false);
    world.clock.advance(4_000);
    const { status, headers, body } = await answer;
    expect([status, headers['retry-after']]).toEqual([504, '1']);
    expect(body).toMatchObject({
      reason: 'Timeout',
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    });
    expect(body.message).toMatch(/^Timeout: Too large resource version: 1000000, current: \d+$/);
  });

  it.each(requests)('%s: is answered when that version comes in time', async (_, url) => {
    world = await startWorld();
    const next = String(Number(await five()) + 1);
    const answer = world.send('GET', url(next));
    expect(await isSettled(answer)).toBe(false);
    world.clock.advance(1_000);
    await change('a', 'changed');
    expect((await answer).status).toBe(200);
  });
});

describe('chunks: rules 1 and 3, pieces and how many follow', () => {
  beforeEach(async () => {
    world = await startWorld();
    await five();
    await make('a', { app: 'x' }, '/api/v1/namespaces/kube-system/configmaps');
  });

  it('at most `limit` items, and a token while more exist', async () => {
    let token = '';
    const seen: unknown[] = [];
    do {
      const { body } = await read({ limit: 2, ...(token === '' ? {} : { continue: token }) });
      token = body.metadata.continue ?? '';
      seen.push([body.items.map((item: never) => item['metadata']['name']), body.metadata.remainingItemCount]);
    } while (token !== '');
    expect(seen).toEqual([
      [['a', 'b'], 3],
      [['c', 'd'], 1],
      [['e'], undefined],
    ]);
  });

  it.each([
    ['exactly as many as there are', { limit: 5 }],
    ['more than there are', { limit: 6 }],
    ['none at all', {}],
    ['zero', { limit: 0 }],
    ['below zero', { limit: -1 }],
  ])('a limit that cuts nothing off: %s', async (_, parameters) => {
    const answer = await read(parameters as { [name: string]: number });
    expect(namesOf(answer)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(Object.keys(answer.body.metadata)).toEqual(['resourceVersion']);
  });

  it('a limit that is not a number is refused', async () => {
    const { status, body } = await read({ limit: 'abc' });
    expect([status, body.message]).toEqual([400, 'strconv.ParseInt: parsing "abc": invalid syntax']);
  });

  it.each([
    { labelSelector: 'app' },
    { fieldSelector: 'metadata.name!=b' },
    { labelSelector: 'app', fieldSelector: '' },
  ])('selectors make remainingItemCount absent: %j', async (selectors) => {
    const { metadata, items } = (await read({ limit: 1, ...selectors })).body;
    expect([items.length, typeof metadata.continue, 'remainingItemCount' in metadata]).toEqual([1, 'string', false]);
    const next = (await read({ limit: 1, ...selectors, continue: metadata.continue })).body;
    expect([next.items.length, 'remainingItemCount' in next.metadata]).toEqual([1, false]);
  });

  it('an empty selector is none', async () => {
    expect((await read({ limit: 2, labelSelector: '' })).body.metadata.remainingItemCount).toBe(3);
  });

  it('the remainder comes whole without a limit', async () => {
    const first = await read({ limit: 2 });
    const rest = await read({ continue: first.body.metadata.continue });
    expect([namesOf(rest), Object.keys(rest.body.metadata)]).toEqual([['c', 'd', 'e'], ['resourceVersion']]);
  });

  it('across namespaces, where names repeat', async () => {
    const first = await read({ limit: 5 }, '/api/v1/configmaps');
    expect(first.body.metadata.remainingItemCount).toBe(1);
    const next = await read({ limit: 5, continue: first.body.metadata.continue }, '/api/v1/configmaps');
    expect(next.body.items[0].metadata).toMatchObject({ name: 'a', namespace: 'kube-system' });
  });

  it('as tables and as metadata', async () => {
    const accept = (as: string) => ({ accept: `application/json;as=${as};g=meta.k8s.io;v=v1` });
    const table = (await world.send('GET', `${configMaps}?limit=2`, undefined, accept('Table'))).body;
    expect([table.kind, table.rows.length, table.metadata.remainingItemCount]).toEqual(['Table', 2, 3]);
    const next = `${configMaps}?limit=2&continue=${encodeURIComponent(table.metadata.continue)}`;
    const metadata = (await world.send('GET', next, undefined, accept('PartialObjectMetadataList'))).body;
    expect([metadata.kind, metadata.items[0].metadata.name]).toEqual(['PartialObjectMetadataList', 'c']);
  });
});

describe('chunks: rule 2, all show one consistent snapshot', () => {
  const count = 60;
  const name = (i: number) => `n${String(i).padStart(3, '0')}`;
  const ways: [string, number, { [name: string]: string }][] = [
    ['from a snapshot', 0, {}],
    ['from the store, when the client takes its time', 30_000, {}],
    ['with a selector', 0, { labelSelector: 'odd=true' }],
    ['with a selector, slowly', 30_000, { labelSelector: 'odd=true' }],
    ['Exact, of an older version', 20_000, { resourceVersionMatch: 'Exact' }],
  ];
  it.each(ways)('%s', async (_, pauseMs, parameters) => {
    world = await startWorld();
    for (let i = 0; i < count; i++) await make(name(i), { odd: String(i % 2 === 1) });
    const selected = parameters['labelSelector'] === undefined ? {} : { labelSelector: parameters['labelSelector'] };
    const whole = (await read(selected)).body;
    const version = versionOf(whole);
    if (parameters['resourceVersionMatch'] !== undefined) await change(name(0), 'changed');
    const start = parameters['resourceVersionMatch'] === undefined ? {} : { resourceVersion: version };
    const items: unknown[] = [];
    let { metadata, items: piece } = (await read({ limit: 7, ...parameters, ...start })).body;
    for (let i = 0; ; i++) {
      items.push(...piece);
      expect(metadata.resourceVersion).toBe(version);
      const remaining = 'labelSelector' in parameters ? undefined : count - items.length;
      expect(metadata.remainingItemCount).toBe(remaining === 0 ? undefined : remaining);
      if (metadata.continue === undefined) break;
      // Others make, change, relabel and delete objects before and behind the place where the list stands.
      await make(`${name(7 * i)}-new`, { odd: 'true' });
      await world.send('DELETE', `${configMaps}/${name(count - 1 - i)}`);
      await change(name(7 * i + 8), 'changed');
      await change(name(7 * i + 3), 'changed');
      world.clock.advance(pauseMs);
      ({ metadata, items: piece } = (await read({ ...selected, limit: 7, continue: metadata.continue })).body);
    }
    expect(items).toEqual(whole.items);
  });
});

describe('chunks: rule 4, tokens', () => {
  beforeEach(async () => {
    world = await startWorld();
    await five();
  });
  const token = async (parameters = {}, url = configMaps): Promise<string> =>
    (await read({ limit: 2, ...parameters }, url)).body.metadata.continue;

  it('hold for nearly five minutes, whatever is written meanwhile', async () => {
    const first = await token();
    for (let i = 0; i < 29; i++) {
      world.clock.advance(10_000);
      await change('c', String(i));
    }
    const next = await read({ limit: 2, continue: first });
    expect([next.status, dataOf(next)]).toEqual([200, ['c', 'd']]);
  });

  it('expire with a 410 that carries one for an inconsistent remainder', async () => {
    const first = await read({ limit: 2 });
    await make('bb');
    await world.send('DELETE', `${configMaps}/d`);
    for (let i = 0; i < 12; i++) {
      world.clock.advance(30_000);
      await change('c', String(i));
    }
    const expired = await read({ limit: 2, continue: first.body.metadata.continue });
    expect([expired.status, expired.body.reason]).toEqual([410, 'Expired']);
    expect(expired.body.message).toMatch(
      /^The provided continue parameter is too old to display a consistent list result\. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results\./,
    );
    const remainder = await read({ limit: 2, continue: expired.body.metadata.continue });
    expect([remainder.status, namesOf(remainder)]).toEqual([200, ['bb', 'c']]);
    const now = versionOf(remainder.body);
    expect(Number(now)).toBeGreaterThan(Number(versionOf(first.body)));
    // From there on it is one state again.
    await world.send('DELETE', `${configMaps}/e`);
    const last = await read({ limit: 2, continue: remainder.body.metadata.continue });
    expect([namesOf(last), versionOf(last.body), last.body.metadata.continue]).toEqual([['e'], now, undefined]);
  });

  it('a restarted list, or one without a limit, is complete', async () => {
    await token();
    for (let i = 0; i < 12; i++) {
      world.clock.advance(30_000);
      await change('c', String(i));
    }
    expect(namesOf(await read())).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(namesOf(await read({ limit: 2 }))).toEqual(['a', 'b']);
  });

  it('are good for the request that they come from and no other', async () => {
    await make('other', { app: 'x' }, '/api/v1/namespaces/kube-system/configmaps');
    const plain = await token();
    const elsewhere: [{ [name: string]: string }, string][] = [
      [{}, '/api/v1/namespaces/default/secrets'],
      [{}, '/api/v1/namespaces/kube-system/configmaps'],
      [{}, '/api/v1/configmaps'],
      [{}, '/api/v1/namespaces'],
      [{ labelSelector: 'app=x' }, configMaps],
      [{ fieldSelector: 'metadata.name!=a' }, configMaps],
    ];
    for (const [parameters, url] of elsewhere) {
      const { status, body } = await read({ ...parameters, limit: 2, continue: plain }, url);
      expect([status, body.reason, body.message.split(':')[0]]).toEqual([400, 'BadRequest', 'invalid continue token']);
    }
    const selecting = await token({ labelSelector: 'app=y' });
    for (const parameters of [{}, { labelSelector: 'app=x' }, { fieldSelector: 'app=y' }]) {
      expect((await read({ ...parameters, limit: 2, continue: selecting })).status).toBe(400);
    }
    // The page size is not part of what is listed.
    expect(namesOf(await read({ limit: 1, continue: plain }))).toEqual(['c']);
    expect(namesOf(await read({ limit: 1, labelSelector: 'app=y', continue: selecting }))).toEqual(['e']);
  });

  it('are refused when a single bit of them was changed, cut off or added', async () => {
    const bytes = Buffer.from(await token(), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
      const { status, body } = await read({ limit: 2, continue: changed.toString('base64url') });
      expect([status === 400 || status === 410, body.kind, body.metadata]).toEqual([true, 'Status', {}]);
    }
    for (let length = 1; length < bytes.length; length++) {
      const { status } = await read({ limit: 2, continue: bytes.subarray(0, length).toString('base64url') });
      expect(status).toBe(400);
    }
    const longer = Buffer.concat([bytes, Buffer.from(' ')]).toString('base64url');
    expect((await read({ limit: 2, continue: longer })).status).toBe(400);
  });

  it.each([
    'garbage',
    '!',
    'a',
    '__proto__',
    'AAAA',
    '%',
    'null',
    'x'.repeat(100),
    btoa('{"rv":1,"start":"a\\u0000"}'),
  ])('%s is none', async (text) => {
    const { status, body } = await read({ limit: 2, continue: text });
    expect([status, body.reason]).toEqual([400, 'BadRequest']);
    expect(body.message).toMatch(/^invalid continue token: continue key is not valid/);
  });

  it('of another server, which signs with another key, are not taken', async () => {
    const mine = await token();
    const other = await startWorld({}, 2);
    await other.send('POST', configMaps, { metadata: { name: 'a' } });
    const { status } = await other.send('GET', `${configMaps}?limit=1&continue=${encodeURIComponent(mine)}`);
    expect([400, 410]).toContain(status);
    await other.close();
  });
});

describe('Exact: where an old version comes from', () => {
  it('is the store while it keeps that version, five minutes, then 410', async () => {
    world = await startWorld();
    const old = await five();
    await change('a', 'changed');
    const exact = () => read({ resourceVersion: old, resourceVersionMatch: 'Exact' });
    for (let i = 0; i < 29; i++) {
      world.clock.advance(10_000);
      await change('b', String(i));
      expect(dataOf(await exact())).toEqual(['a', 'b', 'c', 'd', 'e']);
    }
    world.clock.advance(60_000);
    expect(await exact()).toMatchObject({
      status: 410,
      body: { reason: 'Expired', message: 'The resourceVersion for the provided list is too old.' },
    });
  });

  it('is a snapshot of the cache for 75 seconds after a piece of that state was listed', async () => {
    world = await startWorld({ featureGates: { ListFromCacheSnapshot: true } });
    await five();
    const first = await read({ limit: 2 });
    await change('c', 'changed');
    await world.store.compact(await world.store.revision());
    world.clock.advance(74_000);
    const parameters = { limit: 3, resourceVersion: versionOf(first.body) };
    expect(dataOf(await read(parameters))).toEqual(['a', 'b', 'c']);
    expect(dataOf(await read({ limit: 2, continue: first.body.metadata.continue }))).toEqual(['c', 'd']);
    world.clock.advance(200_000);
    expect((await read(parameters)).status).toBe(410);
  });

  it('is the store alone without ListFromCacheSnapshot', async () => {
    world = await startWorld();
    await five();
    const first = await read({ limit: 2 });
    await change('c', 'changed');
    const parameters = { limit: 3, resourceVersion: versionOf(first.body) };
    expect(dataOf(await read(parameters))).toEqual(['a', 'b', 'c']);
    const next = await read({ limit: 2, continue: first.body.metadata.continue });
    expect([dataOf(next), next.body.metadata.remainingItemCount]).toEqual([['c', 'd'], 1]);
    await world.store.compact(await world.store.revision());
    expect((await read(parameters)).status).toBe(410);
    expect((await read({ limit: 2, continue: first.body.metadata.continue })).status).toBe(410);
  });

  it('lets others run while a long list is read from the store', async () => {
    world = await startWorld();
    const count = 1_700;
    for (let i = 0; i < count; i++) await make(`n${i}`);
    const old = versionOf((await read({ limit: 1 })).body);
    await change('n0', 'changed');
    world.clock.advance(160_000);
    // Every step waits for its turn, however fast it is.
    vi.spyOn(scheduler, 'over', 'get').mockReturnValue(true);
    const waits = vi.spyOn(scheduler, 'wait');
    let over = false;
    const parameters = { resourceVersion: old, resourceVersionMatch: 'Exact' };
    const answer = world.client.request({ method: 'GET', url: configMaps + query(parameters), headers: {} });
    void answer.then(() => {
      over = true;
    });
    while (!over) await turns(1);
    expect(waits.mock.calls.length).toBeGreaterThan(3);
    // It is under way until its last byte was taken.
    let text = '';
    for await (const piece of (await answer).body) text += Buffer.from(piece).toString();
    expect(JSON.parse(text).items).toHaveLength(count);
  });

  it('reaches back over other resources: versions are those of the whole store', async () => {
    world = await startWorld();
    const old = await five();
    const { metadata } = (await world.send('POST', '/api/v1/namespaces/default/secrets', { metadata: { name: 's' } }))
      .body;
    expect(Number(metadata.resourceVersion)).toBeGreaterThan(Number(old));
    const answer = await read({ resourceVersion: metadata.resourceVersion, resourceVersionMatch: 'Exact' });
    expect([versionOf(answer.body), namesOf(answer)]).toEqual([metadata.resourceVersion, ['a', 'b', 'c', 'd', 'e']]);
  });
});

describe('a server that starts over a store with a history', () => {
  it('shows old versions, and new ones at once', async () => {
    world = await startWorld();
    const old = await five();
    await change('a', 'changed');
    const shared = { ...world.store, close: async () => {} };
    const second = await startWorld({}, 2, shared);
    const list = (parameters: string) => second.send('GET', `${configMaps}?${parameters}`);
    expect(dataOf(await inTime(second, list('')))).toEqual(['changed', 'b', 'c', 'd', 'e']);
    expect(dataOf(await inTime(second, list(`resourceVersion=${old}&resourceVersionMatch=Exact`)))).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e',
    ]);
    // Both servers know what one has answered.
    await change('b', 'changed too');
    expect(dataOf(await inTime(second, list(''))).slice(0, 2)).toEqual(['changed', 'changed too']);
    await second.close();
    await settle();
  });
});
