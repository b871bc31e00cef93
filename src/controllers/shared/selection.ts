import { type Informer, keyOf } from '../../client/index.ts';
import {
  type JsonObject,
  type LabelSelector,
  type Labels,
  type Steps,
  selectorFromObject,
  type Turns,
} from '../../meta/index.ts';
import type { ControllerContext } from '../types.ts';
import type { Named } from './kind.ts';

/** How many requirements are evaluated before the time is looked at. */
export const requirementsInStep = 2_000;

const costOf = ({ requirements }: LabelSelector): number => requirements.length + 1;

const compiled = new WeakMap<object, LabelSelector>();
const nothing = selectorFromObject(undefined);

/** The selector that a `LabelSelector` of an object means; an absent one selects nothing. Compiled once for each object. */
export const selectorIn = (declared: object | undefined): LabelSelector =>
  declared ? compiledOnce(declared, () => selectorFromObject(declared as JsonObject)) : nothing;

/** The selector of objects with these labels. */
export const selectorOfLabels = (labels: Labels = {}): LabelSelector =>
  compiledOnce(labels, () => selectorFromObject({ matchLabels: labels }));

function compiledOnce(declared: object, compile: () => LabelSelector): LabelSelector {
  const cachedSelector = compiled.get(declared);
  if (cachedSelector !== undefined) return cachedSelector;
  const selector = compile();
  compiled.set(declared, selector);
  return selector;
}

/** Counts requirements that are evaluated, and waits for a turn after many. */
export class Evaluation {
  readonly #turns: Turns;
  #requirements = 0;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** To be awaited before the next evaluation, unless it is undefined. */
  evaluated(selector: LabelSelector): Promise<void> | undefined {
    return this.took(costOf(selector));
  }

  /** The same after the evaluation of this many requirements. */
  took(requirements: number): Promise<void> | undefined {
    this.#requirements += requirements;
    if (this.#requirements < requirementsInStep) return undefined;
    this.#requirements = 0;
    return this.#turns.over ? this.#turns.next() : undefined;
  }
}

/** The objects that the selector selects. */
export async function selected<T extends Named>(
  objects: readonly T[],
  selector: LabelSelector,
  turns: Turns,
): Promise<T[]> {
  const matches: T[] = [];
  const evaluation = new Evaluation(turns);
  for (const object of objects) {
    if (selector.matches(object.metadata.labels)) matches.push(object);
    const turn = evaluation.evaluated(selector);
    if (turn !== undefined) await turn;
  }
  return matches;
}

/** Whether the selector selects any of the objects. */
export async function selectsAny(selector: LabelSelector, objects: readonly Named[], turns: Turns): Promise<boolean> {
  const evaluation = new Evaluation(turns);
  for (const object of objects) {
    if (selector.matches(object.metadata.labels)) return true;
    const turn = evaluation.evaluated(selector);
    if (turn !== undefined) await turn;
  }
  return false;
}

export interface Selecting<O extends Named> {
  readonly owners: Informer<O>;
  readonly selectorOf: (owner: O) => LabelSelector;
  /** Called with each owner in the namespace of an object that selects it, as it is or was. */
  readonly onMatch: (owner: O) => void;
}

/** Finds the owners that select objects which have changed: few requirements at once, many in turns. */
export function findSelecting<O extends Named>(
  { background }: Pick<ControllerContext, 'background'>,
  { owners, selectorOf, onMatch }: Selecting<O>,
): (...states: readonly Named[]) => void {
  /** The states of objects to look at: as they were when they were last looked at, and as they are. */
  const changed = new Map<string, readonly Named[]>();
  let runs = false;
  function* find(): Steps<void> {
    let requirements = 0;
    for (const [key, states] of changed) {
      changed.delete(key);
      for (const owner of owners.list(states[0]?.metadata.namespace)) {
        const selector = selectorOf(owner);
        if (states.some(({ metadata }) => selector.matches(metadata.labels))) onMatch(owner);
        requirements += costOf(selector) * states.length;
        if (requirements < requirementsInStep) continue;
        requirements = 0;
        yield;
      }
    }
    runs = false;
  }
  return (...states) => {
    const [last] = states;
    if (last === undefined) return;
    const before = changed.get(keyOf(last))?.at(-1);
    changed.set(keyOf(last), before === undefined ? states : [last, before]);
    if (runs) return;
    runs = true;
    background(find());
  };
}
