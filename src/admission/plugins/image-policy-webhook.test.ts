import { expect, it } from 'vitest';
import { type ByteString, bufferOf, type JsonObject } from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import { fakeInitializer, outcome, podOf, requestFor } from '../testing/initializer.ts';
import { imagePolicyWebhook } from './image-policy-webhook.ts';

const kind = { kind: 'ImageReview', apiVersion: 'imagepolicy.k8s.io/v1alpha1' };

/** A plugin whose webhook answers with these statuses in turn; an Error is a failure. */
function pluginOf(settings: JsonObject, ...answers: readonly (JsonObject | Error)[]) {
  const asked: JsonObject[] = [];
  let now = 0;
  const plugin = imagePolicyWebhook({
    ...fakeInitializer(),
    clock: { now: () => now, monotonic: () => now },
    configurations: { ImagePolicyWebhook: { imagePolicy: settings } },
    reviewImages: (body: ByteString) => {
      const { spec } = JSON.parse(bufferOf(body).toString()) as { spec: JsonObject };
      const answer = answers[asked.push(spec) - 1] ?? new Error('not expected');
      if (answer instanceof Error) return Promise.reject(answer);
      return Promise.resolve(
        Buffer.from(JSON.stringify({ ...kind, ...(answer['kind'] ? answer : { status: answer }) })),
      );
    },
  });
  const annotations: { [key: string]: string } = {};
  const turns = new EveryStep();
  const ask = async (pod: JsonObject, subresource = '') => {
    const annotate = (key: string, value: string) => {
      annotations[key] = value;
    };
    const found = await outcome(plugin, requestFor('pods', pod, { subresource, annotate, turns }));
    return typeof found === 'string' ? found : { metadata: found['metadata'] };
  };
  const pass = (seconds: number) => {
    now += seconds * 1_000;
  };
  return { ask, asked, annotations, pass, turns };
}
const allowed = { allowed: true };
const pod = (image: string, annotations: JsonObject = {}) => ({ ...podOf({ image }), metadata: { annotations } });

it('sends the images of containers, the namespace, and the annotations for it', async () => {
  const { ask, asked } = pluginOf({}, allowed, allowed);
  const annotations = {
    'my.image-policy.k8s.io/break-glass': 'ticket-1',
    'other/a': 'b',
    'image-policy.k8s.io/x': 'y',
  };
  const more = { initContainers: [{ name: 'i', image: 'b' }], ephemeralContainers: [{ name: 'e', image: 'c' }] };
  const whole = { ...podOf({ image: 'a' }, more), metadata: { annotations } };
  await ask(whole);
  await ask(whole, 'ephemeralcontainers');
  const rest = { annotations: { 'my.image-policy.k8s.io/break-glass': 'ticket-1' }, namespace: 'n' };
  expect(asked).toEqual([
    { containers: [{ image: 'a' }, { image: 'b' }], ...rest },
    { containers: [{ image: 'c' }], ...rest },
  ]);
});

it('keeps no verdict of a long answer, and at most 100 audit annotations of one', async () => {
  const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`key-${i}`, 'v']));
  const long = { allowed: true, auditAnnotations: many };
  const { ask, asked, annotations } = pluginOf({}, long, long);
  await ask(pod('a'));
  expect(Object.keys(annotations)).toHaveLength(100);
  await ask(pod('a'));
  expect(asked).toHaveLength(2);
});

it('reads a long answer in turns, and rejects one with too many fields', async () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, 'v']));
  const { ask, turns } = pluginOf({}, { ...allowed, details: many(15_000) }, { ...allowed, details: many(20_001) });
  expect(await ask(pod('a'))).toHaveProperty('metadata');
  expect(turns.count).toBeGreaterThan(10);
  expect(await ask(pod('b'))).toMatch(/must respond with a ImageReview of .*, with at most 20000 fields and items/);
});

it.each<[string, JsonObject | Error, string]>([
  ['denies', { allowed: false }, 'one or more images rejected by webhook backend'],
  [
    'denies with a reason',
    { allowed: false, reason: 'not allowed' },
    'image policy webhook backend denied one or more images: not allowed',
  ],
  ['says nothing', {}, 'one or more images rejected by webhook backend'],
  ['fails', new Error('Post "https://hook": EOF'), 'Post "https://hook": EOF'],
  [
    'answers something else',
    { kind: 'Status' },
    'the image policy webhook must respond with a ImageReview of imagepolicy.k8s.io/v1alpha1, with at most 20000 fields and items',
  ],
])('rejects the pod when the webhook %s', async (_, answer, message) => {
  expect(await pluginOf({}, answer).ask(pod('a'))).toBe(message);
});

it('adds the audit annotations of the webhook', async () => {
  const { ask, annotations } = pluginOf({}, { allowed: true, auditAnnotations: { 'image-x': 'y' } });
  await ask(pod('a'));
  expect(annotations).toEqual({ 'imagepolicywebhook.image-policy.k8s.io/image-x': 'y' });
});

it('lets pods pass while the webhook fails, with defaultAllow, and says so', async () => {
  const { ask, annotations } = pluginOf({ defaultAllow: true }, new Error('down'), { allowed: false });
  expect(await ask(pod('a'))).toMatchObject({
    metadata: { annotations: { 'alpha.image-policy.k8s.io/failed-open': 'true' } },
  });
  expect(annotations).toEqual({ 'imagepolicywebhook.image-policy.k8s.io/failed-open': 'true' });
  expect(await ask(pod('a'))).toBe('one or more images rejected by webhook backend');
});

it('keeps what was allowed and denied for their times, by images, namespace and annotations', async () => {
  const { ask, asked, pass } = pluginOf(
    { allowTTL: 10, denyTTL: 2 },
    allowed,
    { allowed: false },
    allowed,
    allowed,
    allowed,
  );
  await ask(pod('a'));
  await ask(pod('b'));
  pass(1.9);
  expect(await ask(pod('a'))).not.toBeTypeOf('string');
  expect(await ask(pod('b'))).toBeTypeOf('string');
  expect(asked).toHaveLength(2);
  pass(0.2);
  expect(await ask(pod('b'))).not.toBeTypeOf('string');
  await ask(pod('a'));
  expect(asked).toHaveLength(3);
  await ask(pod('a', { 'x.image-policy.k8s.io/y': 'z' }));
  pass(8);
  await ask(pod('a'));
  expect(asked).toHaveLength(5);
});

it('keeps nothing with a time of -1, and no failures', async () => {
  const { ask, asked } = pluginOf({ allowTTL: -1 }, allowed, new Error('down'), allowed);
  for (let i = 0; i < 3; i++) await ask(pod('a'));
  expect(asked).toHaveLength(3);
});
