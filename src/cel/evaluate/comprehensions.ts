/**
 * Comprehensions. Those of the frequent macros are recognised by their shape and become loops that keep their result
 * aside; all others fold step by step. Both evaluate the same nodes at the same cost.
 */
import type { Comprehension, Expr } from '../ast.ts';
import { CelError, EntriesValue, ListValue, MapValue, type Value } from '../values.ts';
import { textOf } from './attributes.ts';
import { charge, type Frame, failureOf, LIST_COST, type Outcome, type Step } from './budget.ts';
import { failedOperand } from './logic.ts';

/** The slots of the variables of one comprehension. */
export interface Slots {
  readonly variable: number;
  readonly second: number | undefined;
  readonly accumulator: number;
}

/** A compiled part of a comprehension. */
export interface Part {
  readonly step: Step;
  readonly isConstant: boolean;
}

/** Runs over the elements of a list or the keys of a map. `visit` returns false to end. */
type Iterate = (frame: Frame, visit: (frame: Frame) => boolean) => CelError | undefined;

/** The step of a comprehension from those of its parts. `compile` compiles a part in which its variables are known. */
export function comprehensionStep(node: Comprehension, slots: Slots, range: Step, compile: (part: Expr) => Part): Step {
  const iterate = iteration(range, slots);
  const quantified = quantifierOf(node);
  if (quantified !== undefined) return quantify(iterate, quantified, compile(quantified.predicate).step);
  const collected = collectorOf(node);
  if (collected !== undefined) return collect(iterate, collected, compile);
  return fold(iterate, slots, compile(node.condition).step, compile(node.step).step, compile(node.result).step);
}

function iteration(range: Step, { variable, second }: Slots): Iterate {
  return (frame, visit) => {
    const source = range(frame);
    const { locals } = frame;
    if (source instanceof ListValue) {
      const { size } = source;
      for (let i = 0; i < size; i++) {
        const element = elementOf(source, i);
        if (second === undefined) {
          locals[variable] = element;
        } else {
          locals[variable] = i;
          locals[second] = element;
        }
        if (!visit(frame)) return undefined;
      }
      return undefined;
    }
    if (!(source instanceof MapValue)) {
      return source instanceof CelError ? source : new CelError('the range of a comprehension is not iterable');
    }
    for (const key of source.keys()) {
      locals[variable] = key;
      if (second !== undefined) locals[second] = entryOf(source, key);
      if (!visit(frame)) return undefined;
    }
    return undefined;
  };
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

function quantify(iterate: Iterate, { decisive, conditionCost }: Quantifier, predicate: Step): Step {
  const undecided = !decisive;
  return (frame) => {
    let outcome: boolean | CelError = undecided;
    const failed = iterate(frame, (inner) => {
      if (outcome === decisive) {
        charge(inner, conditionCost);
        return false;
      }
      charge(inner, conditionCost + 1);
      const value = predicate(inner);
      if (value === decisive) outcome = decisive;
      else if (value !== undecided && outcome === undecided) outcome = failedOperand(value);
      return true;
    });
    if (failed !== undefined) return failed;
    charge(frame, 1);
    return outcome;
  };
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

function collect(iterate: Iterate, { filter, added, into }: Collector, compile: (part: Expr) => Part): Step {
  const condition = filter === undefined ? undefined : compile(filter).step;
  const parts = added.map(compile);
  return (frame) => {
    const collection = into === 'list' ? new ListCollection() : new MapCollection();
    let failure: CelError | undefined;
    const failed = iterate(frame, (inner) => {
      const decision = condition === undefined ? true : condition(inner);
      if (decision === true) {
        charge(inner, 1);
        failure = collection.add(inner, parts, failure);
      } else if (decision !== false) {
        failure = failedOperand(decision);
      }
      return true;
    });
    if (failed !== undefined) return failed;
    charge(frame, 1);
    return failure ?? collection.value();
  };
}

/** What `accumulator + [element]` does: the list of one element and the operator have a cost. */
class ListCollection {
  readonly #elements: Value[] = [];

  add(frame: Frame, parts: readonly Part[], failure: CelError | undefined): CelError | undefined {
    const { step, isConstant } = parts[0] as Part;
    const element = step(frame);
    charge(frame, isConstant ? 1 : LIST_COST + 1);
    if (failure !== undefined) return failure;
    if (element instanceof CelError) return element;
    this.#elements.push(element);
    return undefined;
  }

  value(): ListValue {
    return new ListValue(this.#elements);
  }
}

/** What `cel.@mapInsert(accumulator, …)` does. */
class MapCollection {
  readonly #entries = new EntriesValue([]);

  /** With key and value, a failure before ends the call; one argument, a map of entries, is evaluated in any case. */
  add(frame: Frame, [first, second]: readonly Part[], failure: CelError | undefined): CelError | undefined {
    if (failure !== undefined && second !== undefined) return failure;
    const key = (first as Part).step(frame);
    if (second === undefined) {
      charge(frame, 1);
      if (failure !== undefined) return failure;
      return key instanceof MapValue ? this.#addAll(key) : failedOperand(key);
    }
    if (key instanceof CelError) return key;
    const value = second.step(frame);
    if (value instanceof CelError) return value;
    charge(frame, 1);
    return this.#add(key, value);
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

function fold(iterate: Iterate, { accumulator }: Slots, condition: Step, step: Step, result: Step): Step {
  return (frame) => {
    const { locals } = frame;
    locals[accumulator] = undefined;
    const failed = iterate(frame, (inner) => {
      if (condition(inner) === false) return false;
      locals[accumulator] = step(inner);
      return true;
    });
    return failed ?? result(frame);
  };
}

const isName = (expr: Expr | undefined, name: string): boolean => expr?.kind === 'identifier' && expr.name === name;

const isTrue = (expr: Expr): boolean => expr.kind === 'literal' && expr.value.type === 'bool' && expr.value.value;

/** The argument of a call of a function of one argument. */
const argumentOf = (expr: Expr | undefined, name: string): Expr | undefined =>
  expr?.kind === 'call' && expr.function === name ? expr.args[0] : undefined;
