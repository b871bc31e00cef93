import { describe, expect, it } from 'vitest';
import { flagReference, helpText, optionTypes } from './flag-docs.ts';
import { flagList } from './flags.ts';

describe('documents generated from the flags', () => {
  it('docs/flags.md is up to date', async () => {
    await expect(flagReference()).toMatchFileSnapshot('../../../docs/flags.md');
  });

  it('server-options.ts is up to date: every flag, documented, with its unit', async () => {
    const source = optionTypes();
    const members = [...source.matchAll(/ {2}\/\*\*\n((?: {3}\* ?.*\n)+) {3}\*\/\n {2}readonly (\w+)\?: /g)];
    expect(members.map(([, , key]) => key)).toEqual(flagList.map(({ key }) => key));
    const docs = new Map(members.map(([, doc = '', key = '']) => [key, doc.replaceAll(/\s+\*?\s*/g, ' ')]));
    for (const { key, type } of flagList) expect(docs.get(key)).toContain(type.form);
    for (const key of ['kubeletTimeout', 'shutdownGracePeriod']) expect(docs.get(key)).toContain('milliseconds');
    expect(docs.get('minRequestTimeout')).toContain('A whole number of seconds from 1 to');
    await expect(source).toMatchFileSnapshot('./server-options.ts');
  });

  it('the help names every flag, in lines of at most 100 characters', () => {
    const lines = helpText().split('\n');
    for (const { name } of flagList) expect(lines.some((line) => line.startsWith(`  --${name}=`))).toBe(true);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  });
});
