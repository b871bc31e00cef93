/** Type checking: the type of each node, and the declaration that it refers to. */

import { atOnce, type Steps } from '../../meta/index.ts';
import type { Expr, Issue } from '../ast.ts';
import type { CheckedExpression, Environment } from '../environment.ts';
import { parse } from '../syntax/parse.ts';
import { dynType } from '../types.ts';
import { Checker } from './checker.ts';
import { ExpressionError } from './error.ts';
import { TypeComplexityError } from './unify.ts';
import { validateLiterals } from './validate.ts';

type Parsed = { readonly source: string; readonly expr: Expr };

/**
 * The expression with the type and the reference of each node.
 * @throws ExpressionError with the issues in the order of their places
 */
export function check(environment: Environment, expression: string | Parsed): CheckedExpression {
  return atOnce(validateExpression(checkTypes(environment, expression)));
}

/** The same in steps: one to parse the expression, one for its types, some for its literals. @throws ExpressionError */
export function* checkInSteps(environment: Environment, source: string): Steps<CheckedExpression> {
  const expression = parseSource(environment, source);
  yield;
  const checked = checkTypes(environment, expression);
  yield;
  return yield* validateExpression(checked);
}

/** Validates the literals of an expression. @throws ExpressionError */
function* validateExpression(checked: CheckedExpression): Steps<CheckedExpression> {
  try {
    throwIssues(checked.source, yield* validateLiterals(checked));
    return checked;
  } catch (error) {
    throw complexity(checked, error);
  }
}

/** Checks the types only: literals may be lists and maps of several types, as the language allows. */
export function checkTypes(environment: Environment, expression: string | Parsed): CheckedExpression {
  const { source, expr } = typeof expression === 'string' ? parseSource(environment, expression) : expression;
  try {
    const { unifier, issues, typeOf, referenceOf, variables } = new Checker(environment).check(expr);
    throwIssues(source, issues);
    return {
      source,
      environment,
      expr,
      referenceOf,
      variables,
      type: unifier.substitute(typeOf[expr.id] ?? dynType, dynType),
      typeOf: typeOf.map((type) => type && unifier.substitute(type, dynType)),
    };
  } catch (error) {
    throw complexity({ source, expr }, error);
  }
}

/** Converts an error of a check: to an ExpressionError when the types are too complex. */
function complexity({ source, expr }: Parsed, error: unknown): unknown {
  if (!(error instanceof TypeComplexityError)) return error;
  const message = 'the types of the expression are too complex';
  return new ExpressionError(source, [{ offset: expr.offset, message }]);
}

function parseSource(environment: Environment, source: string): Parsed {
  const { expr, issues } = parse(source, environment.syntax);
  throwIssues(source, issues);
  if (expr === undefined) throw new ExpressionError(source, [{ offset: 0, message: 'no expression' }]);
  return { source, expr };
}

function throwIssues(source: string, issues: readonly Issue[]): void {
  if (issues.length > 0) throw new ExpressionError(source, issues);
}
