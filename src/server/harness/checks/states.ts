import type { History, Item, Selection } from './history.ts';
import { sameObject } from './objects.ts';

/** The state of a key from one revision to its next change. */
export interface State {
  readonly key: string;
  /** The revision of the change that led to it; 0: from the beginning. */
  readonly from: number;
  /** The revision of the change that ended it; infinite for the last one. */
  readonly to: number;
  /** Undefined: absent. */
  readonly object: Item | undefined;
  readonly before: State | undefined;
}

type Building = { -readonly [F in keyof State]: State[F] };

/** The journal by key, revision and uid. */
export class States {
  /** See `unmarked` of {@link History}. */
  readonly marked: boolean;
  /** The state after each change, in the order of revisions. */
  readonly changes: readonly State[];
  readonly #byKey = new Map<string, Building[]>();
  readonly #deletions = new Map<string, State>();

  constructor({ journal, unmarked }: Pick<History, 'journal' | 'unmarked'>) {
    this.marked = unmarked !== true;
    this.changes = journal.map(({ key, revision, object }) => {
      const states = this.#statesOf(key);
      const before = states.at(-1) as Building;
      before.to = revision;
      const state: Building = { key, from: revision, to: Number.POSITIVE_INFINITY, object, before };
      states.push(state);
      if (object === undefined && before.object !== undefined) this.#deletions.set(before.object.metadata.uid, state);
      return state;
    });
  }

  /** Whether two objects are the same, as far as the history can tell. */
  same(a: Item, b: Item): boolean {
    return this.marked ? sameObject(a, b) : a.metadata.uid === b.metadata.uid;
  }

  /** All states of a key in their order; the first one is its absence at the beginning. */
  of(key: string): readonly State[] {
    return this.#statesOf(key);
  }

  /** The state that a key had at a revision. */
  at(key: string, revision: number): State {
    const states = this.#statesOf(key);
    return states[lastIndex(states, ({ from }) => from <= revision)] as State;
  }

  /** The state after the deletion of the object with a uid. */
  deletion(uid: string): State | undefined {
    return this.#deletions.get(uid);
  }

  /** The selected objects at a revision, in the order of their keys. */
  listed(selection: Selection, revision: number): State[] {
    return [...this.#byKey.keys()]
      .sort()
      .map((key) => this.at(key, revision))
      .filter((state) => isSelected(selection, state));
  }

  /** Index in `changes` of the first change after a revision. */
  indexAfter(revision: number): number {
    return lastIndex(this.changes, ({ from }) => from <= revision) + 1;
  }

  #statesOf(key: string): Building[] {
    let states = this.#byKey.get(key);
    if (states === undefined) {
      states = [{ key, from: 0, to: Number.POSITIVE_INFINITY, object: undefined, before: undefined }];
      this.#byKey.set(key, states);
    }
    return states;
  }
}

/** Whether a key is one of a selection, whatever it holds. */
function isWithin({ resource, namespace }: Selection, key: string): boolean {
  return key.startsWith(namespace === undefined ? `${resource}/` : `${resource}/${namespace}/`);
}

/** Whether an object is there, and selected. */
export function isSelected(selection: Selection, { key, object }: State): boolean {
  if (object === undefined || !isWithin(selection, key)) return false;
  const { tier, matches } = selection;
  return (tier === undefined || object.metadata.labels?.['tier'] === tier) && matches?.(object) !== false;
}

/** Index of the last item for which a condition holds that holds for the first ones only; -1: for none. */
function lastIndex<T>(items: readonly T[], holds: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(items[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
