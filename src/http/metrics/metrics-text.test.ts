import { expect, it } from 'vitest';
import { MetricSet } from './metric.ts';
import { addLines } from './metrics-text.ts';

const set = new MetricSet();
const help = 'A test.';
const lines = [
  ['t{a="x y"} 1\n', 't{a="z"} 2\n'],
  ['t{a="x y"} 4\n', 't{a="new"} 0.5\n'],
];

it('the values of workers are added up by series, in the order in which series appear', () => {
  const counter = set.counter({ name: 't', help });
  expect(addLines(counter, lines)).toEqual(['t{a="x y"} 5\n', 't{a="z"} 2\n', 't{a="new"} 0.5\n']);
});

it('a gauge is the greatest value, or that of the first worker, where it says so', () => {
  const greatest = set.gauge({ name: 't', help, across: 'max' });
  expect(addLines(greatest, lines)[0]).toBe('t{a="x y"} 4\n');
  const same = set.gauge({ name: 't', help, across: 'one' });
  expect(addLines(same, lines)[0]).toBe('t{a="x y"} 1\n');
});

it('the buckets, sums and counts of histograms are added up', () => {
  const histograms = [1, 2].map((times) => {
    const histogram = new MetricSet().histogram({ name: 'h', help, buckets: [1] });
    histogram.series().observe(0.5, times);
    histogram.series().observe(2, 1);
    return histogram;
  });
  const each = histograms.map((histogram) => [...histogram.lines()].flatMap((text) => text.split(/(?<=\n)/)));
  expect(addLines(histograms[0]!, each)).toEqual([
    'h_bucket{le="1"} 3\n',
    'h_bucket{le="+Inf"} 5\n',
    'h_sum 5.5\n',
    'h_count 5\n',
  ]);
});
