/**
 * Compiles checked expressions to closures over a frame.
 *
 * The cost of an evaluation, by node:
 *
 * | node | cost, in addition to that of its operands |
 * |---|---|
 * | constant; list or map of constants; conversion of a constant; name of a type | 0 |
 * | attribute: a variable or another expression, with qualifiers (`.f`, `[i]`, `.?f`, `[?i]`) | 1, and 1 for each qualifier that is looked up; an optional one that finds nothing: 0 |
 * | variable without qualifiers | 1 |
 * | `has(a.f)` | 1 for each qualifier |
 * | index that is an attribute: `a[b.c]` | 1 for each of its qualifiers |
 * | `c ? a : b` | 0; a branch that is an attribute: 1 for each of its qualifiers |
 * | `&&`, `\|\|`, `optional.or`, `optional.orValue` | 0 |
 * | `x in [constants]` | 0 |
 * | list | 10 |
 * | map | 30 |
 * | object | 40 |
 * | call | what the overload says, else 1; with arguments that fail or do not match: 1 |
 * | `@not_strictly_false` | 1 |
 * | comprehension | the nodes of its expansion, each as often as it is evaluated; its initial value when the accumulator is first read |
 *
 * The cost of a node is charged after its evaluation; the evaluation ends with `CostLimitError` as soon as the sum exceeds the budget.
 */

import type { Steps } from '../../meta/index.ts';
import type { Call, Comprehension, Expr, Identifier, ListLiteral, MapLiteral, ObjectLiteral, Select } from '../ast.ts';
import type { CheckedExpression, Reference } from '../environment.ts';
import { forget } from '../evaluation-cache.ts';
import type { Overload } from '../library.ts';
import { type CelType, dynType } from '../types.ts';
import { CelError, type ListValue, literalValue, TypeValue, type Value } from '../values.ts';
import type { Base, Qualifier, SlotInput } from './attributes.ts';
import { type Budget, frameOf, inSteps, type Outcome, outcomeOf, type Runnable, type Step } from './budget.ts';
import { areLong, callStep, longCall } from './calls.ts';
import {
  attribute,
  type Compiled,
  computed,
  constant,
  evaluateConstant,
  folded,
  innerRunnableOf,
  isLong,
  readSlot,
  runnableOf,
} from './compiled.ts';
import { comprehensionStep, type Part } from './comprehensions.ts';
import { listStep, mapStep, objectStep } from './literals.ts';
import { conditional, logical, notStrictlyFalse, optionalOr } from './logic.ts';
import { equality, inConstantList, operatorStep, primitivesOf, scalarEquality } from './operators.ts';
import { acceptsType, runtimeTypeName } from './type-values.ts';

export interface Program {
  /**
   * The value of the expression. `values` are those of the environment's variables, by slot.
   * @throws CelError when the evaluation fails, CostLimitError when it exceeds the budget
   */
  evaluate(values: readonly Value[], budget: Budget): Value;
  /** The same in steps; undefined: an evaluation takes no longer than a step may take. */
  readonly evaluateInSteps: ((values: readonly Value[], budget: Budget) => Steps<Value>) | undefined;
}

/** @throws CelError for a conversion of a constant that fails, `int('x')`, and for a constant pattern that is invalid */
export function compileExpression(checked: CheckedExpression): Program {
  const compiler = new Compiler(checked);
  const { step, long } = runnableOf(compiler.compile(checked.expr, undefined));
  const { slots } = compiler;
  const resultOf = (outcome: Outcome): Value => {
    if (outcome instanceof CelError) throw outcome;
    return outcome;
  };
  return {
    evaluate(values, budget) {
      const frame = frameOf(values, slots, budget.remaining);
      try {
        return resultOf(step(frame));
      } finally {
        budget.remaining = frame.remaining;
        forget();
      }
    },
    evaluateInSteps:
      long &&
      function* (values, budget) {
        const frame = frameOf(values, slots, budget.remaining);
        try {
          return resultOf(yield* long(frame));
        } finally {
          budget.remaining = frame.remaining;
          forget();
        }
      },
  };
}

/** The variables of the comprehensions around a node, innermost first. */
interface Scope {
  readonly name: string;
  readonly base: Base;
  readonly outer: Scope | undefined;
}

class Compiler {
  readonly #checked: CheckedExpression;
  /** The number of comprehension variables. Each has a separate slot, as initial values are evaluated late. */
  slots = 0;

  constructor(checked: CheckedExpression) {
    this.#checked = checked;
  }

  compile(expr: Expr, scope: Scope | undefined): Compiled {
    switch (expr.kind) {
      case 'literal':
        return constant(literalValue(expr.value));
      case 'identifier':
        return this.#identifier(expr, scope);
      case 'select':
        return this.#select(expr, scope);
      case 'call':
        return this.#call(expr, scope);
      case 'list':
        return this.#list(expr, scope);
      case 'map':
        return this.#map(expr, scope);
      case 'comprehension':
        return this.#comprehension(expr, scope);
      case 'object':
        return this.#object(expr, scope);
    }
  }

  #runnable(expr: Expr, scope: Scope | undefined): Runnable {
    return runnableOf(this.compile(expr, scope));
  }

  /**
   * A node that evaluates its operands in their order, and then does what `build` makes of their steps. `untilFailure`: the
   * operands after one that fails are not evaluated.
   */
  #strict(operands: readonly Runnable[], untilFailure: boolean, build: (steps: readonly Step[]) => Step): Runnable {
    if (!operands.some(isLong)) return { step: build(operands.map(({ step }) => step)), long: undefined };
    const inputs = operands.map((part): SlotInput => ({ slot: this.slots++, part }));
    const apply = build(inputs.map(({ slot }) => readSlot(slot)));
    return inSteps(function* (frame) {
      for (const { slot, part } of inputs) {
        const outcome = yield* outcomeOf(part, frame);
        frame.locals[slot] = outcome;
        if (untilFailure && outcome instanceof CelError) break;
      }
      return apply(frame);
    });
  }

  /** The step of a part of an attribute: what may take long is evaluated before. */
  #storeInSlot(part: Runnable, inputs: SlotInput[]): Step {
    if (!isLong(part)) return part.step;
    const slot = this.slots++;
    inputs.push({ slot, part });
    return readSlot(slot);
  }

  #referenceOf(expr: Expr): Reference | undefined {
    return this.#checked.referenceOf[expr.id];
  }

  #identifier(expr: Identifier, scope: Scope | undefined): Compiled {
    const resolved = this.#resolved(expr);
    if (resolved !== undefined) return resolved;
    for (let at = scope; at !== undefined; at = at.outer) {
      if (at.name === expr.name) return attribute(at.base);
    }
    throw new CelError(`undeclared reference to '${expr.name}'`);
  }

  /** Compiles a name that the checker has resolved to a declared variable, a type or a constant. */
  #resolved(expr: Identifier | Select): Compiled | undefined {
    const reference = this.#referenceOf(expr);
    switch (reference?.kind) {
      case 'variable': {
        const { name, slot } = reference;
        const read: Step = ({ values }) => {
          const value = values[slot];
          return value === undefined ? new CelError(`no such attribute(s): ${name}`) : value;
        };
        return attribute({ kind: 'variable', read });
      }
      case 'type':
        return constant(new TypeValue(runtimeTypeName(reference.type)));
      case 'constant':
        return constant(literalValue(reference.value));
      default:
        return undefined;
    }
  }

  #select(expr: Select, scope: Scope | undefined): Compiled {
    const resolved = this.#resolved(expr);
    if (resolved !== undefined) return resolved;
    const qualifier: Qualifier = { key: expr.field, computeKey: undefined, optional: false };
    return this.#qualified(this.compile(expr.operand, scope), qualifier, expr.test, []);
  }

  #index(operand: Expr, index: Expr, optional: boolean, scope: Scope | undefined): Compiled {
    const key = this.compile(index, scope);
    const inputs: SlotInput[] = [];
    const qualifier: Qualifier =
      key.kind === 'constant'
        ? { key: key.value, computeKey: undefined, optional }
        : { key: undefined, computeKey: this.#storeInSlot(innerRunnableOf(key), inputs), optional };
    return this.#qualified(this.compile(operand, scope), qualifier, false, inputs);
  }

  /** `held`: what the qualifier needs. */
  #qualified(operand: Compiled, qualifier: Qualifier, test: boolean, inputs: readonly SlotInput[]): Compiled {
    if (operand.kind === 'attribute' && !operand.attribute.test) {
      const { base, qualifiers, inputs: before } = operand.attribute;
      const all = { base, qualifiers: [...qualifiers, qualifier], inputs: [...before, ...inputs], test };
      return { kind: 'attribute', attribute: all };
    }
    const own: SlotInput[] = [];
    const base: Base = { kind: 'relative', evaluate: this.#storeInSlot(runnableOf(operand), own) };
    return { kind: 'attribute', attribute: { base, qualifiers: [qualifier], inputs: [...own, ...inputs], test } };
  }

  #call(expr: Call, scope: Scope | undefined): Compiled {
    const reference = this.#referenceOf(expr);
    const known = reference?.kind === 'function' ? reference : undefined;
    const overloads = known?.overloads ?? [];
    const args = expr.target === undefined || known?.qualified === true ? expr.args : [expr.target, ...expr.args];
    const control = this.#control(expr.function, overloads, args, scope);
    if (control !== undefined) return control;
    const compiled = args.map((arg) => this.compile(arg, scope));
    const [first, second] = compiled;
    const constants = compiled.map((one) => (one.kind === 'constant' ? one.value : undefined));
    for (const overload of overloads) overload.checkConstants?.(constants);
    const operands = compiled.map(runnableOf);
    if (expr.function === '@in' && second?.kind === 'constant' && isOverload(overloads, 'in_list')) {
      const elements = primitivesOf(second.value as ListValue);
      if (elements?.length === 0) return constant(false);
      if (elements !== undefined) {
        const [operand] = operands as [Runnable];
        return computed(this.#strict([operand], false, ([step]) => inConstantList(elements, step as Step)));
      }
    }
    if (expr.function === '_==_' || expr.function === '_!=_') {
      return computed(this.#equality(expr.function === '_==_', overloads[0], args, operands));
    }
    if (areLong(overloads)) return computed(longCall(expr.function, overloads, operands));
    const runnable = this.#strict(operands, operands.length > 2, (steps) => {
      const [left, right] = steps;
      const isBinary = left !== undefined && right !== undefined && steps.length === 2;
      const operator = isBinary ? operatorStep(expr.function, overloads, left, right) : undefined;
      return operator ?? callStep(expr.function, overloads, steps);
    });
    return first?.kind === 'constant' &&
      compiled.length === 1 &&
      expr.target === undefined &&
      conversions.has(expr.function)
      ? constant(evaluateConstant(runnable.step))
      : computed(runnable);
  }

  /** Compares values that may have parts in steps. */
  #equality(isEqual: boolean, overload: Overload | undefined, args: readonly Expr[], operands: readonly Runnable[]) {
    const [left, right] = operands as [Runnable, Runnable];
    const isScalar = args.some(({ id }) => scalars.has(this.#checked.typeOf[id]?.kind ?? 'dyn'));
    if (!isScalar) return equality(isEqual, overload, left, right);
    return this.#strict(operands, false, ([first, second]) =>
      scalarEquality(isEqual, overload, first as Step, second as Step),
    );
  }

  /** Calls whose operands are not just evaluated one after the other. */
  #control(name: string, overloads: readonly Overload[], args: readonly Expr[], scope: Scope | undefined) {
    const [a, b, c] = args;
    if (a === undefined) return undefined;
    if (name === '@not_strictly_false') {
      const strict = this.#strict([this.#runnable(a, scope)], false, ([step]) => notStrictlyFalse(step as Step));
      return computed(strict);
    }
    if (b === undefined) return undefined;
    switch (name) {
      case '_&&_':
      case '_||_':
        return computed(logical(name === '_||_', this.#runnable(a, scope), this.#runnable(b, scope)));
      case '_?:_':
      case '_?_:_':
        return c === undefined ? undefined : this.#conditional(a, b, c, scope);
      case '_[_]':
        return this.#index(a, b, false, scope);
      case '_?._':
      case '_[?_]':
        return this.#index(a, b, true, scope);
      default: {
        const orValue = isOverload(overloads, 'optional_orValue_value');
        if (!orValue && !isOverload(overloads, 'optional_or_optional')) return undefined;
        return computed(optionalOr(orValue, this.#runnable(a, scope), this.#runnable(b, scope)));
      }
    }
  }

  #conditional(condition: Expr, whenTrue: Expr, whenFalse: Expr, scope: Scope | undefined): Compiled {
    const branches = [whenTrue, whenFalse].map((branch) => innerRunnableOf(this.compile(branch, scope)));
    const [first, second] = branches as [Runnable, Runnable];
    const inputs: SlotInput[] = [];
    const resolve = this.#storeInSlot(conditional(this.#runnable(condition, scope), first, second), inputs);
    return attribute({ kind: 'conditional', resolve }, inputs);
  }

  #list({ elements, optional }: ListLiteral, scope: Scope | undefined): Compiled {
    const compiled = elements.map((element) => this.compile(element, scope));
    const runnable = this.#strict(compiled.map(runnableOf), true, (steps) => listStep(steps, optional));
    return optional.size === 0 ? folded(runnable, compiled) : computed(runnable);
  }

  #map({ entries }: MapLiteral, scope: Scope | undefined): Compiled {
    const compiled = entries.flatMap(({ key, value }) => [this.compile(key, scope), this.compile(value, scope)]);
    const runnable = this.#strict(compiled.map(runnableOf), true, (steps) =>
      mapStep(
        entries.map(({ optional }, i) => ({
          key: steps[2 * i] as Step,
          value: steps[2 * i + 1] as Step,
          optional,
        })),
      ),
    );
    return entries.some(({ optional }) => optional) ? computed(runnable) : folded(runnable, compiled);
  }

  #object(expr: ObjectLiteral, scope: Scope | undefined): Compiled {
    const type = this.#checked.typeOf[expr.id];
    if (type?.kind !== 'object' || !('literal' in type)) {
      throw new CelError(`objects of type '${expr.name}' cannot be constructed`);
    }
    const { entries } = expr;
    const operands = entries.map(({ value }) => this.#runnable(value, scope));
    const build = (steps: readonly Step[]): Step => {
      const fields = entries.map(({ field, optional }, i) => ({
        field,
        optional,
        value: steps[i] as Step,
        accepts: acceptsType(type.field(field)?.type ?? dynType),
      }));
      return objectStep(type, fields);
    };
    return computed(this.#strict(operands, true, build));
  }

  #comprehension(node: Comprehension, scope: Scope | undefined): Compiled {
    const range = this.#runnable(node.range, scope);
    const initial = this.#runnable(node.initial, scope);
    const slots = {
      variable: this.slots++,
      second: node.second === undefined ? undefined : this.slots++,
      accumulator: this.slots++,
    };
    const accumulator: Base = { kind: 'variable', read: readAccumulator(slots.accumulator, initial.step) };
    const accumulated: Scope = { name: node.accumulator, base: accumulator, outer: scope };
    const first: Scope = { name: node.variable, base: { kind: 'local', slot: slots.variable }, outer: accumulated };
    const iterated: Scope =
      node.second === undefined || slots.second === undefined
        ? first
        : { name: node.second, base: { kind: 'local', slot: slots.second }, outer: first };
    const compile = (part: Expr): Part => {
      const compiled = this.compile(part, part === node.result ? accumulated : iterated);
      return { ...runnableOf(compiled), isConstant: compiled.kind === 'constant' };
    };
    return computed(comprehensionStep(node, { range, slots }, initial, compile));
  }
}

/** An accumulator has its initial value from when it is first read. */
function readAccumulator(slot: number, initial: Step): Step {
  return (frame) => {
    const { locals } = frame;
    const known = locals[slot];
    if (known !== undefined) return known;
    const value = initial(frame);
    locals[slot] = value;
    return value;
  };
}

const isOverload = (overloads: readonly Overload[], id: string): boolean =>
  overloads.length === 1 && overloads[0]?.id === id;

/** The kinds of types whose values have no parts. */
const scalars = new Set<CelType['kind']>(['null', 'bool', 'int', 'uint', 'double', 'string', 'bytes']);

/** Conversions of constants are done once, when the expression is compiled. */
const conversions = new Set(['bool', 'bytes', 'double', 'duration', 'dyn', 'int', 'string', 'timestamp', 'uint']);
