/** Rules for literals beyond their types, validated once an expression has no other issue. */
import { Pace, type Steps } from '../../meta/index.ts';
import { type Call, childrenOf, type Expr, type Issue, type Literal } from '../ast.ts';
import type { CheckedExpression } from '../environment.ts';
import { succeeds } from '../library/overloads.ts';
import type { Overload } from '../library.ts';
import { type CelType, dynType } from '../types.ts';
import { literalValue } from '../values.ts';
import { formatType } from './format.ts';
import { Unifier } from './unify.ts';

/** Functions whose literal argument must be valid: a failure at run time would be certain. */
const validated: ReadonlySet<string> = new Set(['duration', 'timestamp', 'matches']);

/** Functions whose arguments may be literals of several types. */
const heterogeneous: ReadonlySet<string> = new Set(['format']);

/** Visits that the validation of a call with a literal counts as: a regular expression is compiled. */
const validationVisits = 50;

export function* validateLiterals(checked: CheckedExpression): Steps<readonly Issue[]> {
  const issues: Issue[] = [];
  const pace = new Pace();
  const types = new Unifier();
  const typeOf = (expr: Expr): CelType => checked.typeOf[expr.id] ?? dynType;

  const same = (items: readonly { readonly expr: Expr; readonly optional: boolean }[], stopAtFirst: boolean): void => {
    let expected: CelType | undefined;
    for (const { expr, optional } of items) {
      const whole = typeOf(expr);
      const type = optional && whole.kind === 'optional' ? whole.value : whole;
      expected ??= type;
      if (types.equal(expected, type)) continue;
      issues.push({
        offset: expr.offset,
        message: `expected type '${formatType(expected)}' but found '${formatType(type)}'`,
      });
      if (stopAtFirst) return;
    }
  };

  function* visit(expr: Expr, exempt: boolean): Steps<void> {
    let inner = exempt;
    const isValidated = expr.kind === 'call' && validated.has(expr.function);
    if (pace.over(isValidated ? validationVisits : 1)) yield;
    if (expr.kind === 'call') {
      for (const issue of validateCall(checked, expr, typeOf)) issues.push(issue);
      inner ||= heterogeneous.has(expr.function);
    } else if (expr.kind === 'list' && !exempt) {
      same(
        expr.elements.map((element, i) => ({ expr: element, optional: expr.optional.has(i) })),
        true,
      );
    } else if (expr.kind === 'map' && !exempt) {
      same(
        expr.entries.map(({ key }) => ({ expr: key, optional: false })),
        false,
      );
      same(
        expr.entries.map(({ value, optional }) => ({ expr: value, optional })),
        false,
      );
    }
    for (const child of childrenOf(expr)) yield* visit(child, inner);
  }
  yield* visit(checked.expr, false);
  return issues;
}

function validateCall(checked: CheckedExpression, call: Call, typeOf: (expr: Expr) => CelType): readonly Issue[] {
  const reference = checked.referenceOf[call.id];
  if (reference?.kind !== 'function') return [];
  const [overload, ...others] = reference.overloads;
  const issues = reference.overloads.flatMap((candidate) => candidate.validate?.(call, typeOf) ?? []);
  const literal = call.args[0];
  if (overload === undefined || others.length > 0 || literal?.kind !== 'literal') return issues;
  return validated.has(call.function) && fails(overload, call, literal)
    ? [...issues, { offset: literal.offset, message: `invalid ${call.function} argument` }]
    : issues;
}

/** Whether a call with a literal fails for any other arguments. */
function fails(overload: Overload, call: Call, literal: Literal): boolean {
  const args = [
    ...(overload.member === true ? [''] : []),
    literalValue(literal.value),
    ...call.args.slice(1).map(() => ''),
  ];
  return !succeeds(overload.call)(...args);
}
