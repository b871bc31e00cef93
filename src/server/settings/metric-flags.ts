import type { AllowedLabels, MetricSettings } from '../../http/index.ts';
import { apiRelease, formatRelease, isJsonObject } from '../../meta/index.ts';
import { StartError } from '../start-error.ts';
import { type ConfigurationDocument, readYaml } from './configuration-file.ts';
import { flag, type SettingsOf } from './flag.ts';
import type { FlagType } from './flag-types.ts';
import * as type from './flag-types.ts';
import { type ReleaseSettings, servedReleases } from './release-flags.ts';

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

const nameProblem = (name: string): string | undefined =>
  metricName.test(name) ? undefined : `must be names of metrics; ${JSON.stringify(name)} is not`;

const keyProblem = (key: string) =>
  `must have keys <metric>,<label>, such as apiserver_request_total,verb; ${JSON.stringify(key)} is not`;

/** Allowed values by `<metric>,<label>`. */
type Entries = ReadonlyMap<string, readonly string[]>;

/** `metric,label=value,value…`, one after the other: the word before a label is its metric. */
const labelEntries: FlagType<Entries> = {
  placeholder: 'metric,label=value,…',
  optionType: '{ readonly [metricAndLabel: string]: string } | string',
  form: "Values by metric and label, or a text such as 'apiserver_request_total,verb=GET,LIST'.",
  joins: true,
  parse: (value) => {
    const entries = new Map<string, string[]>();
    const words = value.split(',');
    let values: string[] | undefined;
    for (const [i, word] of words.entries()) {
      const [label = '', first] = word.split(/=(.*)/s);
      if (first !== undefined) {
        const metric = words[i - 1] ?? '';
        const key = `${metric},${label}`;
        if (!metricName.test(metric) || !labelName.test(label)) return { problem: keyProblem(key) };
        values = entries.get(key) ?? [];
        values.push(first);
        entries.set(key, values);
      } else if (words[i + 1]?.includes('=') !== true) {
        // Not the metric of the next label, but a value.
        if (values === undefined) return { problem: keyProblem(word) };
        values.push(word);
      }
    }
    return { value: entries };
  },
  format: (entries) => [...entries].map(([key, values]) => `${key}=${values.join(',')}`).join(','),
};

const names = type.texts('metric', nameProblem);
const metricNames: FlagType<readonly string[]> = {
  ...names,
  parse: (value) => (value === '' ? { value: [] } : names.parse(value)),
};

/** The flags of metrics. */
export const metricFlags = {
  showHiddenMetricsForVersion: flag(
    'Process',
    type.releaseBefore(apiRelease),
    undefined,
    `Also shows the metrics that are hidden since release ${formatRelease(apiRelease)}. Must be the previous minor release ([metrics.md](metrics.md#stability)).`,
  ),
  disabledMetrics: flag('Process', metricNames, [], 'Metrics that are not shown.'),
  allowMetricLabels: flag(
    'Process',
    labelEntries,
    new Map(),
    'Allowed values of labels of metrics: samples with another value are added up with the value `unexpected`. May be repeated.',
  ),
  allowMetricLabelsManifest: flag(
    'Process',
    type.file,
    undefined,
    'YAML file with a map of the same form: `apiserver_request_total,verb: "GET,LIST"`. `--allow-metric-labels` takes precedence.',
  ),
};

/** Which metrics are shown, and which values their labels may have. @throws StartError */
export async function metricSettings(
  settings: SettingsOf<typeof metricFlags> & ReleaseSettings,
): Promise<MetricSettings> {
  const { showHiddenMetricsForVersion, disabledMetrics, allowMetricLabels, allowMetricLabelsManifest: path } = settings;
  const manifest =
    path === undefined
      ? new Map<string, string[]>()
      : readManifest(await readYaml('--allow-metric-labels-manifest', path));
  return {
    release: servedReleases(settings).emulated,
    showHidden: showHiddenMetricsForVersion !== undefined,
    disabled: new Set(disabledMetrics),
    allowedLabels: byMetric(new Map([...manifest, ...allowMetricLabels])),
  };
}

function readManifest({ value: content, where }: ConfigurationDocument): Entries {
  const wrong = (problem: string) => new StartError(`${where} ${problem}`);
  if (content === null) return new Map();
  if (!isJsonObject(content)) throw wrong('must hold a map, such as apiserver_request_total,verb: "GET,LIST"');
  return new Map(
    Object.entries(content).map(([key, values]) => {
      const [metric = '', label = '', ...more] = key.split(',');
      if (!metricName.test(metric) || !labelName.test(label) || more.length > 0) throw wrong(keyProblem(key));
      if (typeof values !== 'string') throw wrong(`must have texts as values; that of ${key} is not`);
      return [key, values.split(',')];
    }),
  );
}

function byMetric(entries: Entries): AllowedLabels {
  const metrics = new Map<string, Map<string, ReadonlySet<string>>>();
  for (const [key, values] of entries) {
    const [metric = '', label = ''] = key.split(',');
    const labels = metrics.get(metric) ?? new Map<string, ReadonlySet<string>>();
    metrics.set(metric, labels.set(label, new Set(values)));
  }
  return metrics;
}
