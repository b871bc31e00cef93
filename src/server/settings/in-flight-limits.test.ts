import { expect, it } from 'vitest';
import { inFlightLimits } from './in-flight-limits.ts';
import { readOptions } from './settings.ts';

it('lets the second connections of proxied requests take a quarter of the file descriptors', async () => {
  const settings = await readOptions({}, async () => ({}));
  expect(inFlightLimits(settings, 1_024).proxied).toBe(256);
  expect(inFlightLimits(settings, 1_048_576).proxied).toBe(4_000);
  expect(inFlightLimits(settings).proxied).toBe(4_000);
});
