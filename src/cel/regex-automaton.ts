/** Matches long texts with the states that the library computes of a pattern, in steps. */
import type { RE2JS } from 're2js';
import type { Steps } from '../meta/index.ts';

/** How many characters are matched in one step. */
const STEP = 32_768;
/** The cost of computing a state apart from its instructions (characters). */
const STATE = 200;
/** The same for each of these instructions. */
const INSTRUCTION = 10;
/** Maximum cost of all states of one match (characters). */
const MAX_COMPUTED = 200_000_000;

/** A state of the library: the instructions that may come next. */
interface State {
  readonly nfaStates: readonly number[];
  readonly isMatch: boolean;
  /** The next states by the class of a character, as far as they are known. */
  readonly next: readonly (State | null)[] | null;
}

/** The parts of the library that are used. */
interface StateCache {
  /** The memory that its states may take, and what is left of it, in bytes. */
  readonly maxMem: number;
  readonly memBudget: number;
  readonly failed: boolean;
  readonly latin1Class: Int32Array;
  readonly numClasses: number;
  runeClass(rune: number): number;
  start(input: object, position: number): State | null;
  stepOrReset(
    state: State,
    runeClass: number,
    rune: number,
    anchor: number,
    position: number,
    search: { resetPos: number },
  ): State | null;
}

export interface Automaton {
  readonly cache: StateCache;
  /** The memory of its states, in bytes. */
  readonly stateBytes: () => number;
}

export function automatonOf(compiled: RE2JS): Automaton {
  const { dfa: cache } = compiled.re2Input as unknown as { readonly dfa: StateCache };
  return { cache, stateBytes: () => cache.maxMem - cache.memBudget };
}

/** Any part of the text may match. */
const UNANCHORED = 0;
const END_OF_TEXT = -1;
/** The start of a text and of a line. */
const atStart = { context: () => 1 | 4 };

/** Whether a part of the text matches; undefined: its states are too many to say so. */
export function* matchInSteps({ cache }: Automaton, text: string): Steps<boolean | undefined> {
  if (cache.failed) return undefined;
  const { latin1Class, numClasses } = cache;
  const search = { resetPos: -1 };
  let state = cache.start(atStart, 0);
  if (state === null) return undefined;
  let computed = 0;
  let left = STEP;
  for (let i = 0; i <= text.length; ) {
    const rune: number = i === text.length ? END_OF_TEXT : (text.codePointAt(i) as number);
    const runeClass: number =
      rune === END_OF_TEXT ? numClasses : ((latin1Class[rune] as number | undefined) ?? cache.runeClass(rune));
    let next: State | null = state.next?.[runeClass] ?? null;
    if (next === null) {
      next = cache.stepOrReset(state, runeClass, rune, UNANCHORED, i, search);
      const cost = STATE + INSTRUCTION * state.nfaStates.length;
      computed += cost;
      left -= cost;
      if (next === null || computed > MAX_COMPUTED) return undefined;
    }
    if (next.isMatch) return true;
    state = next;
    i += rune > 0xffff ? 2 : 1;
    if (--left > 0) continue;
    left = STEP;
    yield;
  }
  return false;
}
