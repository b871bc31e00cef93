import { expect, it } from 'vitest';
import { Findings } from './check-findings.ts';

it('keys and values of a store reach a terminal without control characters, and shortened', () => {
  const findings = new Findings();
  findings.add('key', '/a/\u001b[2J\nb\u0085', 'x'.repeat(3_000));
  const [line = ''] = findings.lines();
  expect(line.slice(0, 45)).toBe('warning (key): /a/\\u001b[2J\\u000ab\\u0085: xxx');
  expect(line.length).toBeLessThan(2_100);
});
