import { describe, expect, it } from 'vitest';
import type { ApiObject, JsonObject } from '../../meta/index.ts';
import { delivered } from '../../store/testing/late-store.ts';
import { bench, failure, names as kubernetes, merge, note, remove } from '../testing/fixtures.ts';
import { gadgets } from '../testing/gadgets.ts';

/** Five objects as the recorded exchanges have them: `a`, `b` are labelled x, the rest y. */
async function five() {
  const made = bench();
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    await made.create(
      'configmaps',
      note(name, { n: name }, { labels: { app: name < 'c' ? 'x' : 'y', [`only-${name}`]: '' } }),
    );
  }
  return made;
}
const metadata = (list: JsonObject) => list['metadata'] as JsonObject;
const continueOf = ({ list }: { list: JsonObject }) => metadata(list)['continue'] as string;

const noToken = 'invalid continue token: continue key is not valid';

describe('get', () => {
  it('returns the object as written, with its resourceVersion', async () => {
    const { create, read } = bench();
    const created = await create('configmaps', note('one', { b: '2', a: 'ä "quoted"' }));
    expect(await read('configmaps', 'one')).toEqual(created);
    expect(created['data']).toEqual({ a: 'ä "quoted"', b: '2' });
  });

  it('fails with 404 for an absent object', async () => {
    const { read } = bench();
    expect(await failure(read('configmaps', 'absent'))).toMatchObject({
      code: 404,
      reason: 'NotFound',
      message: 'configmaps "absent" not found',
      details: { name: 'absent', kind: 'configmaps' },
    });
  });

  it('returns any version for 0, and waits for a future one', async () => {
    const { create, read, registry, target } = bench();
    const { metadata: meta } = await create('configmaps', note('one'));
    await delivered();
    expect((await read('configmaps', 'one', { resourceVersion: '0' })).metadata.name).toBe('one');
    const next = String(Number(meta.resourceVersion) + 1);
    const later = read('configmaps', 'one', { resourceVersion: next });
    await create('configmaps', note('two'));
    expect((await later).metadata).toEqual(meta);
    expect(
      await failure(registry.get(target('configmaps', { name: 'one' }), { resourceVersion: 'abc' })),
    ).toMatchObject({
      code: 500,
      reason: '',
      message: 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    });
  });

  it('fails with 504 for a future version that is not reached', async () => {
    const { create, read, clock } = bench();
    await create('configmaps', note('one'));
    await read('configmaps', 'one');
    const refused = failure(read('configmaps', 'one', { resourceVersion: '1000000' }));
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(3_000);
    expect(await refused).toMatchObject({
      code: 504,
      reason: 'Timeout',
      message: 'Timeout: Too large resource version: 1000000, current: 2',
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    });
  });

  it('fails with 503 where it has to wait for a version that a closed registry no longer follows', async () => {
    const { create, read, registry } = bench();
    await create('configmaps', note('one'));
    await read('configmaps', 'one');
    const waiting = failure(read('configmaps', 'one', { resourceVersion: '1000000' }));
    await new Promise((resolve) => setImmediate(resolve));
    registry.close();
    await create('configmaps', note('two'));
    const closing = { code: 503, reason: 'ServiceUnavailable', message: 'the server is shutting down' };
    expect(await waiting).toMatchObject(closing);
    expect(await failure(read('configmaps', 'two'))).toMatchObject(closing);
  });
});

describe('list', () => {
  it('is in key order, its items without a kind', async () => {
    const { names, create } = await five();
    await create('configmaps', note('bb'));
    const { names: found, list } = await names('configmaps');
    expect(found).toEqual(['a', 'b', 'bb', 'c', 'd', 'e']);
    expect(list).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '7' } });
    const [first] = list['items'] as JsonObject[];
    expect(Object.keys(first ?? {})).toEqual(['metadata', 'data']);
  });

  it('spans all namespaces, or one', async () => {
    const { write, names } = await five();
    const elsewhere = { value: note('z'), findings: [] };
    await write('configmaps', { namespace: 'other' }, { verb: 'create', object: elsewhere });
    expect((await names('configmaps', {}, { namespace: '' })).names).toEqual(['a', 'b', 'c', 'd', 'e', 'z']);
    expect((await names('configmaps', {}, { namespace: 'other' })).names).toEqual(['z']);
    // A namespace is not matched as a prefix of another one.
    expect((await names('configmaps', {}, { namespace: 'n' })).names).toEqual([]);
  });

  const selections: [string, string[]][] = [
    ['app=x', ['a', 'b']],
    ['app!=x', ['c', 'd', 'e']],
    ['app in (x,y),only-a', ['a']],
    ['!only-a', ['b', 'c', 'd', 'e']],
    ['app notin (x)', ['c', 'd', 'e']],
    ['missing', []],
  ];
  it.each(selections)('labelSelector %s', async (labelSelector, expected) => {
    const { names } = await five();
    expect((await names('configmaps', { labelSelector })).names).toEqual(expected);
  });

  const fields: [string, string[]][] = [
    ['metadata.name=a', ['a']],
    ['metadata.name!=a', ['b', 'c', 'd', 'e']],
    ['metadata.namespace=ns', ['a', 'b', 'c', 'd', 'e']],
    ['metadata.namespace=other', []],
    ['metadata.name=a,metadata.name=b', []],
    ['metadata.name=a,metadata.namespace=ns', ['a']],
    ['metadata.name=a,metadata.namespace=other', []],
    ['metadata.name=a,metadata.namespace!=ns', []],
    ['metadata.name=', []],
    ['metadata.namespace=', []],
  ];
  it.each(fields)('fieldSelector %s', async (fieldSelector, expected) => {
    const { names } = await five();
    expect((await names('configmaps', { fieldSelector })).names).toEqual(expected);
    expect((await names('configmaps', { fieldSelector }, { namespace: '' })).names).toEqual(expected);
  });

  it('selects a name in all namespaces', async () => {
    const { write, names } = await five();
    const elsewhere = { value: note('a'), findings: [] };
    await write('configmaps', { namespace: 'other' }, { verb: 'create', object: elsewhere });
    const namespacesOf = async (fieldSelector: string) => {
      const { list } = await names('configmaps', { fieldSelector }, { namespace: '' });
      return (list['items'] as ApiObject[]).map(({ metadata }) => metadata.namespace);
    };
    expect(await namespacesOf('metadata.name=a')).toEqual(['ns', 'other']);
    expect(await namespacesOf('metadata.name=a,metadata.namespace=other')).toEqual(['other']);
  });

  it('selects by the selectable fields of the kind', async () => {
    const { create, write, names } = bench();
    for (const [name, node] of [
      ['p', 'n1'],
      ['q', 'n2'],
      ['r', ''],
    ]) {
      await create('deployments', { metadata: { name: name as string }, spec: { node: node as string } });
    }
    expect((await names('deployments', { fieldSelector: 'spec.node=n1' })).names).toEqual(['p']);
    expect((await names('deployments', { fieldSelector: 'spec.node=' })).names).toEqual(['r']);
    await write('deployments', { name: 'q', subresource: 'status' }, merge({ status: { phase: 'Up' } }));
    expect((await names('deployments', { fieldSelector: 'status.phase=Up,spec.node!=n1' })).names).toEqual(['q']);
  });

  const rejections: [string, JsonObject, number, string][] = [
    ['end that is not a number', { timeoutSeconds: 'soon' }, 400, 'strconv.ParseInt: parsing "soon": invalid syntax'],
    ['limit that is not a number', { limit: 'abc' }, 400, 'strconv.ParseInt: parsing "abc": invalid syntax'],
    ['limit without a value', { limit: '' }, 400, 'strconv.ParseInt: parsing "": invalid syntax'],
    [
      'limit of more than 64 bits',
      { limit: '99999999999999999999' },
      400,
      'strconv.ParseInt: parsing "99999999999999999999": value out of range',
    ],
    [
      'limit of one more than 64 bits',
      { limit: '9223372036854775808' },
      400,
      'strconv.ParseInt: parsing "9223372036854775808": value out of range',
    ],
    ['limit with two signs', { limit: '+-1' }, 400, 'strconv.ParseInt: parsing "+-1": invalid syntax'],
    ['time that is not a number', { timeoutSeconds: 'x' }, 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
    [
      'version of more than 64 bits',
      { resourceVersion: '99999999999999999999' },
      400,
      'invalid resource version: resourceVersion: Invalid value: "99999999999999999999": strconv.ParseUint: parsing "99999999999999999999": value out of range',
    ],
    [
      'version that is not a number',
      { resourceVersion: 'abc' },
      400,
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ],
    [
      'negative version',
      { resourceVersion: '-1' },
      400,
      'invalid resource version: resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax',
    ],
    [
      'match without a version',
      { resourceVersionMatch: 'Exact' },
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
    [
      'exactly any',
      { resourceVersion: '0', resourceVersionMatch: 'Exact' },
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    ],
    [
      'unknown match',
      { resourceVersion: '1', resourceVersionMatch: 'Bogus' },
      422,
      'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Bogus": supported values: "Exact", "NotOlderThan", ""',
    ],
    [
      'token that is not JSON',
      { continue: 'garbage' },
      400,
      `${noToken}: invalid character '\\u0081' looking for beginning of value`,
    ],
    ['token that is not base64', { continue: 'abc=' }, 400, `${noToken}: illegal base64 data at input byte 3`],
    ['token that breaks off', { continue: 'abcde' }, 400, `${noToken}: illegal base64 data at input byte 4`],
    ['token that says nothing', { continue: Buffer.from('[]').toString('base64url') }, 400, noToken],
    [
      'unknown field',
      { fieldSelector: 'data.n=a' },
      400,
      '"data.n" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    [
      'field without a value',
      { fieldSelector: 'metadata.name' },
      400,
      "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
    ],
    [
      'label selector without an operator',
      { labelSelector: 'a b' },
      400,
      "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
    ],
  ];
  it.each(rejections)('rejects a %s', async (_, options, code, message) => {
    const { names } = await five();
    expect(await failure(names('configmaps', options as never))).toMatchObject({ code, message });
  });

  it.each([
    ['deployments', 'spec.x'],
    ['namespaces', 'metadata.namespace'],
    ['gadgets', 'spec.size'],
  ])('refuses a field that is not selectable of %s: %s', async (resource, field) => {
    const { names, registry } = bench();
    registry.install(gadgets());
    expect(await failure(names(resource, { fieldSelector: `${field}=1` }))).toMatchObject({
      code: 400,
      message: `field label not supported: ${field}`,
    });
  });
});

describe('a list in pages', () => {
  it('shows one state on all pages', async () => {
    const { create, write, names } = await five();
    const one = await names('configmaps', { limit: '2' });
    expect(one.names).toEqual(['a', 'b']);
    expect(metadata(one.list)).toMatchObject({ remainingItemCount: 3, resourceVersion: '6' });
    await create('configmaps', note('bb'));
    await write('configmaps', { name: 'd' }, remove());
    const two = await names('configmaps', { limit: '2', continue: metadata(one.list)['continue'] as string });
    expect(two.names).toEqual(['c', 'd']);
    expect(metadata(two.list)).toMatchObject({ remainingItemCount: 1, resourceVersion: '6' });
    const three = await names('configmaps', { limit: '2', continue: metadata(two.list)['continue'] as string });
    expect(three.names).toEqual(['e']);
    expect(metadata(three.list)).toEqual({ resourceVersion: '6' });
  });

  it('continues from the store once the snapshot is dropped, and fails with 410 once it is compacted', async () => {
    const { create, write, names, clock, store } = await five();
    const one = await names('configmaps', { limit: '2' });
    const token = metadata(one.list)['continue'] as string;
    await create('configmaps', note('bb'));
    await write('configmaps', { name: 'd' }, remove());
    clock.advance(200_000);
    const two = await names('configmaps', { limit: '2', continue: token });
    expect(two.names).toEqual(['c', 'd']);
    expect(metadata(two.list)).toMatchObject({ remainingItemCount: 1, resourceVersion: '6' });
    expect((await names('configmaps', { continue: metadata(two.list)['continue'] as string })).names).toEqual(['e']);

    await store.compact(await store.revision());
    await delivered();
    const expired = (await failure(names('configmaps', { limit: '2', continue: token }))) as {
      metadata: { continue: string };
    };
    expect(expired).toMatchObject({ code: 410, reason: 'Expired' });
    const rest = await names('configmaps', { continue: expired.metadata.continue });
    expect(rest.names).toEqual(['bb', 'c', 'e']);
  });

  it('reads one entry more than the page from the store', async () => {
    const made = bench();
    const list = made.store.list.bind(made.store);
    let entries = 0;
    made.store.list = async (range) => {
      const found = await list(range);
      entries += found.entries.length;
      return found;
    };
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) await made.create('configmaps', note(name));
    const first = await made.registry.list(made.target('configmaps'), { limit: '2' });
    await made.create('configmaps', note('i'));
    await delivered();
    entries = 0;
    const next = await made.registry.list(made.target('configmaps'), { limit: '2', continue: first.continue() });
    expect([[...next.items].map(({ name }) => name), next.remaining()]).toEqual([['c', 'd'], 4]);
    expect(entries).toBe(3);
  });

  it('counts the remaining items only without selectors', async () => {
    const { names } = await five();
    const some = await names('configmaps', { limit: '1', labelSelector: 'app=y' });
    expect(some.names).toEqual(['c']);
    expect(Object.keys(metadata(some.list)).sort()).toEqual(['continue', 'resourceVersion']);
    const all = await names('configmaps', { limit: '2', labelSelector: 'app=x' });
    expect(all.names).toEqual(['a', 'b']);
    expect(metadata(all.list)).toEqual({ resourceVersion: '6' });
  });

  it('has one page when the limit is zero, negative or not reached', async () => {
    const { names } = await five();
    expect((await names('configmaps', { limit: '-1' })).names).toHaveLength(5);
    expect(metadata((await names('configmaps', { limit: '5' })).list)).toEqual({ resourceVersion: '6' });
  });

  it('cannot be continued consistently five minutes after it began, even if nothing has changed', async () => {
    const { names, clock } = await five();
    const page = (token: string) => names('configmaps', { limit: '1', continue: token });
    const first = continueOf(await names('configmaps', { limit: '1' }));
    clock.advance(299_000);
    const second = continueOf(await page(first));
    expect((await page(second)).names).toEqual(['c']);
    clock.advance(1_000);
    const expired = (await failure(page(second))) as { metadata: { continue: string } };
    expect(expired).toMatchObject({
      code: 410,
      reason: 'Expired',
      message:
        'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    });
    expect(await failure(page(first))).toMatchObject({ code: 410 });
    // The token of the error does not expire; the list that it starts does.
    clock.advance(3_600_000);
    const rest = await page(expired.metadata.continue);
    expect(rest.names).toEqual(['c']);
    clock.advance(299_000);
    expect((await page(continueOf(rest))).names).toEqual(['d']);
    clock.advance(1_000);
    expect(await failure(page(continueOf(rest)))).toMatchObject({ code: 410 });
  });

  it('can be continued for as long as history is kept', async () => {
    for (const [historyMs, status] of [
      [10_000, 410],
      [0, 200],
    ] as const) {
      const { create, names, clock } = bench({ historyMs });
      for (const name of ['a', 'b']) await create('configmaps', note(name));
      const token = continueOf(await names('configmaps', { limit: '1' }));
      clock.advance(historyMs === 0 ? 86_400_000 : historyMs - 1);
      expect((await names('configmaps', { continue: token })).names).toEqual(['b']);
      clock.advance(1);
      const next = names('configmaps', { continue: token }).then(
        () => 200,
        (error: { code: number }) => error.code,
      );
      expect(await next).toBe(status);
    }
  });

  it('is continued by any server of the store with the same key', async () => {
    const { create, names, store } = bench({ tokenKey: 'shared' });
    for (const name of ['a', 'b', 'c']) await create('configmaps', note(name));
    const token = continueOf(await names('configmaps', { limit: '1' }));
    const other = bench({ tokenKey: 'shared', store });
    expect((await other.names('configmaps', { continue: token })).names).toEqual(['b', 'c']);
  });

  it('takes a token only for the request that it was made for', async () => {
    const { names } = await five();
    const token = metadata((await names('configmaps', { limit: '2' })).list)['continue'] as string;
    const spelled = JSON.parse(Buffer.from(token, 'base64url').toString()) as { start: string };
    const tampered = Buffer.from(JSON.stringify({ ...spelled, start: `${spelled.start}a` })).toString('base64url');
    const invalid = { code: 400, message: noToken };
    expect(await failure(names('configmaps', { continue: token }, { namespace: 'other' }))).toMatchObject(invalid);
    expect(await failure(names('configmaps', { continue: token, labelSelector: 'a' }))).toMatchObject(invalid);
    expect(await failure(names('deployments', { continue: token }))).toMatchObject(invalid);
    expect(await failure(names('configmaps', { continue: tampered }))).toMatchObject(invalid);
    // A restarted server has another key: the client has to list again.
    expect(await failure(bench({ tokenKey: 'another' }).names('configmaps', { continue: token }))).toMatchObject({
      code: 410,
      reason: 'Expired',
    });
    expect(await failure(names('configmaps', { continue: token, resourceVersion: '5' }))).toMatchObject({
      code: 400,
      message: 'specifying resource version is not allowed when using continue',
    });
    expect(await failure(names('configmaps', { continue: '!', resourceVersion: '5' }))).toMatchObject({
      message: 'invalid continue token: continue key is not valid: illegal base64 data at input byte 0',
    });
    expect((await names('configmaps', { continue: token, resourceVersion: '0' })).names).toEqual(['c', 'd', 'e']);
  });
});

describe('a list at a resourceVersion', () => {
  it('is exactly that state with match Exact', async () => {
    const { write, names } = await five();
    await write('configmaps', { name: 'a' }, remove());
    const exact = await names('configmaps', { resourceVersion: '6', resourceVersionMatch: 'Exact' });
    expect(exact.names).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(metadata(exact.list)).toEqual({ resourceVersion: '6' });
    const paged = await names('configmaps', { resourceVersion: '6', limit: '2' });
    expect([paged.names, metadata(paged.list)['remainingItemCount']]).toEqual([['a', 'b'], 3]);
    const selected = { resourceVersion: '6', resourceVersionMatch: 'Exact', fieldSelector: 'metadata.name=a' };
    expect((await names('configmaps', selected)).names).toEqual(['a']);
    await delivered();
    const newer = await names('configmaps', { resourceVersion: '6', resourceVersionMatch: 'NotOlderThan', limit: '2' });
    expect(newer.names).toEqual(['b', 'c']);
  });

  it('fails with 410 once the store has compacted it', async () => {
    const { names, store } = await five();
    await store.compact(6);
    await delivered();
    const refused = await failure(names('configmaps', { resourceVersion: '3', resourceVersionMatch: 'Exact' }));
    expect(refused).toMatchObject({
      code: 410,
      reason: 'Expired',
      message: 'The resourceVersion for the provided list is too old.',
    });
  });
});

describe('names', () => {
  it('group placeholders are expanded once', () => {
    const { registry } = bench();
    expect(registry.find(`authorization.${kubernetes.domain}`, 'v1', 'reviews')?.definition.kind).toBe('Review');
    expect(registry.find('apps', 'v1', 'deployments')?.keyPrefix).toBe('/deployments/');
    expect(registry.find('', 'v1', 'configmaps')?.keyPrefix).toBe('/configmaps/');
    expect(registry.find('', 'v2', 'configmaps')).toBeUndefined();
  });
});
