/** Type checking: what each node refers to, and its type. */
import type { Expr, Issue } from '../ast.ts';
import type { CheckedExpression, Environment } from '../environment.ts';
import { parse } from '../syntax/parse.ts';
import { dynType } from '../types.ts';
import { Checker } from './checker.ts';
import { ExpressionError } from './error.ts';
import { TypeTooComplex } from './unify.ts';
import { validateLiterals } from './validate.ts';

/**
 * The expression with the type and the reference of each node.
 * @throws ExpressionError with the issues in the order of their places
 */
export function check(
  environment: Environment,
  expression: string | { readonly source: string; readonly expr: Expr },
): CheckedExpression {
  const { source, expr } = typeof expression === 'string' ? parsed(environment, expression) : expression;
  const checker = new Checker(environment);
  try {
    checker.visit(expr);
    throwIssues(source, checker.issues);
    const checked = {
      source,
      environment,
      expr,
      type: checker.unifier.substitute(checker.typeOf[expr.id] ?? dynType, dynType),
      typeOf: checker.typeOf.map((type) => type && checker.unifier.substitute(type, dynType)),
      referenceOf: checker.referenceOf,
      variables: checker.variables,
    };
    throwIssues(source, validateLiterals(checked));
    return checked;
  } catch (error) {
    if (!(error instanceof TypeTooComplex)) throw error;
    throw new ExpressionError(source, [
      { offset: expr.offset, message: 'the types of the expression are too complex' },
    ]);
  }
}

function parsed(environment: Environment, source: string): { source: string; expr: Expr } {
  const { expr, issues } = parse(source, environment.syntax);
  throwIssues(source, issues);
  if (expr === undefined) throw new ExpressionError(source, [{ offset: 0, message: 'no expression' }]);
  return { source, expr };
}

function throwIssues(source: string, issues: readonly Issue[]): void {
  if (issues.length > 0) throw new ExpressionError(source, issues);
}
