/** Counters with labels, and when each was last counted. */
class LabelledCounts {
  readonly #counts = new Map<string, LabelledCount>();
  readonly #most: number;

  /** `most`: maximum number of label sets; when there are more, all counts start from zero. */
  constructor(most: number) {
    this.#most = most;
  }

  /** `now`: milliseconds since 1970. */
  add(labels: Labels, now = 0): void {
    const id = JSON.stringify(labels);
    let found = this.#counts.get(id);
    if (found === undefined) {
      if (this.#counts.size >= this.#most) this.#counts.clear();
      found = { labels, value: 0, seconds: 0 };
      this.#counts.set(id, found);
    }
    found.value++;
    found.seconds = now / 1000;
  }

  all(): Iterable<Readonly<LabelledCount>> {
    return this.#counts.values();
  }
}

type Labels = { readonly [label: string]: string };

interface LabelledCount {
  readonly labels: Labels;
  value: number;
  /** When it was last counted: seconds since 1970. */
  seconds: number;
}

/** Counters of encryption at rest. */
export interface EncryptionCounts {
  /** Encryptions and decryptions of values. */
  readonly transformations: LabelledCounts;
  /** Reloads of the configuration file, by outcome. */
  readonly reloads: LabelledCounts;
  /** Values that KMS plugins have the keys of, by the hash of the key ID. */
  readonly keyIds: LabelledCounts;
  /** Key IDs that KMS plugins tell in their status. */
  readonly statuses: LabelledCounts;
  /** The name of each KMS plugin, and how many keys that it has decrypted are in memory. */
  keySources: () => Iterable<readonly [string, number]>;
  /** The hash of the configuration in use; empty without one. */
  configurationHash: string;
}

/** More than there are resources, providers and outcomes in practice. */
const mostSeries = 5_000;

export const emptyEncryptionCounts = (): EncryptionCounts => ({
  transformations: new LabelledCounts(mostSeries),
  reloads: new LabelledCounts(mostSeries),
  keyIds: new LabelledCounts(mostSeries),
  statuses: new LabelledCounts(mostSeries),
  keySources: () => [],
  configurationHash: '',
});
