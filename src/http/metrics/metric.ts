/** Metrics in the text format of Prometheus. A metric is declared once, where its series are counted. */
import type { ReleaseText } from '../../meta/index.ts';
import type { ProcessUsage } from './process-usage.ts';
import { Distribution, type Labels, labelText, sampleLine, Value } from './series.ts';

/** The state that is read once for each scrape. */
export interface Scrape {
  readonly usage: ProcessUsage;
  /** The size of the store on disk (bytes). Undefined: it is in memory, or the size is unknown. */
  readonly storeBytes: number | undefined;
  readonly storeWritable: boolean;
}

export type Stability = 'ALPHA' | 'BETA' | 'STABLE';

export interface Declaration {
  readonly name: string;
  /** The stability level; absent for metrics of the process. */
  readonly stability?: Stability;
  /** The release in which it is deprecated, which decides how long it is shown ({@link visibilityOf}). */
  readonly deprecated?: ReleaseText;
  readonly help: string;
  /**
   * How the values of the workers of a server make that of the server: `one` where each has the same value. Default: their
   * sum.
   */
  readonly across?: 'sum' | 'max' | 'one';
  /** The names of its labels, `le` aside. A series may lack some of them. Default: none. */
  readonly labels?: readonly string[];
}

export type MetricType = 'counter' | 'gauge' | 'histogram';

/** A declared metric with the values of all its series. */
export interface Metric {
  readonly declaration: Declaration;
  readonly type: MetricType;
  /** The lines of each series. */
  lines(scrape: Scrape): Iterable<string>;
}

/** The lines before the series of a metric. */
export function metricHeader({ type, declaration: { name, stability, deprecated, help } }: Metric): string {
  const level = stability === undefined ? '' : `[${stability}] `;
  const end = deprecated === undefined ? '' : `(Deprecated since ${deprecated}.0) `;
  return `# HELP ${name} ${level}${end}${help}\n# TYPE ${name} ${type}\n`;
}

/** A counter, or a gauge that is set where its state changes. Look series up once, and keep them. */
export class ValueMetric implements Metric {
  readonly declaration: Declaration;
  readonly type: MetricType;
  readonly #series = new Map<string, Value>();

  constructor(type: 'counter' | 'gauge', declaration: Declaration) {
    this.declaration = declaration;
    this.type = type;
  }

  /** The series of a label set, which is created with the value 0. `labels`: also in the text format. */
  series(labels: Labels | string = ''): Value {
    const text = typeof labels === 'string' ? labels : labelText(labels);
    let series = this.#series.get(text);
    if (series === undefined) {
      series = new Value(text);
      this.#series.set(text, series);
    }
    return series;
  }

  /** Forgets one series. What is counted in it is not shown any more. */
  forget({ labels }: Value): void {
    this.#series.delete(labels);
  }

  /** Forgets all series. */
  clear(): void {
    this.#series.clear();
  }

  *lines(): Generator<string> {
    for (const { labels, value } of this.#series.values()) yield sampleLine(this.declaration.name, labels, value);
  }
}

export interface HistogramDeclaration extends Declaration {
  /** Upper bounds, in ascending order. */
  readonly buckets: readonly number[];
  /** Shows an empty series without labels while there is no series. */
  readonly showsEmptySeries?: true;
}

/** A histogram. Look series up once, and keep them. */
export class Histogram implements Metric {
  readonly declaration: HistogramDeclaration;
  readonly type = 'histogram';
  readonly #series = new Map<string, Distribution>();

  constructor(declaration: HistogramDeclaration) {
    this.declaration = declaration;
  }

  /** The series of a label set, which is created empty. `labels`: also in the text format. */
  series(labels: Labels | string = ''): Distribution {
    const text = typeof labels === 'string' ? labels : labelText(labels);
    let series = this.#series.get(text);
    if (series === undefined) {
      series = new Distribution(text, this.declaration.buckets);
      this.#series.set(text, series);
    }
    return series;
  }

  /** Forgets one series. What is observed in it is not shown any more. */
  forget({ labels }: Distribution): void {
    this.#series.delete(labels);
  }

  /** Forgets all series. */
  clear(): void {
    this.#series.clear();
  }

  *lines(): Generator<string> {
    const { name, buckets, showsEmptySeries } = this.declaration;
    if (this.#series.size === 0 && showsEmptySeries === true) yield new Distribution('', buckets).lines(name);
    for (const series of this.#series.values()) yield series.lines(name);
  }
}

/** A sample of a metric that is read on a scrape. `labels`: also in the text format. */
export type Sample = readonly [labels: Labels | string, value: number];

export interface ObservableDeclaration extends Declaration {
  readonly type: 'counter' | 'gauge';
  /** Reads all samples from the part of the server that has the state. */
  readonly read: (scrape: Scrape) => Iterable<Sample>;
}

export interface ObservableHistogramDeclaration extends Declaration {
  readonly read: (scrape: Scrape) => Iterable<Distribution>;
}

/** The metrics of a server, in the order in which they are declared. */
export class MetricSet {
  readonly all: Metric[] = [];

  counter(declaration: Declaration): ValueMetric {
    return this.#add(new ValueMetric('counter', declaration));
  }

  gauge(declaration: Declaration): ValueMetric {
    return this.#add(new ValueMetric('gauge', declaration));
  }

  histogram(declaration: HistogramDeclaration): Histogram {
    return this.#add(new Histogram(declaration));
  }

  /** A counter or gauge whose values are read on a scrape. */
  observable({ type, read, ...declaration }: ObservableDeclaration): void {
    const { name } = declaration;
    this.#add({
      declaration,
      type,
      *lines(scrape) {
        for (const [labels, value] of read(scrape)) {
          yield sampleLine(name, typeof labels === 'string' ? labels : labelText(labels), value);
        }
      },
    });
  }

  /** A histogram whose series are read on a scrape. */
  observableHistogram({ read, ...declaration }: ObservableHistogramDeclaration): void {
    this.#add({
      declaration,
      type: 'histogram',
      *lines(scrape) {
        for (const series of read(scrape)) yield series.lines(declaration.name);
      },
    });
  }

  /** Adds metrics that were declared earlier. */
  include({ all }: MetricSet): void {
    for (const metric of all) this.all.push(metric);
  }

  #add<T extends Metric>(metric: T): T {
    this.all.push(metric);
    return metric;
  }
}

/** Buckets that begin with a bound, each of which is `factor` times the one before, with the rounding of each step. */
export function exponentialBuckets(first: number, factor: number, count: number): number[] {
  const buckets = [first];
  while (buckets.length < count) buckets.push((buckets.at(-1) as number) * factor);
  return buckets;
}

/** Buckets for the duration of requests (seconds). */
export const requestBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];

/** Buckets for the evaluation of match conditions (seconds). */
export const conditionBuckets = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];

/** Buckets from one millisecond, each twice the one before (seconds). */
export const millisecondBuckets = exponentialBuckets(1, 2, 15).map((ms) => ms / 1_000);
