/** The series of metrics: one label set each. */

export type Labels = { readonly [label: string]: string };

/** Labels in the text format. */
export const labelText = (labels: Labels): string =>
  Object.entries(labels)
    .map(
      ([label, value]) => `${label}="${value.replace(/["\\\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`))}"`,
    )
    .join(',');

/** The labels of a sample in the text format. */
export const parseLabels = (text: string): Labels =>
  Object.fromEntries(
    [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', value = '']) => [
      label,
      value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped)),
    ]),
  );

/** A sample in the text format. */
export const sampleLine = (name: string, labels: string, value: number): string =>
  labels === '' ? `${name} ${value}\n` : `${name}{${labels}} ${value}\n`;

/** One label set of a counter or gauge. */
export class Value {
  value = 0;
  readonly labels: string;

  constructor(labels: string) {
    this.labels = labels;
  }
}

/** One label set of a histogram. */
export class Distribution {
  readonly labels: string;
  readonly #buckets: readonly number[];
  /** One more than the buckets, for `+Inf`; not cumulative. */
  readonly #counts: number[];
  #sum = 0;

  constructor(labels: string, buckets: readonly number[]) {
    this.labels = labels;
    this.#buckets = buckets;
    // A typed array of this size would be an allocation of its own outside of the heap.
    this.#counts = Array<number>(buckets.length + 1).fill(0);
  }

  /** Counts a value, `times` times. */
  observe(value: number, times = 1): void {
    const buckets = this.#buckets;
    let i = 0;
    while (i < buckets.length && value > (buckets[i] as number)) i++;
    this.#counts[i] = (this.#counts[i] as number) + times;
    this.#sum += value * times;
  }

  /** The number of observed values. */
  get count(): number {
    return this.#counts.reduce((total, count) => total + count, 0);
  }

  /** Cumulative buckets, sum and count. */
  lines(name: string): string {
    const start = `${name}_bucket{${this.labels === '' ? '' : `${this.labels},`}le="`;
    let text = '';
    let total = 0;
    this.#counts.forEach((count, i) => {
      total += count;
      text += `${start}${this.#buckets[i] ?? '+Inf'}"} ${total}\n`;
    });
    return text + sampleLine(`${name}_sum`, this.labels, this.#sum) + sampleLine(`${name}_count`, this.labels, total);
  }
}
