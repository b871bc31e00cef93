/** Type checking: the type of each node, and the declaration that it refers to. */

import type { Steps } from '../../meta/index.ts';
import type { Expr, Issue } from '../ast.ts';
import type { CheckedExpression, Environment } from '../environment.ts';
import { parse } from '../syntax/parse.ts';
import { dynType } from '../types.ts';
import { Checker } from './checker.ts';
import { ExpressionError } from './error.ts';
import { TypeTooComplex } from './unify.ts';
import { validateLiterals } from './validate.ts';

type Parsed = { readonly source: string; readonly expr: Expr };

/**
 * The expression with the type and the reference of each node.
 * @throws ExpressionError with the issues in the order of their places
 */
export function check(environment: Environment, expression: string | Parsed): CheckedExpression {
  const checked = checkTypes(environment, expression);
  throwIssues(
    checked.source,
    bounded(checked, () => validateLiterals(checked)),
  );
  return checked;
}

/** The same in steps: one to parse the expression, one for its types. @throws ExpressionError */
export function* checkInSteps(environment: Environment, source: string): Steps<CheckedExpression> {
  const expression = parsed(environment, source);
  yield;
  return check(environment, expression);
}

/** The same with literals as the language allows them: also lists and maps of several types. */
export function checkTypes(environment: Environment, expression: string | Parsed): CheckedExpression {
  const { source, expr } = typeof expression === 'string' ? parsed(environment, expression) : expression;
  return bounded({ source, expr }, () => {
    const { unifier, issues, typeOf, referenceOf, variables } = new Checker(environment).check(expr);
    throwIssues(source, issues);
    return {
      ...{ source, environment, expr, referenceOf, variables },
      type: unifier.substitute(typeOf[expr.id] ?? dynType, dynType),
      typeOf: typeOf.map((type) => type && unifier.substitute(type, dynType)),
    };
  });
}

/** @throws ExpressionError when the types take too long */
function bounded<T>({ source, expr }: Parsed, compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    if (!(error instanceof TypeTooComplex)) throw error;
    const message = 'the types of the expression are too complex';
    throw new ExpressionError(source, [{ offset: expr.offset, message }]);
  }
}

function parsed(environment: Environment, source: string): Parsed {
  const { expr, issues } = parse(source, environment.syntax);
  throwIssues(source, issues);
  if (expr === undefined) throw new ExpressionError(source, [{ offset: 0, message: 'no expression' }]);
  return { source, expr };
}

function throwIssues(source: string, issues: readonly Issue[]): void {
  if (issues.length > 0) throw new ExpressionError(source, issues);
}
