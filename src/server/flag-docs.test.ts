import { describe, expect, it } from 'vitest';
import { flagReference, helpText } from './flag-docs.ts';
import { flagList } from './flags.ts';

describe('what is made from the table of flags', () => {
  it('is what stands in docs/flags.md', async () => {
    await expect(flagReference()).toMatchFileSnapshot('../../docs/flags.md');
  });

  it('is a help that names every flag, in lines of at most 100 characters', () => {
    const lines = helpText().split('\n');
    for (const { name } of flagList) expect(lines.some((line) => line.startsWith(`  --${name}=`))).toBe(true);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  });
});
