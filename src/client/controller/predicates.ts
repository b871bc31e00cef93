import { parseLabelSelector } from '../../meta/index.ts';
import type { TypedObject } from '../kinds/kind.ts';

/** A change of an object: without `old` it is new, without `object` it has been deleted. */
export interface ObjectChange<T extends TypedObject> {
  readonly object: T | undefined;
  readonly old: T | undefined;
  /** The client of the controller has written it. */
  readonly own: boolean;
}

/** Whether a change is a reason to reconcile. It must not throw. */
export type Predicate<T extends TypedObject> = (change: ObjectChange<T>) => boolean;

interface Watched {
  readonly generation?: unknown;
  readonly deletionTimestamp?: unknown;
  readonly labels?: { readonly [name: string]: string };
}
const metadataOf = (object: TypedObject | undefined): Watched => (object?.metadata ?? {}) as Watched;

/** Predicates for `startController`. */
export const predicates = {
  /** Objects that are new or gone, are being deleted, or have a changed specification: not what changes the status alone. */
  generationChanged: ({ object, old }: ObjectChange<TypedObject>): boolean => {
    if (object === undefined || old === undefined) return true;
    const [now, before] = [metadataOf(object), metadataOf(old)];
    // Kinds that count no generations change as a whole.
    return (
      now.generation === undefined ||
      now.generation !== before.generation ||
      now.deletionTimestamp !== before.deletionTimestamp
    );
  },
  /** What others than the client of the controller have written. */
  notOwn: ({ own }: ObjectChange<TypedObject>): boolean => !own,
  /** Objects with labels that the selector matches, before the change or after it. @throws StatusError 400 for no selector */
  labelsMatch: (labelSelector: string): Predicate<TypedObject> => {
    const selector = parseLabelSelector(labelSelector);
    const matches = (one: TypedObject | undefined) =>
      one !== undefined && selector.matches(metadataOf(one).labels ?? {});
    return ({ object, old }) => matches(object) || matches(old);
  },
};

/** The changes of an object that wait for their reconcile, at most. */
const maxChanges = 64;
/** The last writes that are remembered. */
const maxWritten = 1_024;

/** The changes of objects since they were reconciled, and whether they are a reason to do so again. */
export class ChangeFilter<T extends TypedObject> {
  readonly #predicates: readonly Predicate<T>[];
  readonly #changes = new Map<string, Omit<ObjectChange<T>, 'own'>[]>();
  /** Those to be reconciled for other reasons. */
  readonly #forced = new Set<string>();
  /** Until when they rest unless something changes (ms, monotonic). */
  readonly #due = new Map<string, number>();
  readonly #written = new Set<string>();

  constructor(predicates: readonly Predicate<T>[]) {
    this.#predicates = predicates;
  }

  changed(key: string, object: T | undefined, old: T | undefined): void {
    const changes = this.#changes.get(key) ?? [];
    changes.push({ object, old });
    this.#changes.set(key, changes);
    if (changes.length > maxChanges) this.force(key);
  }

  force(key: string): void {
    this.#changes.delete(key);
    this.#forced.add(key);
  }

  /** The client has written the object. */
  wrote(object: TypedObject): void {
    this.#written.add(versionOf(object));
    for (const oldest of this.#written) {
      if (this.#written.size <= maxWritten) return;
      this.#written.delete(oldest);
    }
  }

  /** Whether the object of the key is to be reconciled now. Its changes are forgotten. */
  take(key: string, now: number): boolean {
    const changes = this.#changes.get(key);
    const due = this.#due.get(key);
    const forced = this.#forced.delete(key);
    this.#changes.delete(key);
    // Without a change it is a retry, or due.
    if (forced || changes === undefined || (due !== undefined && due <= now)) return true;
    return changes.some(({ object, old }) => {
      const own = object !== undefined && this.#written.has(versionOf(object));
      return this.#predicates.every((holds) => holds({ object, old, own }));
    });
  }

  /** It was reconciled, and rests until then; undefined: until something changes. */
  rests(key: string, until: number | undefined): void {
    if (until === undefined) this.#due.delete(key);
    else this.#due.set(key, until);
  }
}

const versionOf = ({ metadata: { uid = '', resourceVersion = '' } = {} }: TypedObject): string =>
  `${uid} ${resourceVersion}`;
