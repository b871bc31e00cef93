/** Metrics in the text format of Prometheus. */

export interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** The samples of the metrics with these names. */
export function samplesOf(text: string, names: ReadonlySet<string>): Sample[] {
  const samples: Sample[] = [];
  for (const row of text.split('\n')) {
    const [, name = '', labels = '', value = ''] = line.exec(row) ?? [];
    if (!names.has(name)) continue;
    const pairs = [...labels.matchAll(label)].map(([, key = '', quoted = '']) => [key, quoted] as const);
    samples.push({ name, labels: new Map(pairs), value: Number(value === '+Inf' ? Number.POSITIVE_INFINITY : value) });
  }
  return samples;
}

/** The sums of the values of a metric by one of its labels. */
export function sumsBy(samples: readonly Sample[], name: string, by: string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const sample of samples) {
    if (sample.name !== name) continue;
    const key = sample.labels.get(by) ?? '';
    sums.set(key, (sums.get(key) ?? 0) + sample.value);
  }
  return sums;
}

/**
 * A quantile of what a histogram counted between two scrapes, interpolated within its bucket; undefined: nothing was
 * counted. The maps have the cumulative counts by the upper bound of each bucket.
 */
export function quantileBetween(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  quantile: number,
): number | undefined {
  const buckets = [...after]
    .map(([bound, count]) => ({
      bound: bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound),
      count: count - (before.get(bound) ?? 0),
    }))
    .sort((a, b) => a.bound - b.bound);
  const rank = quantile * (buckets.at(-1)?.count ?? 0);
  if (rank <= 0) return undefined;
  let below = { bound: 0, count: 0 };
  for (const bucket of buckets) {
    if (bucket.count >= rank) {
      if (bucket.bound === Number.POSITIVE_INFINITY) return below.bound;
      const share = (rank - below.count) / (bucket.count - below.count);
      return below.bound + share * (bucket.bound - below.bound);
    }
    below = bucket;
  }
  return below.bound;
}
