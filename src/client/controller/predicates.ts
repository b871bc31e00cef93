import { parseLabelSelector } from '../../meta/index.ts';
import type { TypedObject } from '../kinds/kind.ts';

/** A change of an object: `old` is undefined for a new object, `object` for a deleted one. */
export interface ObjectChange<T extends TypedObject> {
  readonly object: T | undefined;
  readonly old: T | undefined;
  /** Whether the client of the controller wrote this state. */
  readonly own: boolean;
}

/** Returns whether a change is a reason to reconcile. Must not throw. */
export type Predicate<T extends TypedObject> = (change: ObjectChange<T>) => boolean;

interface Watched {
  readonly generation?: unknown;
  readonly deletionTimestamp?: unknown;
  readonly labels?: { readonly [name: string]: string };
}
const metadataOf = (object: TypedObject | undefined): Watched => (object?.metadata ?? {}) as Watched;

/** Predicates for `startController`. */
export const predicates = {
  /** Selects objects that are created, deleted or being deleted, and changes of their spec; not changes of the status alone. */
  generationChanged: ({ object, old }: ObjectChange<TypedObject>): boolean => {
    if (object === undefined || old === undefined) return true;
    const [now, before] = [metadataOf(object), metadataOf(old)];
    // Without a generation every change counts.
    return (
      now.generation === undefined ||
      now.generation !== before.generation ||
      now.deletionTimestamp !== before.deletionTimestamp
    );
  },
  /** Selects changes that other clients have written. */
  notOwn: ({ own }: ObjectChange<TypedObject>): boolean => !own,
  /** Selects objects whose labels match before or after the change. @throws StatusError 400 for an invalid selector */
  labelsMatch: (labelSelector: string): Predicate<TypedObject> => {
    const selector = parseLabelSelector(labelSelector);
    const matches = (one: TypedObject | undefined) =>
      one !== undefined && selector.matches(metadataOf(one).labels ?? {});
    return ({ object, old }) => matches(object) || matches(old);
  },
};

/** Maximum number of pending changes of one object. */
const maxChanges = 64;
/** Maximum number of remembered writes of the client. */
const maxWritten = 1_024;

/** Collects the changes of objects since their last reconcile and decides whether to reconcile again. */
export class ChangeFilter<T extends TypedObject> {
  readonly #predicates: readonly Predicate<T>[];
  readonly #changes = new Map<string, Omit<ObjectChange<T>, 'own'>[]>();
  /** Keys to reconcile whatever the predicates say. */
  readonly #forced = new Set<string>();
  /** When a key is due again, unless it changes before (ms, monotonic). */
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

  /** Records that the client has written the object. */
  wrote(object: TypedObject): void {
    this.#written.add(versionOf(object));
    for (const oldest of this.#written) {
      if (this.#written.size <= maxWritten) return;
      this.#written.delete(oldest);
    }
  }

  /** Returns whether to reconcile the key now, and drops its changes. */
  take(key: string, now: number): boolean {
    const changes = this.#changes.get(key);
    const due = this.#due.get(key);
    const forced = this.#forced.delete(key);
    this.#changes.delete(key);
    // A key without changes is a retry, or due.
    if (forced || changes === undefined || (due !== undefined && due <= now)) return true;
    return changes.some(({ object, old }) => {
      const own = object !== undefined && this.#written.has(versionOf(object));
      return this.#predicates.every((holds) => holds({ object, old, own }));
    });
  }

  /** Records when the reconciled key is due again; undefined when only a change makes it due. */
  setDue(key: string, until: number | undefined): void {
    if (until === undefined) this.#due.delete(key);
    else this.#due.set(key, until);
  }
}

const versionOf = ({ metadata: { uid = '', resourceVersion = '' } = {} }: TypedObject): string =>
  `${uid} ${resourceVersion}`;
