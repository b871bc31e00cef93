import type { Compaction, History, Item, Reached, Selection, WatchEvent, WatchSession } from './history.ts';
import { versionOf } from './objects.ts';
import { differenceOf, isCompacted } from './reads.ts';
import { isSelected, type State, type States } from './states.ts';
import type { Sweep } from './sweep.ts';
import { type Report, show } from './violation.ts';

/** Checks that each watch told exactly the changes after its start, each once, in order and as what it was. */
export function checkWatches(
  { watches, reached, compactions }: History,
  states: States,
  { bounds }: Sweep,
  report: Report,
): void {
  for (const session of watches) {
    const check = new WatchCheck(session, states, report);
    if (!check.initial(bounds.get(session) ?? 0) || !check.changes()) continue;
    check.ending(compactions);
  }
  for (const end of reached) {
    const missing = untold(end, states);
    if (missing !== undefined)
      report('event missing', `${end.watcher} at ${end.position}: ${show(missing)} was never told`);
  }
}

/** The first change that has not been told to a watcher, and had to be. */
export function untold({ selection, position, due }: Reached, states: States): State | undefined {
  const changes = states.changes.slice(states.indexAfter(position), states.indexAfter(due));
  return changes.find((state) => typeOf(selection, state) !== undefined);
}

class WatchCheck {
  readonly #session: WatchSession;
  readonly #states: States;
  readonly #report: Report;
  /** Events that have not been checked. */
  #events: readonly WatchEvent[];
  /** Everything up to it has been told; undefined until the initial events are complete. */
  #position: number | undefined;
  /** Index of the next change that may have to be told. */
  #next = 0;

  constructor(session: WatchSession, states: States, report: Report) {
    this.#session = session;
    this.#states = states;
    this.#report = (rule, message) => report(rule, `${show(session)}: ${message}`);
    this.#events = session.events;
    if (session.after !== undefined) this.#reach(session.after);
  }

  /** The initial events show the state at the revision of their last bookmark. @returns whether they do */
  initial(bound: number): boolean {
    if (this.#position !== undefined) return true;
    const end = this.#events.findIndex(({ endsInitial }) => endsInitial === true);
    const items = (end < 0 ? this.#events : this.#events.slice(0, end)).map(({ object }) => object as Item);
    if (end < 0) {
      const unknown = items.find((item) => !this.#isKnown(item));
      return unknown === undefined || this.#fail('event invented', JSON.stringify(unknown.metadata));
    }
    const { version } = this.#events[end] as WatchEvent;
    if (version < bound) return this.#fail('stale read', `initial events at ${version}, after ${bound}`);
    const difference = differenceOf(this.#states.listed(this.#session.selection, version), items, this.#states);
    if (difference !== undefined) return this.#fail('list is not the state', `at ${version}: ${difference}`);
    this.#events = this.#events.slice(end + 1);
    this.#reach(version);
    return true;
  }

  /** @returns whether what was told next is what happened next, to the end */
  changes(): boolean {
    return this.#events.every((event) => (event.type === 'BOOKMARK' ? this.#bookmark(event) : this.#change(event)));
  }

  ending(compactions: readonly Compaction[]): void {
    const { ending, end } = this.#session;
    if (ending === 'wrong') this.#fail('unexpected answer', `at ${this.#position}`);
    if (ending === 'expired' && (this.#position === undefined || !isCompacted(this.#position, end, compactions))) {
      this.#fail('not compacted', `410 at ${this.#position}`);
    }
  }

  /** Nothing up to a bookmark may be outstanding. */
  #bookmark({ version }: WatchEvent): boolean {
    const position = this.#position as number;
    if (version < position) return this.#fail('event out of order', `bookmark ${version} after ${position}`);
    const missing = this.#take(version);
    if (missing !== undefined) return this.#fail('event missing', `bookmark ${version} before ${show(missing)}`);
    this.#reach(version);
    return true;
  }

  #change(event: WatchEvent): boolean {
    const { version } = event;
    const position = this.#position as number;
    const told = `${event.type} ${event.object?.metadata.name} at ${version}`;
    if (version <= position) {
      const isRepeated = this.#session.events.filter((other) => other.version === version).length > 1;
      return this.#fail(isRepeated ? 'event repeated' : 'event out of order', `${told} after ${position}`);
    }
    const missing = this.#take(version - 1);
    if (missing !== undefined) return this.#fail('event missing', `${told} before ${show(missing)}`);
    const state = this.#take(version);
    if (state === undefined) return this.#fail('event invented', told);
    if (event.type !== typeOf(this.#session.selection, state))
      return this.#fail('wrong type', `${told}: ${show(state)}`);
    const expected = (event.type === 'DELETED' ? state.before : state)?.object;
    const isSame = event.object !== undefined && expected !== undefined && this.#states.same(event.object, expected);
    if (!isSame) return this.#fail('not what is stored', `${told}: ${JSON.stringify(event.object)} and ${show(state)}`);
    this.#reach(version);
    return true;
  }

  /** The next change up to a revision that has to be told. */
  #take(revision: number): State | undefined {
    const { changes } = this.#states;
    for (;;) {
      const state = changes[this.#next];
      if (state === undefined || state.from > revision) return undefined;
      this.#next++;
      if (typeOf(this.#session.selection, state) !== undefined) return state;
    }
  }

  #reach(version: number): void {
    this.#position = version;
    this.#next = this.#states.indexAfter(version);
  }

  #isKnown(item: Item): boolean {
    const { resource } = this.#session.selection;
    const { namespace = '', name } = item.metadata;
    const { from, object } = this.#states.at(`${resource}/${namespace}/${name}`, versionOf(item));
    return from === versionOf(item) && object !== undefined && this.#states.same(item, object);
  }

  #fail(rule: string, message: string): false {
    this.#report(rule, message);
    return false;
  }
}

/** The type of the event that tells a change to a watch of a selection; undefined: it does not concern the watch. */
function typeOf(selection: Selection, state: State): WatchEvent['type'] | undefined {
  const was = state.before !== undefined && isSelected(selection, state.before);
  const is = isSelected(selection, state);
  if (is) return was ? 'MODIFIED' : 'ADDED';
  return was ? 'DELETED' : undefined;
}
