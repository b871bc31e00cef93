import { describe, expect, it } from 'vitest';
import { apiRelease } from '../../meta/index.ts';
import { MetricSet, metricHeader } from './metric.ts';
import { noUsage } from './process-usage.ts';
import { visibilityOf, visibleMetrics } from './visibility.ts';

const scrape = { usage: noUsage, storeBytes: undefined, storeWritable: true };
const everything = { release: apiRelease, showHidden: false, disabled: new Set<string>(), allowedLabels: new Map() };

// Rule 11b of the specification: STABLE 3 releases, BETA 1, ALPHA 0; deleted one release later.
describe('a deprecated metric', () => {
  it.each([
    ['STABLE', '1.31', 'shown'],
    ['STABLE', '1.30', 'hidden'],
    ['STABLE', '1.29', 'deleted'],
    ['BETA', '1.33', 'shown'],
    ['BETA', '1.32', 'hidden'],
    ['BETA', '1.31', 'deleted'],
    ['ALPHA', '1.33', 'hidden'],
    ['ALPHA', '1.32', 'deleted'],
    ['ALPHA', '1.34', 'shown'],
  ] as const)('that is %s, deprecated in %s, is %s in 1.33', (stability, deprecated, expected) => {
    expect(visibilityOf({ stability, deprecated }, { major: 1, minor: 33 })).toBe(expected);
  });

  it('says so in its help', () => {
    const set = new MetricSet();
    const metric = set.counter({ name: 'old_total', stability: 'STABLE', deprecated: '1.31', help: 'Old.' });
    expect(metricHeader(metric)).toBe(
      '# HELP old_total [STABLE] (Deprecated since 1.31.0) Old.\n# TYPE old_total counter\n',
    );
  });
});

function metrics() {
  const set = new MetricSet();
  set.counter({ name: 'old_total', stability: 'STABLE', deprecated: '1.30', help: 'Old.' });
  set.counter({ name: 'gone_total', stability: 'STABLE', deprecated: '1.29', help: 'Gone.' });
  const requests = set.counter({ name: 'requests_total', stability: 'STABLE', help: 'R.', labels: ['verb', 'code'] });
  for (const [verb, code, count] of [
    ['GET', '200', 3],
    ['GET', '404', 1],
    ['PUT', '200', 2],
    ['POST', '200', 4],
  ] as const) {
    requests.series({ verb, code }).value = count;
  }
  const sizes = set.histogram({ name: 'sizes', stability: 'STABLE', help: 'S.', labels: ['verb'], buckets: [1, 2] });
  sizes.series({ verb: 'PUT' }).observe(1);
  sizes.series({ verb: 'a"\\\n' }).observe(2);
  return set.all;
}
const namesOf = (shown: ReturnType<typeof visibleMetrics>['shown']) => shown.map(({ declaration }) => declaration.name);

describe('the shown metrics', () => {
  it('are those that are neither hidden nor deleted', () => {
    const { shown, hidden } = visibleMetrics(metrics(), everything);
    expect(namesOf(shown)).toEqual(['requests_total', 'sizes']);
    expect(hidden).toBe(1);
  });

  it('are also the hidden ones when the settings say so', () => {
    const { shown } = visibleMetrics(metrics(), { ...everything, showHidden: true });
    expect(namesOf(shown)).toEqual(['old_total', 'requests_total', 'sizes']);
  });

  it('are not the disabled ones', () => {
    const disabled = new Set(['sizes', 'no_such_metric']);
    const visible = visibleMetrics(metrics(), { ...everything, disabled });
    expect(namesOf(visible.shown)).toEqual(['requests_total']);
    expect(visible.disabled).toBe(1);
  });

  it('add up the samples of label values that are not allowed', () => {
    const allowedLabels = new Map([
      ['requests_total', new Map([['verb', new Set(['GET'])]])],
      ['sizes', new Map([['verb', new Set(['GET'])]])],
    ]);
    const visible = visibleMetrics(metrics(), { ...everything, allowedLabels });
    expect(visible.shown.map((metric) => [...metric.lines(scrape)].join(''))).toEqual([
      'requests_total{verb="GET",code="200"} 3\nrequests_total{verb="GET",code="404"} 1\nrequests_total{verb="unexpected",code="200"} 6\n',
      [
        'sizes_bucket{verb="unexpected",le="1"} 1\n',
        'sizes_bucket{verb="unexpected",le="2"} 2\n',
        'sizes_bucket{verb="unexpected",le="+Inf"} 2\n',
        'sizes_sum{verb="unexpected"} 3\n',
        'sizes_count{verb="unexpected"} 2\n',
      ].join(''),
    ]);
    expect(visible.unexpected()).toBe(8);
  });

  it('keep label values with quotes, backslashes and line ends', () => {
    const allowedLabels = new Map([['sizes', new Map([['verb', new Set(['a"\\\n'])]])]]);
    const [, sizes] = visibleMetrics(metrics(), { ...everything, allowedLabels }).shown;
    expect([...(sizes?.lines(scrape) ?? [])].join('')).toContain('sizes_count{verb="a\\"\\\\\\n"} 1\n');
  });
});
