/** A histogram. */
export interface Distribution {
  /** One more than the bounds, for `+Inf`; not cumulative. */
  readonly counts: Float64Array;
  sum: number;
}

/** Observes a value. */
export function observe(distribution: Distribution, bounds: readonly number[], value: number): void {
  let i = 0;
  while (i < bounds.length && value > (bounds[i] as number)) i++;
  distribution.counts[i] = (distribution.counts[i] as number) + 1;
  distribution.sum += value;
}

/** An empty histogram. */
export const distribution = (bounds: readonly number[]): Distribution => ({
  counts: new Float64Array(bounds.length + 1),
  sum: 0,
});

/** How many values were observed. */
export const totalOf = ({ counts }: Distribution): number => counts.reduce((sum, count) => sum + count, 0);

/** Labels in the text format. */
export const labelText = (labels: { readonly [label: string]: string }): string =>
  Object.entries(labels)
    .map(
      ([label, value]) => `${label}="${value.replace(/["\\\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`))}"`,
    )
    .join(',');
