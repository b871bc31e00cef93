import { describe, expect, it } from 'vitest';
import { type AdmissionPlugin, type NamespaceLookup, namespaceLifecycle } from '../admission/index.ts';
import type { StatusError } from '../meta/index.ts';
import { openMemoryStore, type Store, StoreError, type StoreErrorCode } from '../store/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import { heldStore } from '../store/testing/held-store.ts';
import { storeWith } from '../store/testing/store-with.ts';
import { deleteOptionsOf, readWriteOptions } from './index.ts';
import { type Bench, bench, failure, merge, names, note, remove, update } from './testing/fixtures.ts';

describe('a store that another server writes to', () => {
  /** Two servers of one store; the watches of the first can be held back. */
  function pair() {
    const store = heldStore(openMemoryStore({ clock: drivenClock() }));
    return { store, here: bench({ store }), there: bench({ store: store.under }) };
  }

  it('fails no write because of a stale cache', async () => {
    const { store, here, there } = pair();
    const made = await here.create('configmaps', note('one'));
    await here.read('configmaps', 'one');
    store.hold();
    const changed = await there.change('configmaps', 'one', merge({ data: { a: '2' } }));
    await there.create('configmaps', note('new'));
    expect((await here.change('configmaps', 'one', update({ ...changed, data: { a: '3' } })))['data']).toEqual({
      a: '3',
    });
    expect((await here.change('configmaps', 'new', merge({ data: { b: '1' } })))['data']).toEqual({ a: '1', b: '1' });
    expect(await failure(here.change('configmaps', 'one', update(made)))).toMatchObject({ code: 409 });
    await there.write('configmaps', { name: 'new' }, remove());
    expect(await failure(here.change('configmaps', 'new', merge({ data: { c: '1' } })))).toMatchObject({ code: 404 });
  });

  it('reads every write before the request, and waits for it', async () => {
    const { store, here, there } = pair();
    await here.create('configmaps', note('one'));
    await here.read('configmaps', 'one');
    store.hold();
    await there.change('configmaps', 'one', merge({ data: { a: '2' } }));
    expect((await here.read('configmaps', 'one', { resourceVersion: '0' }))['data']).toEqual({ a: '1' });
    const consistent = here.read('configmaps', 'one');
    await Promise.resolve();
    store.release();
    expect((await consistent)['data']).toEqual({ a: '2' });
  });
});

describe('errors of the store', () => {
  const failing = (code: StoreErrorCode): Store => {
    const store = openMemoryStore({ clock: drivenClock() });
    return storeWith(store, { commit: () => Promise.reject(new StoreError(code, 'secret detail /var/lib')) });
  };
  // Clients repeat what carries Retry-After: only what has certainly not taken place may ask for that.
  const cases: [StoreErrorCode, number, string, number | undefined][] = [
    ['unavailable', 503, 'the backing store is not available', 1],
    ['uncertain', 504, 'Timeout: the outcome of the request is not known', undefined],
    ['closed', 503, 'the server is shutting down', undefined],
  ];
  it.each(cases)('%s', async (code, status, message, retryAfter) => {
    const { create } = bench({ store: failing(code) });
    const error = await failure(create('configmaps', note('one')));
    expect(error).toMatchObject({ code: status, message });
    expect((error as StatusError).details?.retryAfterSeconds).toBe(retryAfter);
  });
});

describe('namespaces', () => {
  /** `meanwhile` is called between admission and the commit of each attempt to create a config map. */
  const withLifecycle = (meanwhile: (attempt: number) => Promise<unknown> = async () => {}) => {
    const store = openMemoryStore({ clock: drivenClock() });
    let attempts = 0;
    const lookup: NamespaceLookup = (...of) => made.registry.objects.namespace(...of);
    const last: AdmissionPlugin = {
      name: 'Last',
      handles: ({ operation, resource }) => operation === 'CREATE' && resource === 'configmaps',
      validate: async () => void (await meanwhile(++attempts)),
    };
    const made = bench({ store, admission: [namespaceLifecycle(lookup, names), last] });
    return { ...made, attempts: () => attempts };
  };
  const terminate = ({ change }: Pick<Bench, 'change'>) =>
    change('namespaces', { name: 'ns', subresource: 'status' }, merge({ status: { phase: 'Terminating' } }));

  it('must exist for a create in them', async () => {
    const made = withLifecycle();
    expect(await failure(made.create('configmaps', note('x')))).toMatchObject({
      code: 404,
      message: 'namespaces "ns" not found',
      details: { kind: 'namespaces', name: 'ns' },
    });
    await made.create('namespaces', { metadata: { name: 'ns' } });
    await made.create('configmaps', note('x'));
    await terminate(made);
    expect(await failure(made.create('configmaps', note('y')))).toMatchObject({ code: 403 });
    await made.change('configmaps', 'x', merge({ data: { b: '1' } }));
    await made.write('configmaps', { name: 'x' }, remove());
  });

  it('take no object once they are terminating, even when they were active in admission', async () => {
    const made = withLifecycle(() => terminate(made));
    await made.create('namespaces', { metadata: { name: 'ns' } });
    expect(await failure(made.create('configmaps', note('x')))).toMatchObject({
      code: 403,
      details: { causes: [{ reason: 'NamespaceTerminating' }] },
    });
    expect((await made.names('configmaps')).names).toEqual([]);
  });

  it('take no object once they are deleted', async () => {
    const made = withLifecycle(() => made.write('namespaces', { name: 'ns' }, remove()));
    await made.create('namespaces', { metadata: { name: 'ns' } });
    expect(await failure(made.create('configmaps', note('x')))).toMatchObject({ code: 404, details: { name: 'ns' } });
    expect((await made.names('configmaps')).names).toEqual([]);
  });

  it('may change while objects are created in them', async () => {
    const made = withLifecycle(async (attempt) => {
      const labels = { attempt: `${attempt}` };
      if (attempt < 5) await made.change('namespaces', 'ns', merge({ metadata: { labels } }));
    });
    await made.create('namespaces', { metadata: { name: 'ns' } });
    await made.create('configmaps', note('x'));
    expect(made.attempts()).toBe(5);
    await made.change('configmaps', 'x', merge({ data: { b: '1' } }));
    expect(made.attempts()).toBe(5);
  });
});

describe('query parameters of writes', () => {
  const warn = () => {};
  const read = (
    ...parameters: Parameters<typeof readWriteOptions> extends [infer V, infer P, ...unknown[]] ? [V, P] : never
  ) => readWriteOptions(...parameters, { requester: { name: 'u', groups: [] }, warn }, names);

  it('have defaults', () => {
    expect(read('create', {})).toEqual({
      requester: { name: 'u', groups: [] },
      sent: {},
      dryRun: false,
      fieldManager: 'unknown',
      fieldValidation: 'Warn',
      force: false,
      warn,
    });
    expect(read('update', { dryRun: ['All'], fieldValidation: 'Strict', fieldManager: 'm' })).toMatchObject({
      dryRun: true,
      fieldValidation: 'Strict',
      fieldManager: 'm',
    });
  });

  it.each([
    ['the product of the user agent', 'kubectl/v1.30 (linux/amd64)', 'kubectl'],
    ['a user agent without a version', 'editor', 'editor'],
    ['a user agent with spaces', 'Go http client/1.1', 'Go http client'],
    ['only the printable characters', 'a\u0007b\u200b\u00a0c/1', 'abc'],
    ['at most 128 bytes', `${'x'.repeat(200)}/1`, 'x'.repeat(128)],
    ['whole characters', `${'x'.repeat(127)}é/1`, 'x'.repeat(127)],
    ['`unknown` without a user agent', undefined, 'unknown'],
    ['`unknown` for a user agent without a product', '/1.0', 'unknown'],
  ])('default the field manager to %s', (_, userAgent, fieldManager) => {
    expect(read('update', { userAgent })).toMatchObject({ fieldManager });
  });

  it('prefer a field manager to the user agent', () => {
    expect(read('update', { userAgent: 'kubectl/v1', fieldManager: 'm' })).toMatchObject({ fieldManager: 'm' });
  });

  const rejections: [Parameters<typeof read>, string][] = [
    [
      ['create', { dryRun: ['Some'] }],
      'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
    ],
    [
      ['create', { fieldValidation: 'Nonsense' }],
      'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Nonsense": supported values: "", "Ignore", "Strict", "Warn"',
    ],
    [
      ['patch', { force: 'true' }],
      'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    ],
    [
      ['apply', {}],
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    ],
    [
      ['update', { fieldManager: 'm'.repeat(129) }],
      'UpdateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
    ],
  ];
  it.each(rejections)('%j', (parameters, message) => {
    expect(() => read(...parameters)).toThrow(message);
  });

  it('of a delete are read as an options object', () => {
    expect(
      deleteOptionsOf({
        dryRun: ['All'],
        gracePeriodSeconds: '5',
        orphanDependents: 'false',
        propagationPolicy: 'Orphan',
      }),
    ).toEqual({ dryRun: ['All'], gracePeriodSeconds: 5, orphanDependents: false, propagationPolicy: 'Orphan' });
    expect(deleteOptionsOf({})).toEqual({});
    expect(deleteOptionsOf({ uid: 'u', resourceVersion: '7' })).toEqual({
      preconditions: { uid: 'u', resourceVersion: '7' },
    });
    expect(deleteOptionsOf({ uid: '', resourceVersion: '' })).toEqual({});
    expect(() => deleteOptionsOf({ gracePeriodSeconds: 'x' })).toThrow('strconv.ParseInt');
  });
});
