/** The estimated cost of an expression: from what its variables may hold at least and at most. */
import { countCodePoints } from '../../meta/index.ts';
import type { Call, Comprehension, Expr, ListLiteral, MapLiteral, Select } from '../ast.ts';
import type { CheckedExpression } from '../environment.ts';
import type { CallEstimate, EstimatedArgument, Overload, Range } from '../library.ts';
import { setAt } from '../node-table.ts';
import { type CelType, dynType } from '../types.ts';
import { literalValue } from '../values.ts';
import { add, fixed, multiply, unbounded, union, unknownSize } from './range.ts';

/** The costs of the evaluator's own operations. Literals cost nothing, and neither does a presence test by itself. */
const accessCost = fixed(1);
const listCost = fixed(10);
const mapCost = fixed(30);
const objectCost = fixed(40);

/** The range of what one evaluation costs. */
export function estimateCost(checked: CheckedExpression): Range {
  return new Estimator(checked).cost(checked.expr);
}

/**
 * A value that is reached from a variable through fields and elements, by its declared type, which bounds its size. The
 * type is undefined below a value whose type declares none.
 */
interface Path {
  readonly type: CelType | undefined;
}

type Step = { readonly field: string } | 'elements' | 'keys' | 'indexes';

/** The sizes of the elements of a list, or of the keys and values of a map. */
interface EntrySizes {
  readonly kind: 'list' | 'map';
  readonly key: Range;
  readonly value: Range;
}

/** A variable of a comprehension, the innermost first. */
interface Local {
  readonly name: string;
  readonly path: Path | undefined;
  readonly size: Range | undefined;
  readonly entries: EntrySizes | undefined;
  readonly outer: Local | undefined;
}

class Estimator {
  readonly #checked: CheckedExpression;
  /** The results for each node, by its id. */
  readonly #paths: (Path | undefined)[] = [];
  readonly #sizes: (Range | undefined)[] = [];
  readonly #entries: (EntrySizes | undefined)[] = [];
  #locals: Local | undefined;
  /**
   * Every path begins at the first variable (`self`). Elements and fields of values that are not reached from a
   * variable are given its size, too: expressions are accepted by their estimate, which other servers compute so.
   */
  readonly #root: Path;

  constructor(checked: CheckedExpression) {
    this.#checked = checked;
    const [first] = checked.environment.variables.values();
    this.#root = { type: first && withoutOptional(first.type) };
  }

  cost(expr: Expr): Range {
    switch (expr.kind) {
      case 'literal':
        return fixed(0);
      case 'identifier':
        setAt(this.#paths, expr.id, this.#pathOfName(expr));
        return accessCost;
      case 'select':
        return this.#select(expr);
      case 'call':
        return this.#call(expr);
      case 'list':
        return this.#list(expr);
      case 'map':
        return this.#map(expr);
      case 'object':
        return expr.entries.reduce((sum, entry) => add(sum, this.cost(entry.value)), objectCost);
      case 'comprehension':
        return this.#comprehension(expr);
    }
  }

  #typeOf(expr: Expr): CelType {
    return this.#checked.typeOf[expr.id] ?? dynType;
  }

  #pathOfName(expr: Expr): Path | undefined {
    const reference = this.#checked.referenceOf[expr.id];
    if (reference === undefined) return this.#local(expr)?.path;
    if (reference.kind !== 'variable') return this.#root;
    return { type: withoutOptional(this.#typeOf(expr)) };
  }

  #local(expr: Expr): Local | undefined {
    if (expr.kind !== 'identifier' || this.#checked.referenceOf[expr.id] !== undefined) return undefined;
    let local = this.#locals;
    while (local !== undefined && local.name !== expr.name) local = local.outer;
    return local;
  }

  #pathOf(expr: Expr): Path | undefined {
    return this.#local(expr)?.path ?? this.#paths[expr.id];
  }

  #step(from: Path | undefined, step: Step): Path {
    if (from === undefined) return this.#root;
    const type = from.type;
    if (step === 'elements') return { type: type?.kind === 'list' ? type.element : mapOf(type)?.value };
    if (step === 'keys') return { type: mapOf(type)?.key };
    if (step === 'indexes' || type?.kind !== 'object') return { type: undefined };
    const field = type.field(step.field)?.type;
    return { type: field && withoutOptional(field) };
  }

  #select(expr: Select): Range {
    if (this.#checked.referenceOf[expr.id] !== undefined) {
      setAt(this.#paths, expr.id, this.#pathOfName(expr));
      return accessCost;
    }
    const operand = this.cost(expr.operand);
    if (expr.test) return operand;
    setAt(this.#paths, expr.id, this.#step(this.#pathOf(expr.operand), { field: expr.field }));
    const { kind } = this.#typeOf(expr.operand);
    return kind === 'map' || kind === 'object' ? add(operand, accessCost) : operand;
  }

  #list(expr: ListLiteral): Range {
    let sum = listCost;
    let value: Range | undefined;
    for (const element of expr.elements) {
      sum = add(sum, this.cost(element));
      value = joined(value, this.#sizeOf(element));
    }
    setAt(this.#entries, expr.id, { kind: 'list', key: fixed(1), value: value ?? fixed(0) });
    return sum;
  }

  #map(expr: MapLiteral): Range {
    let sum = mapCost;
    let key: Range | undefined;
    let value: Range | undefined;
    for (const entry of expr.entries) {
      sum = add(sum, add(this.cost(entry.key), this.cost(entry.value)));
      key = joined(key, this.#sizeOf(entry.key));
      value = joined(value, this.#sizeOf(entry.value));
    }
    setAt(this.#entries, expr.id, { kind: 'map', key: key ?? fixed(0), value: value ?? fixed(0) });
    return sum;
  }

  #call(expr: Call): Range {
    const reference = this.#checked.referenceOf[expr.id];
    if (reference?.kind !== 'function') return fixed(0);
    const args = expr.target === undefined || reference.qualified ? expr.args : [expr.target, ...expr.args];
    const costs = args.map((arg) => this.cost(arg));
    const [first = fixed(0), second = fixed(0), third = fixed(0)] = costs;
    switch (expr.function) {
      case '_&&_':
      case '_||_':
        return { min: first.min, max: add(first, second).max };
      case '_?_:_':
        this.#setUnion(expr, args[1] as Expr, args[2] as Expr);
        return add(first, union(second, third));
      case 'dyn':
        this.#setSizes(expr, args[0] as Expr);
        return add(first, fixed(1));
    }
    return costs.reduce(add, this.#overloads(expr, reference.overloads, args));
  }

  /** Returns the cost of a call beyond its arguments, with any of the overloads. */
  #overloads(expr: Call, overloads: readonly Overload[], args: readonly Expr[]): Range {
    const estimated = args.map((arg) => this.#argument(arg));
    let cost: Range | undefined;
    let size: Range | undefined;
    for (const overload of overloads) {
      const estimate: CallEstimate = overload.estimate?.(estimated) ?? { cost: fixed(1) };
      cost = joined(cost, estimate.cost);
      if (estimate.resultSize !== undefined) size = joined(size, estimate.resultSize);
      if (overload.id === 'index_list' || overload.id === 'index_map') {
        const container = args[0] as Expr;
        setAt(this.#paths, expr.id, this.#step(this.#pathOf(container), 'elements'));
        size = this.#entriesOf(container)?.value;
      }
      size ??= this.#knownSize(expr);
    }
    setAt(this.#sizes, expr.id, size);
    if (expr.function === '_+_') setAt(this.#entries, expr.id, this.#commonEntries(args[0] as Expr, args[1] as Expr));
    return cost ?? fixed(0);
  }

  #argument(expr: Expr): EstimatedArgument {
    const type = this.#typeOf(expr);
    const path = type.kind === 'list' ? this.#pathOf(expr) : undefined;
    return {
      type,
      size: this.#sizeOf(expr),
      literal: expr.kind === 'literal' ? literalValue(expr.value) : undefined,
      elementSize: path && declaredSize(this.#step(path, 'elements')),
    };
  }

  #comprehension(expr: Comprehension): Range {
    const { range, initial, condition, step, result } = expr;
    const around = this.#locals;
    const before = add(this.cost(range), this.cost(initial));
    const bind = range.kind === 'list' && range.elements.length === 0 && condition.kind === 'literal';
    const accumulator = {
      name: expr.accumulator,
      path: this.#pathOf(initial),
      size: this.#knownSize(initial),
      entries: this.#entriesOf(initial),
      outer: around,
    };
    this.#locals = accumulator;
    let perElement = fixed(0);
    if (!bind) {
      this.#enterLoop(expr);
      perElement = add(this.cost(condition), this.cost(step));
      this.#locals = accumulator;
    }
    const sum = add(before, this.cost(result));
    if (bind) this.#setSizes(expr, result);
    this.#locals = around;
    if (bind) return sum;
    const count = this.#sizeOf(range);
    if (initial.kind === 'literal') setAt(this.#sizes, expr.id, this.#knownSize(initial));
    if (initial.kind === 'list' || initial.kind === 'map') {
      setAt(this.#sizes, expr.id, count);
      setAt(this.#entries, expr.id, this.#entries[step.id]);
    }
    return add(sum, multiply(count, perElement));
  }

  /** Declares the variable, and the second one. */
  #enterLoop(expr: Comprehension): void {
    const entries = this.#entriesOf(expr.range);
    const path = this.#pathOf(expr.range);
    const list = (entries?.kind ?? this.#typeOf(expr.range).kind) === 'list';
    const declare = (name: string, step: Step, size: Range | undefined): void => {
      this.#locals = { name, path: this.#step(path, step), size, entries: undefined, outer: this.#locals };
    };
    if (expr.second === undefined && list) declare(expr.variable, 'elements', entries?.value);
    else declare(expr.variable, list ? 'indexes' : 'keys', entries?.key);
    if (expr.second !== undefined) declare(expr.second, 'elements', entries?.value);
  }

  #sizeOf(expr: Expr): Range {
    return this.#knownSize(expr) ?? unknownSize;
  }

  #knownSize(expr: Expr): Range | undefined {
    const computed = this.#sizes[expr.id] ?? literalSize(expr);
    if (computed !== undefined) return computed;
    const path = this.#pathOf(expr);
    const declared = path && declaredSize(path);
    if (declared !== undefined) return declared;
    return isScalar(this.#typeOf(expr)) ? fixed(1) : this.#local(expr)?.size;
  }

  #entriesOf(expr: Expr): EntrySizes | undefined {
    return this.#entries[expr.id] ?? this.#local(expr)?.entries;
  }

  #commonEntries(a: Expr, b: Expr): EntrySizes | undefined {
    const first = this.#entriesOf(a);
    const second = this.#entriesOf(b);
    if (first === undefined || second === undefined) return undefined;
    return { kind: first.kind, key: union(first.key, second.key), value: union(first.value, second.value) };
  }

  #setUnion(expr: Expr, a: Expr, b: Expr): void {
    setAt(this.#sizes, expr.id, union(this.#sizeOf(a), this.#sizeOf(b)));
    setAt(this.#entries, expr.id, this.#commonEntries(a, b));
  }

  #setSizes(expr: Expr, from: Expr): void {
    setAt(this.#sizes, expr.id, this.#knownSize(from));
    setAt(this.#entries, expr.id, this.#entriesOf(from));
  }
}

function joined(before: Range | undefined, range: Range): Range {
  return before === undefined ? range : union(before, range);
}

function withoutOptional(type: CelType): CelType {
  return type.kind === 'optional' ? type.value : type;
}

function mapOf(type: CelType | undefined): (CelType & { kind: 'map' }) | undefined {
  return type?.kind === 'map' ? type : undefined;
}

/** The size of a value of a declared type; 0 for values that have no size. */
function declaredSize({ type }: Path): Range | undefined {
  if (type === undefined) return undefined;
  const sized = type.kind === 'nullable' ? type.of : type;
  const max = 'maxSize' in sized ? sized.maxSize : undefined;
  return { min: 0, max: max ?? (hasSize(sized) ? unbounded : 0) };
}

function hasSize({ kind }: CelType): boolean {
  return kind === 'list' || kind === 'map' || kind === 'string' || kind === 'bytes' || kind === 'dyn';
}

/** The size of a literal, and of a list or map literal. */
function literalSize(expr: Expr): Range | undefined {
  if (expr.kind === 'list') return fixed(expr.elements.length);
  if (expr.kind === 'map') return fixed(expr.entries.length);
  if (expr.kind !== 'literal') return undefined;
  if (expr.value.type === 'string') return fixed(countCodePoints(expr.value.value));
  return fixed(expr.value.type === 'bytes' ? expr.value.value.length : 1);
}

/** Whether all values of a type have the size one. */
function isScalar(type: CelType): boolean {
  switch (type.kind) {
    case 'bool':
    case 'int':
    case 'uint':
    case 'double':
    case 'timestamp':
    case 'duration':
      return true;
    case 'nullable':
      return isScalar(type.of);
    case 'optional':
      return isScalar(type.value);
    default:
      return false;
  }
}
