import { describe, expect, it } from 'vitest';
import { chartMetrics, charts, type Scrape } from './charts.ts';
import { samplesOf } from './metrics-text.ts';

const scrape = (time: number, text: string): Scrape => ({ time, samples: samplesOf(text, chartMetrics) });
const bucket = (verb: string, le: string, count: number) =>
  `apiserver_request_duration_seconds_bucket{verb="${verb}",le="${le}"} ${count}\n`;

/** The values of a chart at two scrapes that are two seconds apart. */
function valuesOf(title: string, before: string, now: string) {
  const chart = charts.find((one) => one.title === title);
  return Object.fromEntries(chart?.values(scrape(12, now), scrape(10, before)) ?? []);
}

describe('the charts of the load', () => {
  it('have rates per second, also of what is new since the scrape before', () => {
    const flow = (name: string, count: number) =>
      `apiserver_flowcontrol_dispatched_requests_total{flow_schema="${name}",priority_level="p"} ${count}\n`;
    expect(valuesOf('requestsByFlow', flow('a', 10), flow('a', 14) + flow('b', 2))).toEqual({ a: 2, b: 1 });
  });

  it('count requests over one second, except those that last as long as the client wants', () => {
    const before = bucket('GET', '1', 5) + bucket('GET', '+Inf', 6);
    const now = bucket('GET', '1', 9) + bucket('GET', '+Inf', 14) + bucket('WATCH', '+Inf', 3);
    expect(valuesOf('slowRequests', before, now)).toEqual({ GET: 2 });
  });

  it('show sizes in MiB, and nothing where the server does not know the size', () => {
    const size = 'apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} 3145728\n';
    expect(valuesOf('storeSize', size, size)).toEqual({ MiB: 3 });
    expect(valuesOf('storeSize', '', '')).toEqual({});
  });
});
