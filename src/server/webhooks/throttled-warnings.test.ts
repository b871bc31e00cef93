import { expect, it } from 'vitest';
import { webhookFailures } from './throttled-warnings.ts';

/** The log, on a clock that the test sets. */
function logged() {
  const lines: unknown[] = [];
  const clock = { now: 0, monotonic: () => clock.now };
  const failed = webhookFailures({ warn: (text, fields) => lines.push({ text, ...fields }) }, clock);
  return {
    lines,
    clock,
    failed: (webhook: string, why: string, ignored = false) => failed({ configuration: 'c', webhook, why, ignored }),
  };
}

it('warns of a failure once in a minute, for each webhook and text', () => {
  const { lines, clock, failed } = logged();
  for (let i = 0; i < 3; i++) failed('a', 'refused');
  failed('b', 'refused', true);
  failed('a', 'timeout');
  const of = { configuration: 'c', text: 'an admission webhook has failed' };
  const expected = [
    { ...of, webhook: 'a', why: 'refused' },
    { ...of, text: 'an admission webhook has failed, which is ignored', webhook: 'b', why: 'refused' },
    { ...of, webhook: 'a', why: 'timeout' },
  ];
  expect(lines).toEqual(expected);
  clock.now = 59_999;
  failed('a', 'refused');
  expect(lines).toHaveLength(3);
  clock.now = 60_000;
  failed('a', 'refused');
  expect(lines).toEqual([...expected, expected[0]]);
});

it('warns of a hundred failures in a minute at the most', () => {
  const { lines, clock, failed } = logged();
  for (let i = 0; i < 1_000; i++) failed('a', `answer ${i}`);
  expect(lines).toHaveLength(100);
  clock.now = 60_000;
  failed('a', 'refused');
  expect(lines).toHaveLength(101);
});
