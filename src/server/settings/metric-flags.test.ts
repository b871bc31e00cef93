import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { metricFlags, metricSettings } from './metric-flags.ts';

const { allowMetricLabels, disabledMetrics, showHiddenMetricsForVersion } = metricFlags;

const folder = mkdtempSync(join(tmpdir(), 'orch-metrics-'));
afterAll(() => rmSync(folder, { recursive: true }));

const manifest = (text: string): string => {
  const path = join(folder, 'labels.yaml');
  writeFileSync(path, text);
  return path;
};

const settings = (allowed: string, allowMetricLabelsManifest?: string) => {
  const parsed = allowMetricLabels.type.parse(allowed);
  return metricSettings({
    showHiddenMetricsForVersion: undefined,
    disabledMetrics: [],
    allowMetricLabels: 'value' in parsed ? parsed.value : new Map(),
    allowMetricLabelsManifest,
    emulatedVersion: undefined,
    minCompatibilityVersion: undefined,
  });
};

describe('--allow-metric-labels', () => {
  it.each<[string, Record<string, string[]>]>([
    ['m,verb=GET', { 'm,verb': ['GET'] }],
    ['m,verb=GET,LIST', { 'm,verb': ['GET', 'LIST'] }],
    // Repeated flags are joined with commas.
    ['m,verb=GET,LIST,m,code=200,n,verb=', { 'm,verb': ['GET', 'LIST'], 'm,code': ['200'], 'n,verb': [''] }],
    ['m,verb=GET,m,verb=PUT', { 'm,verb': ['GET', 'PUT'] }],
    ['m,__proto__=x', { 'm,__proto__': ['x'] }],
  ])('%s', (text, expected) => {
    const parsed = allowMetricLabels.type.parse(text);
    expect('value' in parsed && Object.fromEntries(parsed.value)).toEqual(expected);
  });

  it.each(['', 'm', 'm,verb', 'm=GET', 'a,m,verb=GET', 'bad-name,verb=x', 'm,bad-label=x'])('refuses %j', (text) => {
    expect(allowMetricLabels.type.parse(text)).toHaveProperty('problem');
  });

  it('takes precedence over the manifest', async () => {
    const path = manifest('m,verb: "GET,LIST"\nm,code: "200"\n');
    const { allowedLabels } = await settings('m,verb=PUT', path);
    expect(allowedLabels).toEqual(
      new Map([
        [
          'm',
          new Map([
            ['verb', new Set(['PUT'])],
            ['code', new Set(['200'])],
          ]),
        ],
      ]),
    );
  });

  it.each([
    ['- a\n', 'must hold a map'],
    ['m: "GET"\n', 'must have keys <metric>,<label>'],
    ['m,verb: 3\n', 'must have texts as values; that of m,verb is not'],
    ['a: [\n', 'labels.yaml'],
  ])('has a manifest that is not %j', async (text, problem) => {
    await expect(settings('', manifest(text))).rejects.toThrow(problem);
  });
});

describe('the flags of metrics', () => {
  it('refuse a name that no metric can have', () => {
    expect(disabledMetrics.type.parse('a_total,no_such_metric')).toEqual({ value: ['a_total', 'no_such_metric'] });
    expect(disabledMetrics.type.parse('')).toEqual({ value: [] });
    expect(disabledMetrics.type.parse('bad-name')).toEqual({
      problem: 'must be names of metrics; "bad-name" is not',
    });
  });

  it('show hidden metrics for the previous minor release only', () => {
    const { parse } = showHiddenMetricsForVersion.type;
    expect(parse('1.32')).toEqual({ value: '1.32' });
    for (const wrong of ['1.33', '1.31', 'v1.32', '1.32.0', 'abc']) {
      expect(parse(wrong)).toEqual({ problem: 'must be 1.32 or be left out' });
    }
  });
});
