import { describe, expect, it } from 'vitest';
import { quantileBetween, samplesOf, sumsBy } from './metrics-text.ts';

describe('samplesOf', () => {
  it('reads the metrics of some names, with labels that have quotes and commas', () => {
    const text = '# HELP a x\na{verb="GET",path="/a,\\"b\\""} 2\na{verb="GET"} 3\na 5\nb 7\na{verb="PUT"} +Inf\n';
    const samples = samplesOf(text, new Set(['a']));
    expect(sumsBy(samples, 'a', 'verb')).toEqual(
      new Map([
        ['GET', 5],
        ['', 5],
        ['PUT', Number.POSITIVE_INFINITY],
      ]),
    );
    expect(samples[0]?.labels.get('path')).toBe('/a,\\"b\\"');
  });
});

describe('quantileBetween', () => {
  const before = new Map([
    ['1', 10],
    ['2', 10],
    ['+Inf', 10],
  ]);

  it('interpolates within the bucket of the rank', () => {
    expect(
      quantileBetween(
        before,
        new Map([
          ['1', 15],
          ['2', 20],
          ['+Inf', 20],
        ]),
        0.75,
      ),
    ).toBe(1.5);
  });

  it('is the largest bound where the rank is beyond it, and undefined where nothing was counted', () => {
    expect(
      quantileBetween(
        before,
        new Map([
          ['1', 10],
          ['2', 11],
          ['+Inf', 20],
        ]),
        0.99,
      ),
    ).toBe(2);
    expect(quantileBetween(before, before, 0.99)).toBeUndefined();
  });
});
