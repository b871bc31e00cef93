import { describe, expect, it } from 'vitest';
import { type JsonObject, StatusError } from '../../meta/index.ts';
import { createChain, runValidating } from '../chain.ts';
import type { EventLimit } from '../configuration/kinds.ts';
import { requestFor } from '../testing/initializer.ts';
import type { AdmissionRequest } from '../types.ts';
import { eventRateLimit } from './event-rate-limit.ts';

// Cases of the reference server.

interface Step extends Partial<AdmissionRequest> {
  readonly event?: JsonObject;
  readonly refused?: boolean;
  /** Seconds before the request. */
  readonly delay?: number;
}

/** The steps whose outcome is not the expected one. */
async function wrong(limits: EventLimit[], steps: readonly Step[]): Promise<number[]> {
  let now = 0;
  const clock = { now: () => now, monotonic: () => now };
  const chain = createChain([eventRateLimit({ clock, configurations: { EventRateLimit: { limits } } })]);
  const out: number[] = [];
  for (const [i, { event = {}, refused = false, delay = 0, ...part }] of steps.entries()) {
    now += delay * 1_000;
    const error = await runValidating(chain, requestFor('events', event, part))?.catch((thrown: unknown) => thrown);
    if (refused !== (error instanceof StatusError && error.code === 429)) out.push(i);
  }
  return out;
}

const server: EventLimit = { type: 'Server', qps: 1, burst: 3 };
const wide: EventLimit = { type: 'Server', qps: 1, burst: 100 };
const limit = (type: string, cacheSize = 10, burst = 3): EventLimit[] => [wide, { type, qps: 1, burst, cacheSize }];
const times = (count: number, step: Step = {}): Step[] => Array.from({ length: count }, () => step);
const no = (step: Step = {}): Step => ({ ...step, refused: true });
const dry: Step = { dryRun: true };

describe('the limit of a server', () => {
  it.each<[string, Step[]]>([
    ['allows a burst, and no more', [...times(3), no()]],
    ['does not count dry runs', [...times(2), ...times(4, dry), {}, no(), dry]],
    ['fills up with time', [...times(3), no(), { delay: 1 }, no(), { delay: 3 }, ...times(2), no()]],
    ['does not exceed the burst', [...times(3), { delay: 100 }, ...times(2), no()]],
  ])('%s', async (_, steps) => {
    expect(await wrong([server], steps)).toEqual([]);
  });

  it('is for events alone', () => {
    const { handles } = eventRateLimit({ clock: { now: () => 0, monotonic: () => 0 }, configurations: {} });
    const place = { operation: 'CREATE', subresource: '' } as const;
    expect([handles?.({ ...place, resource: 'events' }), handles?.({ ...place, resource: 'pods' })]).toEqual([
      true,
      false,
    ]);
  });
});

const user = (name: string): Step => ({ user: { name, groups: [] } });
const component = (name: string): Step => ({ event: { source: { component: name } } });
describe.each<[string, (key: string) => Step]>([
  ['Namespace', (namespace) => ({ namespace })],
  ['User', user],
  ['SourceAndObject', component],
])('a limit of the type %s', (type, of) => {
  const [a, b, c] = ['A', 'B', 'C'].map(of) as [Step, Step, Step];
  it.each<[string, Step[], number?]>([
    ['refuses what is over it', [a, a, a, no(a)]],
    ['counts each key by itself', [a, a, b, a, no(a), b]],
    ['fills up with time', [a, a, a, no(a), { ...a, delay: 1 }]],
    // The third key drops the one that was not used for longest.
    ['keeps the counts that were used last', [a, a, b, b, b, a, no(b), no(a), c, no(a), b], 2],
  ])('%s', async (_, steps, size) => {
    expect(await wrong(limit(type, size), steps)).toEqual([]);
  });
});

it.each<[string, (value: string) => JsonObject]>([
  ['the host of the source', (host) => ({ source: { host } })],
  ...['kind', 'namespace', 'name', 'uid', 'apiVersion'].map((field): [string, (value: string) => JsonObject] => [
    `the ${field} of the object`,
    (value) => ({ involvedObject: { [field]: value } }),
  ]),
])('the source and the object include %s', async (_, event) => {
  const steps = [{ event: event('A') }, no({ event: event('A') }), { event: event('B') }];
  expect(await wrong(limit('SourceAndObject', 10, 1), steps)).toEqual([]);
});

it('names all limits that are reached, and does not say when to try again', async () => {
  const limits = [
    { ...server, burst: 1 },
    { type: 'User', qps: 1, burst: 1 },
  ];
  const clock = { now: () => 0, monotonic: () => 0 };
  const chain = createChain([eventRateLimit({ clock, configurations: { EventRateLimit: { limits } } })]);
  const ask = () => runValidating(chain, requestFor('events', {}));
  await ask();
  await expect(ask()).rejects.toMatchObject({
    code: 429,
    reason: 'TooManyRequests',
    message: 'Too many requests: [limit reached on type Server for key , limit reached on type User for key u]',
    details: undefined,
  });
});
