/** Which metrics a server shows, and which values their labels may have. */
import { isSince, parseRelease, type Release, type ReleaseText } from '../../meta/index.ts';
import type { Metric, Scrape, Stability } from './metric.ts';
import { type Labels, labelText, parseLabels, sampleLine } from './series.ts';

/** The values that labels may have, by metric and label. */
export type AllowedLabels = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

export interface MetricSettings {
  readonly release: Release;
  /** Whether metrics are shown that are hidden since this release. */
  readonly showHidden: boolean;
  readonly disabled: ReadonlySet<string>;
  readonly allowedLabels: AllowedLabels;
}

/** For how many releases a deprecated metric is still shown (specification, rule 11b). */
const releasesShown: { readonly [stability in Stability]: number } = { STABLE: 3, BETA: 1, ALPHA: 0 };

/** How a deprecated metric is shown: as before, hidden unless the settings show it, or no longer. */
export type Visibility = 'shown' | 'hidden' | 'deleted';

/** The visibility of a metric in a release. It is hidden in one release, and deleted in the next one. */
export function visibilityOf(
  { stability, deprecated }: { readonly stability?: Stability; readonly deprecated?: ReleaseText },
  release: Release,
): Visibility {
  if (deprecated === undefined || stability === undefined) return 'shown';
  const { major, minor } = parseRelease(deprecated);
  const hides = minor + releasesShown[stability];
  if (isSince(release, `${major}.${hides + 1}`)) return 'deleted';
  return isSince(release, `${major}.${hides}`) ? 'hidden' : 'shown';
}

export interface VisibleMetrics {
  readonly shown: readonly Metric[];
  readonly hidden: number;
  readonly disabled: number;
  /** How many samples of each scrape have a value of a label that is not allowed, in the metrics shown so far. */
  readonly unexpected: () => number;
}

/** The metrics that the settings show, their labels limited to the allowed values. */
export function visibleMetrics(
  all: readonly Metric[],
  { release, showHidden, disabled, allowedLabels }: MetricSettings,
): VisibleMetrics {
  const visibility = ({ declaration }: Metric) => visibilityOf(declaration, release);
  const isOff = ({ declaration }: Metric) => disabled.has(declaration.name);
  const hidden = all.filter((metric) => visibility(metric) === 'hidden');
  const visible = all.filter((metric) => visibility(metric) === 'shown' || (showHidden && hidden.includes(metric)));
  const counts = new Map<Metric, number>();
  const shown = visible
    .filter((metric) => !isOff(metric))
    .map((metric) => {
      const allowed = allowedLabels.get(metric.declaration.name);
      return allowed === undefined ? metric : limited(metric, allowed, (count) => counts.set(metric, count));
    });
  return {
    shown,
    hidden: hidden.length,
    disabled: all.filter(isOff).length,
    unexpected: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
  };
}

/** The label that replaces a value that is not allowed. */
const unexpected = 'unexpected';

/** A metric whose labels have the allowed values only: the samples of all other values are added up. */
function limited(
  metric: Metric,
  allowed: ReadonlyMap<string, ReadonlySet<string>>,
  count: (unexpectedValues: number) => void,
): Metric {
  return {
    declaration: metric.declaration,
    type: metric.type,
    *lines(scrape: Scrape) {
      const sums = new Map<string, { readonly name: string; readonly labels: string; value: number }>();
      let unexpectedValues = 0;
      for (const text of metric.lines(scrape)) {
        for (const [, name = '', shown = '', value = ''] of text.matchAll(samplePattern)) {
          const labels = limitedLabels(parseLabels(shown), allowed);
          if (labels.isUnexpected && name === countedName(metric)) unexpectedValues += Number(value);
          const key = `${name}{${labels.text}`;
          const sum = sums.get(key);
          if (sum === undefined) sums.set(key, { name, labels: labels.text, value: Number(value) });
          else sum.value += Number(value);
        }
      }
      count(unexpectedValues);
      for (const { name, labels, value } of sums.values()) yield sampleLine(name, labels, value);
    },
  };
}

const samplePattern = /^(\w+)(?:\{(.*)\})? (\S+)$/gm;

/** The samples of a metric that count its observations. */
const countedName = ({ type, declaration: { name } }: Metric): string =>
  type === 'histogram' ? `${name}_count` : name;

function limitedLabels(labels: Labels, allowed: ReadonlyMap<string, ReadonlySet<string>>) {
  let isUnexpected = false;
  const entries = Object.entries(labels).map(([label, value]) => {
    if (allowed.get(label)?.has(value) !== false) return [label, value] as const;
    isUnexpected = true;
    return [label, unexpected] as const;
  });
  return { text: labelText(Object.fromEntries(entries)), isUnexpected };
}
