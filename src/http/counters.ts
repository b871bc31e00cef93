import { STATUS_CODES } from 'node:http';
import type { Registry } from '../registry/index.ts';
import type { InFlight } from './in-flight.ts';

/** Upper bounds of the histograms, as the field's dashboards expect them. */
export const durationBounds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
export const sizeBounds = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
export const admissionBounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

/** Requests of one kind: all that is counted about them. */
export interface Series {
  /** As they stand in the text form: `verb="GET",group="",…`. */
  readonly labels: string;
  /** Labels of the events that were sent; undefined for requests that are no watches. */
  readonly watched: string | undefined;
  /** By status code. Codes that HTTP does not register are counted together by their class: 5 for 599. */
  readonly codes: Map<number, number>;
  readonly duration: Distribution;
  readonly size: Distribution;
  watchEvents: number;
}

export interface Distribution {
  /** One more than there are bounds; not cumulative. */
  readonly counts: Float64Array;
  sum: number;
}

/** Steps of admission of one kind: of one plugin, or of all together. */
export interface AdmissionSeries {
  readonly labels: string;
  readonly plugin: boolean;
  readonly seconds: Distribution;
}

/** Everything that was counted, for the text. */
export interface Counted {
  readonly series: ReadonlyMap<string, Series>;
  readonly authentication: ReadonlyMap<string, number>;
  readonly authorization: ReadonlyMap<string, number>;
  readonly admission: ReadonlyMap<string, AdmissionSeries>;
  /** What declared rules did that they should not do. */
  readonly rules: { readonly mismatches: number; readonly failures: number };
  readonly inFlight: InFlight;
  readonly registry: () => Registry;
  /** Seconds since 1970. */
  readonly startTime: number;
}

/** Counts one answered request. `size` in bytes; undefined for a watch. */
export function countRequest(series: Series, code: number, seconds: number, size: number | undefined): void {
  const known = code in STATUS_CODES ? code : Math.trunc(code / 100);
  series.codes.set(known, (series.codes.get(known) ?? 0) + 1);
  observe(series.duration, durationBounds, seconds);
  if (size !== undefined) observe(series.size, sizeBounds, size);
}

/** Counts one value. */
export function observe(distribution: Distribution, bounds: readonly number[], value: number): void {
  let i = 0;
  while (i < bounds.length && value > (bounds[i] as number)) i++;
  distribution.counts[i] = (distribution.counts[i] as number) + 1;
  distribution.sum += value;
}

/** With nothing counted yet. */
export const distribution = (bounds: readonly number[]): Distribution => ({
  counts: new Float64Array(bounds.length + 1),
  sum: 0,
});

/** Labels as they stand in the text form. */
export const labelText = (labels: { readonly [label: string]: string }): string =>
  Object.entries(labels)
    .map(
      ([label, value]) => `${label}="${value.replace(/["\\\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`))}"`,
    )
    .join(',');
