import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Environment, openEnvironment } from './environment.ts';

let path: string;
let environment: Environment;
beforeEach(async () => {
  path = mkdtempSync(join(tmpdir(), 'store-table-'));
  environment = await openEnvironment(path, 1 << 20);
});
afterEach(async () => {
  await environment.close();
  rmSync(path, { recursive: true, force: true });
});

test('bytes returns exactly the bytes of the value, whatever was read before', async () => {
  const { root, records } = environment;
  const sizes = [40_000, 3, 0, 5_000, 1, 200_000, 2];
  await root.batch(() => {
    for (const [ordinal, size] of sizes.entries())
      records.write(records.change({ revision: 2, ordinal }, Buffer.alloc(size, ordinal)));
  });
  for (const [ordinal, size] of sizes.entries()) {
    const bytes = records.bytes({ revision: 2, ordinal });
    expect(bytes).toBeInstanceOf(Buffer);
    expect([bytes?.byteLength, bytes?.length, bytes?.subarray(0).length]).toEqual([size, size, size]);
    expect(bytes?.equals(Buffer.alloc(size, ordinal))).toBe(true);
  }
  expect(records.bytes({ revision: 3, ordinal: 0 })).toBeUndefined();
});
