import { expect, it } from 'vitest';
import type { Resource } from '../../registry/index.ts';
import type { InFlight } from '../limits.ts';
import { identify } from '../request-info.ts';
import { MetricSet, type Scrape } from './metric.ts';
import { declareRequestMetrics } from './request-metrics.ts';

const limits = { readOnly: { used: 0 }, mutating: { used: 0 } };
const connections = () => ({ open: 0, refused: 0, flooded: 0, failedHandshakes: 0 });
const served = {
  definition: { verbs: ['list', 'watch', 'create'] },
  subresources: new Map(),
  versions: new Map([['v1', { deprecation: {} }]]),
} as unknown as Resource;

it('forgets the series of resources that are not served any more, and no others', () => {
  const set = new MetricSet();
  let last = 0;
  // The last one that was defined, as all others are deleted.
  const isServed = ({ resource }: { resource: string }) => resource === 'first' || resource === `r${last}`;
  const { series } = declareRequestMetrics(set, { limits } as unknown as InFlight, connections, isServed);
  const request = (resource: string) => {
    for (const query of ['', '?watch=true', '?dryRun=All']) {
      const found = series(identify('GET', `/apis/example.com/v1/${resource}${query}`), served);
      found.count(200, 1, 0, 100);
      found.countBody('get', 1);
      found.countTermination(429);
      found.watch?.countEvent(10);
    }
  };
  request('first');
  for (last = 0; last < 3_000; last++) request(`r${last}`);
  const lines = set.all.flatMap((metric) => [...metric.lines({} as Scrape)]).join('');
  const shown = new Set(lines.match(/(?<=resource=")\w+/g));
  expect(shown).toContain('first');
  expect(shown).toContain('r2999');
  expect(shown).not.toContain('r0');
  // Each resource has three series, and 4,096 start the search.
  expect(shown.size).toBeLessThan(1_400);
  for (const { declaration } of set.all) {
    if (!declaration.labels?.includes('resource')) continue;
    const of = lines.split('\n').filter((line) => line.startsWith(declaration.name));
    expect(
      of.some((line) => line.includes('resource="first"')),
      declaration.name,
    ).toBe(true);
    expect(
      of.some((line) => line.includes('resource="r0"')),
      declaration.name,
    ).toBe(false);
  }
});
