import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type DeclaredMetric, declaredMetrics as metrics } from '../testing/declared-metrics.ts';
import { makeFixture } from '../testing/fixture.ts';
import { boundText } from './series.ts';

const introduction = [
  '# Metrics',
  '',
  'Generated from the metrics in `src/http`; a test compares them (`npx vitest run src/http/metrics/metric-docs.test.ts -u` regenerates the page).',
  '',
  '`GET /metrics` shows them in the text format of Prometheus. [monitoring.md](monitoring.md) tells how to scrape them, and',
  'has a dashboard and alert rules.',
  '',
  'Metrics that Kubernetes has too have its names, labels and buckets, and its stability. Those that begin with `orch_` are',
  'of this server alone. Those that begin with `process_` and `nodejs_` are what the client library of Prometheus for Node',
  'shows by default, and have no stability; they are of the whole process. The lag of the event loop is what is measured',
  'beyond the interval of the measurement, since the last scrape; it and the pauses of the garbage collector are measured',
  'from the first scrape on. Histograms have the label `le` besides. A metric without a sample has not been observed yet.',
  '',
  'What clients send makes no labels: verbs, groups, versions, resources and paths that are not served are counted as',
  '`other` or with empty labels, users under a few classes, and the number of names of webhooks and policies is limited.',
];

const sections: readonly (readonly [title: string, pattern: RegExp])[] = [
  [
    'Process and build',
    /^(process|nodejs)_|_(build|identity)_info$|^version_info$|_feature_enabled$|_metrics_total$|^cardinality_/,
  ],
  ['Watches and caches', /^(apiserver|orch)_(watch|init_events|terminated_watchers|storage_objects)/],
  ['Store', /^(etcd|orch_store)_|_storage_size_/],
  ['Encryption at rest', /_(envelope_encryption|encryption_config|storage_transformation)_/],
  [
    'Users and access',
    /^(authentication|authenticated|authorization|serviceaccount)_|_(authorization|audit)_|certificate/,
  ],
  ['Admission', /_(admission|validation|conversion)_/],
  ['Extension API servers', /^aggregator_/],
  ['Controllers', /^(workqueue|leader_election)_/],
  ['Requests and connections', /^(apiserver|orch)_/],
];

const sectionOf = ({ name }: DeclaredMetric) => sections.find(([, pattern]) => pattern.test(name))?.[0];

const row = ({ name, type, labels, stability, help }: DeclaredMetric) =>
  `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${stability ?? ''} | ${help} |`;

const stability = [
  '',
  '## Stability',
  '',
  'A metric that is deprecated says so with `(Deprecated since x.y.0)`, and is still shown for three releases if it is STABLE,',
  'for one if it is BETA. It is hidden for one release after that, in which `--show-hidden-metrics-for-version` shows it, and',
  'then deleted; a deprecated ALPHA metric is hidden at once. At present no metric is deprecated.',
  '',
  '`--disabled-metrics` leaves metrics out. `--allow-metric-labels` limits a label to some values: samples with other values',
  'are added up under `unexpected`. `DELETE /metrics` forgets the requests counted so far.',
  '',
  '## Not here',
  '',
  'STABLE and BETA metrics of the reference server that this server does not have:',
  '',
  '| metric | stability | why |',
  '|---|---|---|',
];

/** The STABLE and BETA metrics of the reference server. `labels`: of the series that it showed. */
interface ReferenceMetric {
  readonly type: string;
  readonly stability: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly string[];
}
const referenceMetrics = JSON.parse(
  readFileSync(new URL('../testing/reference-metrics.json', import.meta.url), 'utf8'),
) as { readonly [name: string]: ReferenceMetric };

/** Why this server does not have a metric. */
const missing: { readonly [name: string]: string } = {
  apiserver_cel_compilation_duration_seconds:
    'Expressions are compiled in turns, between which other requests are served; `apiserver_admission_controller_admission_duration_seconds` has the time of policies.',
  apiserver_cel_evaluation_duration_seconds: 'The same.',
  apiserver_watch_list_duration_seconds:
    'Initial events are sent at the pace of the client, so that their duration says nothing about the server.',
};

function reference(): string {
  const lines = [...introduction];
  for (const [title] of sections) {
    lines.push('', `## ${title}`, '', '| metric | type | labels | stability | meaning |', '|---|---|---|---|---|');
    lines.push(...metrics.filter((metric) => sectionOf(metric) === title).map(row));
  }
  lines.push(...stability);
  for (const [name, why] of Object.entries(missing)) {
    lines.push(`| \`${name}\` | ${referenceMetrics[name]?.stability} | ${why} |`);
  }
  return `${lines.join('\n')}\n`;
}

it('docs/metrics.md is up to date', async () => {
  expect(metrics.filter((metric) => sectionOf(metric) === undefined)).toEqual([]);
  await expect(reference()).toMatchFileSnapshot('../../../docs/metrics.md');
});

it('has the STABLE and BETA metrics of the reference server, with its labels and buckets', () => {
  const byName = new Map(metrics.map((metric) => [metric.name, metric]));
  const absent = Object.keys(referenceMetrics).filter((name) => !byName.has(name));
  expect(absent.toSorted()).toEqual(Object.keys(missing).toSorted());
  for (const [name, expected] of Object.entries(referenceMetrics)) {
    const metric = byName.get(name);
    if (metric === undefined) continue;
    const buckets = 'buckets' in metric ? (metric.buckets as readonly number[]).map(boundText) : undefined;
    const shown = { type: metric.type, stability: metric.stability, labels: metric.labels.toSorted() };
    expect({ ...shown, buckets }, name).toEqual({ ...expected, buckets: expected.buckets });
  }
});

it('declares each metric once, with a name as Prometheus wants it', () => {
  const names = metrics.map(({ name }) => name);
  expect(names.length).toBeGreaterThan(90);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !/^[a-z][a-z0-9_]*$/.test(name))).toEqual([]);
  const own = metrics.filter(({ name }) => name.startsWith('orch_'));
  expect(own.filter(({ name, type }) => (type === 'counter') !== name.endsWith('_total'))).toEqual([]);
});

it('shows no labels but the declared ones', async () => {
  const { send, close } = await makeFixture();
  await send('GET', '/api/v1/namespaces/default/configmaps/absent');
  await send('POST', '/api/v1/namespaces?dryRun=All', { body: { metadata: { name: 'x' } } });
  const { text } = await send('GET', '/metrics');
  const declared = new Map(metrics.map((metric) => [metric.name, metric]));
  const unknown = new Set<string>();
  for (const [, sample = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? [^ ]+$/gm)) {
    const metric = declared.get(sample) ?? declared.get(sample.replace(/_(bucket|sum|count)$/, ''));
    const allowed = [...(metric?.labels ?? []), 'le'];
    for (const [, label = ''] of labels.matchAll(/(?:^|,)(\w+)="/g)) {
      if (!allowed.includes(label)) unknown.add(`${sample}{${label}}`);
    }
    if (metric === undefined) unknown.add(sample);
  }
  expect([...unknown]).toEqual([]);
  await close();
});
