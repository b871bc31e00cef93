import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import { old, requestFor } from '../testing/initializer.ts';
import { patches, type Reply, webhook, webhookPlugins } from '../testing/webhooks.ts';
import { type AdmissionRequest, WebhookFailure } from '../types.ts';
import { hooksFrom } from './configurations.ts';

const yes: Reply = () => ({ allowed: true });
const note = (part: Partial<AdmissionRequest> = {}, object: JsonObject = {}) =>
  requestFor('configmaps', { data: { a: '1' }, ...object }, part);
const failure = (work: Promise<unknown>): Promise<{ code: number; message: string; reason: string }> =>
  work.then(
    () => ({ code: 0, message: 'it was admitted', reason: '' }),
    (error: { code: number; message: string; reason: string }) => error,
  );
const refused = async (reply: Reply, part: JsonObject = {}, request = note(), type = 'validating') => {
  const { code, message } = await failure(
    webhookPlugins({ [type]: { c: [webhook('w.example.com', part)] } }, reply).admit(request),
  );
  return `${code} ${message}`;
};

describe('a review', () => {
  it('tells the request as the reference server does', async () => {
    const { admit, asked } = webhookPlugins(
      { validating: { c: [webhook('w.example.com', { timeoutSeconds: 7 })] } },
      yes,
    );
    const user = { name: 'ann', groups: ['g'], uid: 'u', extra: { 'example.com/k': ['v'] } };
    await admit(note({ user, subresource: '', dryRun: true, oldObject: old({ data: { a: '0' } }) }));
    expect(asked[0]?.timeoutMs).toBe(7_000);
    const [{ review } = { review: {} }] = asked;
    const { object, oldObject, ...rest } = (review as JsonObject)['request'] as JsonObject;
    expect(asked[0]?.review).toMatchObject({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' });
    expect([object, oldObject]).toMatchObject([{ data: { a: '1' } }, { data: { a: '0' } }]);
    expect(rest).toEqual({
      uid: 'the-uid',
      kind: { group: '', version: 'v1', kind: 'Any' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'Any' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'x',
      namespace: 'n',
      operation: 'UPDATE',
      userInfo: { username: 'ann', uid: 'u', groups: ['g'], extra: { 'example.com/k': ['v'] } },
      dryRun: true,
      options: { kind: 'UpdateOptions' },
    });
  });

  it('has null in place of objects that are not there, and is in a version that the webhook accepts', async () => {
    const versions = { admissionReviewVersions: ['v7', 'v1beta1', 'v1'] };
    const { admit, asked } = webhookPlugins({ validating: { c: [webhook('w.example.com', versions)] } }, yes);
    await admit(note({ operation: 'DELETE', object: undefined, oldObject: old({}), subresource: '' }));
    expect(asked[0]?.review).toMatchObject({
      apiVersion: 'admission.k8s.io/v1beta1',
      request: { object: null, oldObject: { kind: 'Any' } },
    });
    expect(await refused(yes, { admissionReviewVersions: ['v7'] })).toContain(
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    );
  });
});

describe('an answer', () => {
  const internal = (why: string) => `500 Internal error occurred: failed calling webhook "w.example.com": ${why}`;
  const v1 = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };

  it.each<[string, JsonObject, string]>([
    ['without a status', {}, '400 admission webhook "w.example.com" denied the request without explanation'],
    ['with a message', { status: { message: 'no' } }, '400 admission webhook "w.example.com" denied the request: no'],
    ['with a reason', { status: { reason: 'No' } }, '400 admission webhook "w.example.com" denied the request: No'],
    [
      'with a code',
      { status: { code: 410, message: 'm' } },
      '410 admission webhook "w.example.com" denied the request: m',
    ],
    [
      'with a code that is none',
      { status: { code: 99_999, message: 'm' } },
      '400 admission webhook "w.example.com" denied the request: m',
    ],
    [
      'with a success',
      { status: { code: 200 } },
      '400 admission webhook "w.example.com" denied the request without explanation',
    ],
  ])('denies the request %s', async (_, response, expected) => {
    expect(await refused(() => ({ allowed: false, ...response }))).toBe(expected);
  });

  it.each<[string, Reply, string]>([
    ['without a response', () => ({ review: v1 }), 'received invalid webhook response: webhook response was absent'],
    [
      'with another uid',
      () => ({ allowed: true, uid: 'other' }),
      'received invalid webhook response: expected response.uid="the-uid", got "other"',
    ],
    [
      'without a type',
      () => ({ review: { response: { uid: 'the-uid', allowed: true } } }),
      'received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=',
    ],
    [
      'in another version',
      () => ({ review: { ...v1, apiVersion: 'admission.k8s.io/v1beta1' } }),
      'failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
    ],
    [
      'of another kind',
      () => ({ review: { ...v1, kind: 'Other' } }),
      'failed to call webhook: no kind "Other" is registered for version "admission.k8s.io/v1" in scheme "pkg/util/webhook/client.go:71"',
    ],
    [
      'that is not JSON',
      () => ({ review: '{"a' }),
      "failed to call webhook: couldn't get version/kind; json parse error: unexpected end of JSON input",
    ],
    [
      'with a value of the wrong type',
      () => ({ allowed: 'yes' }),
      'failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool',
    ],
    [
      'with a patch',
      () => patches(),
      'received invalid webhook response: validating webhook may not return response.patch',
    ],
    [
      'with a patch type',
      () => ({ allowed: true, patchType: 'JSONPatch' }),
      'received invalid webhook response: validating webhook may not return response.patchType',
    ],
    [
      'that never came',
      () => new Error('Post "x": context deadline exceeded'),
      'failed to call webhook: Post "x": context deadline exceeded',
    ],
  ])('%s fails the request, unless failures are ignored', async (_, reply, expected) => {
    expect(await refused(reply)).toBe(internal(expected));
    expect(await refused(reply, { failurePolicy: 'Ignore' })).toBe('0 it was admitted');
  });

  it('adds warnings and audit annotations, whatever it decides', async () => {
    const warnings: string[] = [];
    const annotations: [string, string][] = [];
    const reply: Reply = () => ({
      allowed: false,
      warnings: ['careful'],
      auditAnnotations: { key: 'v', 'not a key': 'v' },
    });
    const request = note({
      warn: (text) => warnings.push(text),
      annotate: (key, value) => annotations.push([key, value]),
    });
    expect(await refused(reply, {}, request)).toMatch(/^400 /);
    expect([warnings, annotations]).toEqual([['careful'], [['w.example.com/key', 'v']]]);
  });
});

describe('validating webhooks', () => {
  it('are asked 64 at a time, each in a turn', async () => {
    let open = 0;
    let most = 0;
    const turns = new EveryStep();
    let asked = 0;
    const hooks = Array.from({ length: 100 }, (_, i) => webhook(`w${i}.example.com`));
    const { admit } = webhookPlugins({ validating: { c: hooks } }, yes, {
      webhook: () => async () => {
        most = Math.max(most, ++open);
        asked++;
        for (let i = 0; i < 200; i++) await setImmediate();
        open--;
        const response = { uid: 'the-uid', allowed: true };
        return Buffer.from(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }));
      },
    });
    await admit(note({ turns }));
    expect([asked, most]).toEqual([100, 64]);
    expect(turns.count).toBeGreaterThanOrEqual(200);
  });

  it('are asked at once; the first in order that refuses decides', async () => {
    let asked = 0;
    let answerAll = () => {};
    const allAsked = new Promise<void>((resolve) => {
      answerAll = resolve;
    });
    const { admit } = webhookPlugins(
      { validating: { b: [webhook('c.example.com')], a: [webhook('a.example.com'), webhook('b.example.com')] } },
      yes,
      {
        webhook:
          ({ url }) =>
          async () => {
            if (++asked === 3) answerAll();
            await allAsked;
            const response = { uid: 'the-uid', allowed: url === '/a.example.com', status: { message: url ?? '' } };
            return Buffer.from(
              JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }),
            );
          },
      },
    );
    const { message } = await failure(admit(note()));
    expect(message).toBe('admission webhook "c.example.com" denied the request: /c.example.com');
  });

  it('are not asked about the configurations of webhooks and policies', async () => {
    const { admit, asked } = webhookPlugins({ validating: { c: [webhook('w.example.com')] } }, yes);
    const of = { group: 'admissionregistration.k8s.io', version: 'v1' };
    await admit(note({ resource: { ...of, resource: 'validatingwebhookconfigurations' } }));
    expect(asked).toEqual([]);
  });

  it('with side effects refuse dry runs', async () => {
    expect(await refused(yes, { sideEffects: 'Some', failurePolicy: 'Ignore' }, note({ dryRun: true }))).toBe(
      '400 admission webhook "w.example.com" does not support dry run',
    );
    expect(await refused(yes, { sideEffects: 'Some' })).toBe('0 it was admitted');
    expect(await refused(yes, { sideEffects: 'NoneOnDryRun' }, note({ dryRun: true }))).toBe('0 it was admitted');
  });

  it('have the time of the request together', async () => {
    const late = new Error('late');
    let now = 0;
    const { admit, asked } = webhookPlugins(
      { validating: { c: [webhook('w.example.com', { timeoutSeconds: 30, failurePolicy: 'Ignore' })] } },
      () => {
        now += 5_000;
        return late;
      },
      { clock: { now: () => now, monotonic: () => now } },
    );
    now = 20_000;
    await admit(note());
    now = 30_000;
    const { code, message } = await failure(admit(note()));
    expect(asked.map(({ timeoutMs }) => timeoutMs)).toEqual([14_000, 4_000]);
    expect([code, message]).toEqual([
      504,
      'Timeout: request did not complete within requested timeout - context deadline exceeded',
    ]);
  });
});

it('the webhooks of a configuration are each made in a step of its own', () => {
  const webhooks = Array.from({ length: 50 }, (_, i) => ({ name: `w${i}`, clientConfig: {} }));
  const steps = hooksFrom('validating', () => () => Promise.reject(new Error('not called'))).compile({
    metadata: { name: 'many' },
    webhooks: webhooks as unknown as [],
  });
  expect([...steps]).toHaveLength(50);
});

describe('match conditions', () => {
  const withCondition = (expression: string, part: JsonObject = {}) =>
    webhookPlugins(
      { validating: { c: [webhook('w.example.com', { matchConditions: [{ name: 'c', expression }], ...part })] } },
      yes,
    );

  it.each([
    ["object.data.a == '1'", 1],
    ["object.data.a == '2'", 0],
    ["request.operation == 'CREATE' && request.namespace == 'n'", 1],
    ['oldObject == null', 1],
  ])('%s: asked %d times', async (expression, times) => {
    const { admit, asked } = withCondition(expression);
    await admit(note());
    expect(asked.length).toBe(times);
  });

  it('that fail refuse the request, unless failures are ignored', async () => {
    const { admit, observed } = withCondition('object.nope == 1');
    expect(await failure(admit(note()))).toMatchObject({
      code: 403,
      message: `configmaps "x" is forbidden: expression 'object.nope == 1' resulted in error: no such key: nope`,
    });
    expect(observed).toEqual([
      { what: 'conditions', name: 'w.example.com', type: 'validate', operation: 'CREATE', result: 'error' },
    ]);
    const ignoring = withCondition('object.nope == 1', { failurePolicy: 'Ignore' });
    await ignoring.admit(note());
    expect(ignoring.asked).toEqual([]);
  });
});

describe('mutating webhooks', () => {
  const add = (key: string, value: string) => ({ op: 'add', path: `/data/${key}`, value });

  it('change the object one after the other, in the order of their configurations', async () => {
    const reply: Reply = ({ object }, place) => {
      const { data } = object as { readonly data: { readonly [key: string]: string } };
      return patches(add(place.slice(1, 2), Object.keys(data).join()));
    };
    const { admit, places } = webhookPlugins(
      { mutating: { b: [webhook('c.example.com')], a: [webhook('x.example.com'), webhook('b.example.com')] } },
      reply,
    );
    const request = note();
    // Configurations are stored in the order of their names.
    await admit(request);
    expect(places()).toHaveLength(3);
    expect(Object.keys(request.object?.['data'] as JsonObject)).toHaveLength(4);
  });

  it('are asked again when a later one changes the object, if they want to', async () => {
    const reply: Reply = ({ object }, place) => {
      const { data } = object as { readonly data: { readonly [key: string]: string } };
      if (place === '/count.example.com') return patches(add('count', String(Number(data['count'] ?? 0) + 1)));
      return place === '/last.example.com' ? patches(add('last', data['count'] ?? '')) : { allowed: true };
    };
    const hooks = [webhook('count.example.com', { reinvocationPolicy: 'IfNeeded' }), webhook('last.example.com')];
    const { admit, places } = webhookPlugins({ mutating: { c: hooks } }, reply);
    const request = note();
    await admit(request);
    expect(places()).toEqual(['/count.example.com', '/last.example.com', '/count.example.com']);
    expect(request.object?.['data']).toEqual({ a: '1', count: '2', last: '1' });
  });

  it('are asked again when another plugin changes the object in the second run', async () => {
    const runs: unknown[] = [];
    const other = {
      name: 'Other',
      mutate: ({ reinvocation, object }: AdmissionRequest) => {
        runs.push(reinvocation?.again);
        if (reinvocation?.again && object !== undefined) object['extra'] = 'x';
      },
    };
    const reply: Reply = ({ object }) => ((object as JsonObject)['extra'] ? { allowed: true } : patches(add('b', '2')));
    const hooks = [webhook('w.example.com', { reinvocationPolicy: 'IfNeeded' })];
    const { admit, asked } = webhookPlugins({ mutating: { c: hooks } }, reply);
    await admit(note(), [other]);
    expect(runs).toEqual([undefined, true]);
    expect(asked).toHaveLength(2);
  });

  it.each<[string, Reply, string]>([
    [
      'that does not apply',
      () => patches({ op: 'test', path: '/data/a', value: 'x' }),
      '500 Internal error occurred: testing value /data/a failed: test failed',
    ],
    [
      'without a type',
      () => ({ allowed: true, patch: 'W10=' }),
      '500 Internal error occurred: failed calling webhook "w.example.com": received invalid webhook response: webhook returned response.patch but not response.patchType',
    ],
    [
      'of another type',
      () => ({ ...patches(add('b', '')), patchType: 'Merge' }),
      '500 Internal error occurred: failed calling webhook "w.example.com": unsupported patch type "Merge"',
    ],
    [
      'that is not a list',
      () => ({ allowed: true, patchType: 'JSONPatch', patch: 'e30=' }),
      '500 Internal error occurred: failed calling webhook "w.example.com": received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch',
    ],
    [
      'of a denied request',
      () => ({ ...patches(add('b', '')), allowed: false }),
      '400 admission webhook "w.example.com" denied the request without explanation',
    ],
  ])('may not return a patch %s', async (_, reply, expected) => {
    expect(await refused(reply, {}, note(), 'mutating')).toBe(expected);
  });

  it('cannot change what is deleted', async () => {
    const request = note({ operation: 'DELETE', object: undefined, oldObject: old({}) });
    expect(await refused(() => patches(add('b', '')), {}, request, 'mutating')).toBe(
      '500 Internal error occurred: admission webhook "w.example.com" attempted to modify the object, which is not supported for this operation',
    );
  });

  it('leave audit annotations of what they did', async () => {
    const annotations: unknown[] = [];
    const annotate = (...given: unknown[]) => annotations.push(given);
    const hooks = [
      webhook('a.example.com'),
      webhook('b.example.com', { failurePolicy: 'Ignore' }),
      webhook('c.example.com'),
    ];
    const reply: Reply = (_, place) =>
      place === '/a.example.com'
        ? patches(add('b', '2'))
        : place === '/b.example.com'
          ? new Error('x')
          : { allowed: true };
    await webhookPlugins({ mutating: { c: hooks } }, reply).admit(note({ annotate }));
    const patch =
      '{"configuration":"c","webhook":"a.example.com","patch":[{"op":"add","path":"/data/b","value":"2"}],"patchType":"JSONPatch"}';
    expect(annotations).toEqual([
      ['patch.webhook.admission.k8s.io/round_0_index_0', patch, 'Request'],
      [
        'mutation.webhook.admission.k8s.io/round_0_index_0',
        '{"configuration":"c","webhook":"a.example.com","mutated":true}',
      ],
      ['failed-open.mutation.webhook.admission.k8s.io/round_0_index_1', 'b.example.com'],
      [
        'mutation.webhook.admission.k8s.io/round_0_index_1',
        '{"configuration":"c","webhook":"b.example.com","mutated":false}',
      ],
      [
        'mutation.webhook.admission.k8s.io/round_0_index_2',
        '{"configuration":"c","webhook":"c.example.com","mutated":false}',
      ],
    ]);
  });
});

it('calls are observed with their outcome', async () => {
  const outcomes: Reply[] = [
    yes,
    () => ({ allowed: false, status: { code: 410 } }),
    () => new WebhookFailure(404, 'not found'),
    () => patches({ op: 'test', path: '/x', value: 1 }),
  ];
  const seen = [];
  for (const [i, reply] of outcomes.entries()) {
    for (const failurePolicy of ['Fail', 'Ignore']) {
      const { admit, observed } = webhookPlugins(
        { mutating: { c: [webhook('w.example.com', { failurePolicy })] } },
        reply,
      );
      await failure(admit(note()));
      seen.push([
        i,
        failurePolicy,
        ...observed.map((one) =>
          Object.values(one as JsonObject).filter((v) => v !== 'w.example.com' && v !== 'admit' && v !== 'CREATE'),
        ),
      ]);
    }
  }
  expect(seen).toEqual([
    [0, 'Fail', ['called', 200, false]],
    [0, 'Ignore', ['called', 200, false]],
    [1, 'Fail', ['rejected', 410, 'no_error'], ['called', 410, true]],
    [1, 'Ignore', ['rejected', 410, 'no_error'], ['called', 410, true]],
    [2, 'Fail', ['rejected', 404, 'calling_webhook_error'], ['called', 404, true]],
    [2, 'Ignore', ['called', 404, false], ['failedOpen']],
    [3, 'Fail', ['rejected', 0, 'apiserver_internal_error'], ['called', 0, true]],
    [3, 'Ignore', ['rejected', 0, 'apiserver_internal_error'], ['called', 0, true]],
  ]);
});
