import { BTree, type BTreeSnapshot, utf8Before } from '../btree/index.ts';
import { inTurns, type LabelRequirement, type Steps, serverTurns } from '../meta/index.ts';
import { unknownLabels } from './selection.ts';
import type { CachedObject } from './types.ts';

export interface LabelIndexLimits {
  /** States with fewer objects have no index. */
  readonly minObjects: number;
  /** How often the objects are searched for a label before it is indexed. */
  readonly minScans: number;
  /** Maximum number of indexed labels. */
  readonly maxLabels: number;
  /** Maximum size of all indexes of a resource (bytes). */
  readonly maxBytes: number;
}

const defaultLimits: LabelIndexLimits = { minObjects: 1_000, minScans: 16, maxLabels: 4, maxBytes: 32 * 1024 * 1024 };

/** Maximum number of labels whose searches are counted. */
const maxCounted = 64;
/** The memory that an entry takes in addition to its key (bytes). */
const entryOverhead = 96;
/** The number of objects that are indexed in one step. */
const objectsPerStep = 200;
/** An index is used when at most one object in so many has one of the values. */
const minSelectivity = 4;
/** Maximum number of entries of several values, which are sorted by the keys of their objects at once. */
const maxSorted = 1_000;

/** One object with the label, ordered by its value, then by its key. */
interface Entry {
  /** The value and the key of the object, separated by NUL. */
  readonly key: string;
  readonly objectKey: string;
}

/** The index of one label. */
interface Index {
  readonly entries: BTree<Entry>;
  /** Keys of objects that cannot be read, whose labels are unknown. */
  readonly unreadable: Set<string>;
  bytes: number;
  complete: boolean;
}

/** The complete indexes at one state, by label. */
export type IndexedLabels = ReadonlyMap<string, BTreeSnapshot<Entry>>;

const none: IndexedLabels = new Map();

/**
 * Indexes of the objects of a cache by the values of those labels for which they are often searched. An index is made in
 * turns and follows every change. It holds keys only, so a change that leaves its label alone costs nothing.
 */
export class LabelIndexes {
  readonly #current: () => BTree<CachedObject>;
  readonly #onComplete: () => void;
  readonly #limits: LabelIndexLimits;
  /** By label; the least recently used first. */
  readonly #indexes = new Map<string, Index>();
  /** How often the objects were searched for a label that has no index; the oldest first. */
  readonly #scans = new Map<string, number>();
  #bytes = 0;

  /** `current` returns the state that {@link change} has changed. `onComplete` is called after each new index is complete. */
  constructor(current: () => BTree<CachedObject>, onComplete: () => void, limits: Partial<LabelIndexLimits> = {}) {
    this.#current = current;
    this.#onComplete = onComplete;
    this.#limits = { ...defaultLimits, ...limits };
  }

  /** The number of indexed labels. */
  get size(): number {
    return this.#indexes.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The indexes of the current state. Takes constant time. */
  snapshot(): IndexedLabels {
    if (this.#indexes.size === 0) return none;
    const found = new Map<string, BTreeSnapshot<Entry>>();
    for (const [label, { entries, complete, unreadable }] of this.#indexes) {
      if (complete && unreadable.size === 0) found.set(label, entries.snapshot());
    }
    return found;
  }

  /** Follows the change of one object. */
  change(previous: CachedObject | undefined, current: CachedObject | undefined): void {
    for (const [label, index] of this.#indexes) {
      const before = previous && labelOf(previous, label);
      const after = current && labelOf(current, label);
      if (before !== after && previous !== undefined && before !== undefined) this.#remove(index, before, previous.key);
      if (current === undefined) index.unreadable.delete((previous as CachedObject).key);
      else this.#add(index, after, current, before !== after);
    }
    this.#limitBytes();
  }

  /** Forgets all indexes, because the state was replaced. */
  clear(): void {
    this.#indexes.clear();
    this.#bytes = 0;
  }

  /** Counts a search of all objects, and begins to index the labels that are searched for often. */
  searched(requirements: readonly LabelRequirement[]): void {
    if (this.#current().size < this.#limits.minObjects) return;
    for (const requirement of requirements) {
      const { key } = requirement;
      if (!isIndexable(requirement) || this.#indexes.has(key)) continue;
      const scans = (this.#scans.get(key) ?? 0) + 1;
      this.#scans.delete(key);
      if (scans >= this.#limits.minScans) this.#begin(key);
      else this.#scans.set(key, scans);
    }
    for (const oldest of this.#scans.keys()) {
      if (this.#scans.size <= maxCounted) break;
      this.#scans.delete(oldest);
    }
  }

  /** Marks the index of a label as used. */
  used(label: string): void {
    const index = this.#indexes.get(label);
    if (index === undefined) return;
    this.#indexes.delete(label);
    this.#indexes.set(label, index);
  }

  #begin(label: string): void {
    if (this.#indexes.size >= this.#limits.maxLabels) this.#dropOldest();
    const index: Index = { entries: new BTree(), unreadable: new Set(), bytes: 0, complete: false };
    this.#indexes.set(label, index);
    void inTurns(this.#fill(label, index), serverTurns());
  }

  /** Adds every object. One that changes before it is reached is added by its change, and again, which changes nothing. */
  *#fill(label: string, index: Index): Steps<void> {
    let after = '';
    for (let added = objectsPerStep; added === objectsPerStep; ) {
      yield;
      if (this.#indexes.get(label) !== index) return;
      added = 0;
      for (const object of this.#current().range('', after)) {
        this.#add(index, labelOf(object, label), object, true);
        after = object.key;
        if (++added === objectsPerStep) break;
      }
      this.#limitBytes();
    }
    index.complete = true;
    this.#onComplete();
  }

  #add(index: Index, value: string | undefined, object: CachedObject, isNew: boolean): void {
    const { key: objectKey, labels } = object;
    if (labels === unknownLabels) index.unreadable.add(objectKey);
    else index.unreadable.delete(objectKey);
    if (value === undefined || !isNew) return;
    const entry = { key: entryKey(value, objectKey), objectKey };
    if (index.entries.set(entry) === undefined) this.#count(index, entry, 1);
  }

  #remove(index: Index, value: string, objectKey: string): void {
    const entry = index.entries.delete(entryKey(value, objectKey));
    if (entry !== undefined) this.#count(index, entry, -1);
  }

  #count(index: Index, { key }: Entry, sign: 1 | -1): void {
    const bytes = sign * (key.length + entryOverhead);
    index.bytes += bytes;
    this.#bytes += bytes;
  }

  #limitBytes(): void {
    while (this.#bytes > this.#limits.maxBytes) this.#dropOldest();
  }

  #dropOldest(): void {
    for (const [label, { bytes }] of this.#indexes) {
      this.#indexes.delete(label);
      this.#bytes -= bytes;
      return;
    }
  }
}

/** The objects of a range that the requirements may select: no others match. */
export interface Candidates {
  readonly label: string;
  /** Their keys, in order. */
  readonly keys: Iterable<string>;
}

/**
 * The candidates below `prefix` and behind `after`, by the most selective index; undefined when a search of all `most`
 * objects of the range is no slower.
 */
export function candidatesOf(
  indexed: IndexedLabels,
  requirements: readonly LabelRequirement[],
  prefix: string,
  after: string | undefined,
  most: number,
): Candidates | undefined {
  let best: { readonly label: string; readonly ranges: readonly EntryRange[]; readonly count: number } | undefined;
  for (const requirement of requirements) {
    const entries = isIndexable(requirement) ? indexed.get(requirement.key) : undefined;
    if (entries === undefined) continue;
    const ranges = rangesOf(entries, requirement, prefix, after);
    const count = ranges.reduce((sum, range) => sum + range.count, 0);
    if (best === undefined || count < best.count) best = { label: requirement.key, ranges, count };
  }
  if (best === undefined || best.count * minSelectivity > most) return undefined;
  const { label, ranges, count } = best;
  const [first, second] = ranges.filter((range) => range.count > 0);
  if (second === undefined && first?.isOrdered !== false)
    return { label, keys: first === undefined ? [] : first.keys() };
  return count > maxSorted ? undefined : { label, keys: sortedKeys(ranges, prefix, after) };
}

/** Entries of an index. */
interface EntryRange {
  readonly count: number;
  /** Whether its keys are those of the objects of the range, in order. */
  readonly isOrdered: boolean;
  keys(): Iterable<string>;
}

function rangesOf(
  entries: BTreeSnapshot<Entry>,
  { operator, values }: LabelRequirement,
  prefix: string,
  after: string | undefined,
): EntryRange[] {
  if (operator === 'exists') {
    return [{ count: entries.count(''), isOrdered: false, keys: () => objectKeys(entries.range('')) }];
  }
  return values.map((value) => {
    const from = entryKey(value, prefix);
    const behind = after === undefined ? undefined : entryKey(value, after);
    return {
      count: entries.count(from, behind),
      isOrdered: true,
      keys: () => objectKeys(entries.range(from, behind)),
    };
  });
}

/** The keys of several ranges that are in the range of the objects, in order. */
function sortedKeys(ranges: readonly EntryRange[], prefix: string, after: string | undefined): string[] {
  const isInside = (key: string) => key.startsWith(prefix) && (after === undefined || utf8Before(after, key));
  const keys = new Set(ranges.flatMap((range) => [...range.keys()]).filter(isInside));
  return [...keys].sort((a, b) => (utf8Before(a, b) ? -1 : 1));
}

function* objectKeys(entries: Iterable<Entry>): Generator<string> {
  for (const { objectKey } of entries) yield objectKey;
}

const entryKey = (value: string, objectKey: string): string => `${value}\0${objectKey}`;

/** Maximum number of values that are looked up. */
const maxValues = 100;

const isIndexable = ({ operator, values }: LabelRequirement): boolean =>
  operator === 'exists' || ((operator === '=' || operator === '==' || operator === 'in') && values.length <= maxValues);

/** As selectors read it: inherited properties are never texts. */
function labelOf({ labels }: CachedObject, label: string): string | undefined {
  const value: unknown = labels[label];
  return typeof value === 'string' ? value : undefined;
}
