/**
 * Comprehensions. Those of frequent macros are recognised by their shape and become loops with a separate result; all
 * others fold step by step. Both evaluate the same nodes at the same cost.
 */
import type { Comprehension, Expr } from '../ast.ts';
import { CelError, EntriesValue, ListValue, MapValue, type Value } from '../values.ts';
import { textOf } from './attributes.ts';
import {
  charge,
  type Frame,
  failureOf,
  inSteps,
  isStepOver,
  LIST_COST,
  type Outcome,
  outcomeOf,
  type Runnable,
} from './budget.ts';
import { failedOperand } from './logic.ts';

/** The slots of the variables of one comprehension. */
export interface Slots {
  readonly variable: number;
  readonly second: number | undefined;
  readonly accumulator: number;
}

/** A compiled part of a comprehension. */
export interface Part extends Runnable {
  readonly isConstant: boolean;
}

/** The range of a comprehension. */
interface Source {
  readonly range: Runnable;
  readonly slots: Slots;
}

/**
 * A comprehension, which runs in steps, from its parts. `compile` compiles a part in which its variables are known;
 * `initial` is the initial value of its accumulator.
 */
export function comprehensionStep(
  node: Comprehension,
  source: Source,
  initial: Runnable,
  compile: (part: Expr) => Part,
): Runnable {
  const quantified = quantifierOf(node);
  if (quantified !== undefined) return quantify(source, quantified, compile(quantified.predicate));
  const collected = collectorOf(node);
  if (collected !== undefined) return collect(source, collected, compile);
  return fold(source, initial, compile(node.condition), compile(node.step), compile(node.result));
}

/** Sets the variables of a comprehension to each element of a list, or each key of a map, in turn. */
interface Cursor {
  /** False at the end. */
  readonly next: (locals: Frame['locals']) => boolean;
}

/** The cursor over a value, or why there is none. */
function cursorOf(source: Outcome, slots: Slots): Cursor | CelError {
  if (source instanceof ListValue) return new ListCursor(source, slots);
  if (source instanceof MapValue) return new MapCursor(source, slots);
  return source instanceof CelError ? source : new CelError('the range of a comprehension is not iterable');
}

class ListCursor implements Cursor {
  readonly #list: ListValue;
  readonly #slots: Slots;
  readonly #size: number;
  #index = 0;

  constructor(list: ListValue, slots: Slots) {
    this.#list = list;
    this.#slots = slots;
    this.#size = list.size;
  }

  next(locals: Frame['locals']): boolean {
    const index = this.#index;
    if (index >= this.#size) return false;
    this.#index = index + 1;
    const { variable, second } = this.#slots;
    const element = elementOf(this.#list, index);
    if (second === undefined) {
      locals[variable] = element;
    } else {
      locals[variable] = index;
      locals[second] = element;
    }
    return true;
  }
}

class MapCursor implements Cursor {
  readonly #map: MapValue;
  readonly #slots: Slots;
  readonly #keys: Iterator<Value>;

  constructor(map: MapValue, slots: Slots) {
    this.#map = map;
    this.#slots = slots;
    this.#keys = map.keys()[Symbol.iterator]();
  }

  next(locals: Frame['locals']): boolean {
    const { done, value: key } = this.#keys.next();
    if (done === true) return false;
    const { variable, second } = this.#slots;
    locals[variable] = key;
    if (second !== undefined) locals[second] = entryOf(this.#map, key);
    return true;
  }
}

function elementOf(list: ListValue, index: number): Outcome {
  try {
    return list.get(index);
  } catch (thrown) {
    return failureOf(thrown);
  }
}

function entryOf(map: MapValue, key: Value): Outcome | undefined {
  try {
    return map.get(key);
  } catch (thrown) {
    return failureOf(thrown);
  }
}

/** `all` ends at the first false, `exists` at the first true: the decisive value. */
interface Quantifier {
  readonly decisive: boolean;
  readonly predicate: Expr;
  /** The cost of the condition, which only looks at the accumulator. */
  readonly conditionCost: number;
}

function quantifierOf({ accumulator, initial, condition, step, result }: Comprehension): Quantifier | undefined {
  if (step.kind !== 'call' || !isName(result, accumulator) || !isName(step.args[0], accumulator)) return undefined;
  const predicate = step.args[1];
  const checked = argumentOf(condition, '@not_strictly_false');
  if (predicate === undefined || checked === undefined || initial.kind !== 'literal') return undefined;
  const { value } = initial;
  if (value.type !== 'bool') return undefined;
  if (step.function === '_&&_' && value.value && isName(checked, accumulator)) {
    return { decisive: false, predicate, conditionCost: 2 };
  }
  if (step.function === '_||_' && !value.value && isName(argumentOf(checked, '!_'), accumulator)) {
    return { decisive: true, predicate, conditionCost: 3 };
  }
  return undefined;
}

function quantify({ range, slots }: Source, { decisive, conditionCost }: Quantifier, predicate: Part): Runnable {
  const undecided = !decisive;
  return inSteps(function* (frame) {
    const cursor = cursorOf(yield* outcomeOf(range, frame), slots);
    if (cursor instanceof CelError) return cursor;
    const { step, long } = predicate;
    let outcome: boolean | CelError = undecided;
    while (cursor.next(frame.locals)) {
      if (outcome === decisive) {
        charge(frame, conditionCost);
        break;
      }
      charge(frame, conditionCost + 1);
      const value: Outcome = long === undefined ? step(frame) : yield* long(frame);
      if (value === decisive) outcome = decisive;
      else if (value !== undecided && outcome === undecided) outcome = failedOperand(value);
      if (isStepOver(frame)) yield;
    }
    charge(frame, 1);
    return outcome;
  });
}

/** `map`, `filter`, `transformList`, `transformMap`, `transformMapEntry`: what each step adds, and where. */
interface Collector {
  readonly filter: Expr | undefined;
  /** The element of a list; key and value, or another map, of a map. */
  readonly added: readonly Expr[];
  readonly into: 'list' | 'map';
}

function collectorOf({ accumulator, initial, condition, step, result }: Comprehension): Collector | undefined {
  if (!isTrue(condition) || !isName(result, accumulator)) return undefined;
  const filtered = step.kind === 'call' && step.function === '_?_:_' && isName(step.args[2], accumulator);
  const filter = filtered ? step.args[0] : undefined;
  const added = filtered ? step.args[1] : step;
  if (added?.kind !== 'call' || !isName(added.args[0], accumulator)) return undefined;
  const element = added.args[1];
  if (initial.kind === 'list' && initial.elements.length === 0 && added.function === '_+_') {
    const one = element?.kind === 'list' && element.elements.length === 1 && element.optional.size === 0;
    return one ? { filter, added: element.elements, into: 'list' } : undefined;
  }
  const empty = initial.kind === 'map' && initial.entries.length === 0;
  return empty && added.function === 'cel.@mapInsert' ? { filter, added: added.args.slice(1), into: 'map' } : undefined;
}

function collect(
  { range, slots }: Source,
  { filter, added, into }: Collector,
  compile: (part: Expr) => Part,
): Runnable {
  const condition = filter === undefined ? undefined : compile(filter);
  const parts = added.map(compile);
  return inSteps(function* (frame) {
    const collection = into === 'list' ? new ListCollection() : new MapCollection();
    const cursor = cursorOf(yield* outcomeOf(range, frame), slots);
    if (cursor instanceof CelError) return cursor;
    let failure: CelError | undefined;
    while (cursor.next(frame.locals)) {
      let decision: Outcome = true;
      if (condition?.long !== undefined) decision = yield* condition.long(frame);
      else if (condition !== undefined) decision = condition.step(frame);
      if (decision === true) {
        charge(frame, 1);
        if (failure !== undefined && collection.endsAtFailure(parts)) continue;
        const values = [];
        for (const { step, long } of parts) {
          const value: Outcome = long === undefined ? step(frame) : yield* long(frame);
          values.push(value);
          if (value instanceof CelError) break;
        }
        failure = collection.add(frame, parts, values, failure);
      } else if (decision !== false) {
        failure = failedOperand(decision);
      }
      if (isStepOver(frame)) yield;
    }
    charge(frame, 1);
    return failure ?? collection.value();
  });
}

/** The collector of a comprehension. */
interface Collection {
  /** Whether nothing is evaluated any more after a failure. */
  readonly endsAtFailure: (parts: readonly Part[]) => boolean;
  /** Adds the evaluated parts, up to the first that failed; returns the failure, also one before. */
  readonly add: (
    frame: Frame,
    parts: readonly Part[],
    values: readonly Outcome[],
    failure: CelError | undefined,
  ) => CelError | undefined;
  readonly value: () => Value;
}

/** Computes `accumulator + [element]`: the list of one element and the operator have a cost. */
class ListCollection implements Collection {
  readonly #elements: Value[] = [];

  endsAtFailure(): boolean {
    return false;
  }

  add(
    frame: Frame,
    [part]: readonly Part[],
    [element]: readonly Outcome[],
    failure: CelError | undefined,
  ): CelError | undefined {
    charge(frame, part?.isConstant === true ? 1 : LIST_COST + 1);
    if (failure !== undefined) return failure;
    if (element instanceof CelError) return element;
    this.#elements.push(element as Value);
    return undefined;
  }

  value(): ListValue {
    return new ListValue(this.#elements);
  }
}

/** Computes `cel.@mapInsert(accumulator, …)`. */
class MapCollection implements Collection {
  readonly #entries = new EntriesValue([]);

  /** With key and value, a failure before ends the call; one argument, a map of entries, is evaluated in any case. */
  endsAtFailure(parts: readonly Part[]): boolean {
    return parts.length > 1;
  }

  add(
    frame: Frame,
    parts: readonly Part[],
    [first, second]: readonly Outcome[],
    failure: CelError | undefined,
  ): CelError | undefined {
    if (parts.length === 1) {
      charge(frame, 1);
      if (failure !== undefined) return failure;
      return first instanceof MapValue ? this.#addAll(first) : failedOperand(first as Outcome);
    }
    if (first instanceof CelError) return first;
    if (second instanceof CelError) return second;
    charge(frame, 1);
    return this.#add(first as Value, second as Value);
  }

  #addAll(map: MapValue): CelError | undefined {
    for (const key of map.keys()) {
      const value = entryOf(map, key);
      const failure = value instanceof CelError ? value : this.#add(key, value as Value);
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  #add(key: Value, value: Value): CelError | undefined {
    try {
      return this.#entries.add(key, value)
        ? undefined
        : new CelError(`insert failed: key ${textOf(key)} already exists`);
    } catch (thrown) {
      return failureOf(thrown);
    }
  }

  value(): MapValue {
    return this.#entries;
  }
}

/** The initial value is computed when the accumulator is first read, or before where that may take long. */
function fold({ range, slots }: Source, initial: Runnable, condition: Part, part: Part, result: Part): Runnable {
  const { accumulator } = slots;
  return inSteps(function* (frame) {
    const { locals } = frame;
    locals[accumulator] = initial.long === undefined ? undefined : yield* initial.long(frame);
    const cursor = cursorOf(yield* outcomeOf(range, frame), slots);
    if (cursor instanceof CelError) return cursor;
    while (cursor.next(locals)) {
      const goesOn: Outcome = condition.long === undefined ? condition.step(frame) : yield* condition.long(frame);
      if (goesOn === false) break;
      locals[accumulator] = part.long === undefined ? part.step(frame) : yield* part.long(frame);
      if (isStepOver(frame)) yield;
    }
    return yield* outcomeOf(result, frame);
  });
}

const isName = (expr: Expr | undefined, name: string): boolean => expr?.kind === 'identifier' && expr.name === name;

const isTrue = (expr: Expr): boolean => expr.kind === 'literal' && expr.value.type === 'bool' && expr.value.value;

/** The argument of a call of a function of one argument. */
const argumentOf = (expr: Expr | undefined, name: string): Expr | undefined =>
  expr?.kind === 'call' && expr.function === name ? expr.args[0] : undefined;
