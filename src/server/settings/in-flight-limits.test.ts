import { expect, it } from 'vitest';
import { inFlightLimits, seatsOf } from './in-flight-limits.ts';
import { readOptions } from './settings.ts';

it('lets the second connections of proxied requests take a quarter of the file descriptors', async () => {
  const settings = await readOptions({}, async () => ({}));
  expect(inFlightLimits(settings, 1_024).proxied).toBe(256);
  expect(inFlightLimits(settings, 1_048_576).proxied).toBe(4_000);
  expect(inFlightLimits(settings).proxied).toBe(4_000);
});

it('limits requests whose responses are not read, which have given their seats back', async () => {
  const settings = await readOptions({}, async () => ({}));
  expect(seatsOf(settings)).toBe(600);
  // At 80 KB each, one user may hold half of 1.3 GB.
  expect(inFlightLimits(settings)).toMatchObject({ readOnly: 8_192, mutating: 8_192 });
});

it('gives each of several workers an equal share of the limits of the server', async () => {
  const one = await readOptions({}, async () => ({}));
  const four = { ...one, workers: 4 };
  expect(seatsOf(four)).toBe(150);
  expect(inFlightLimits(four).receiving).toBe(inFlightLimits(one).receiving / 4);
  expect(inFlightLimits({ ...four, enablePriorityAndFairness: false })).toMatchObject({ readOnly: 100, mutating: 50 });
  expect(inFlightLimits({ ...four, enablePriorityAndFairness: false, maxRequestsInflight: 0 }).readOnly).toBe(
    Number.POSITIVE_INFINITY,
  );
});
