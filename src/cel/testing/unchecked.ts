/** Expressions that are evaluated without being checked: names are resolved, types are not known. */
import type { Expr } from '../ast.ts';
import { resolveFunction, resolveName } from '../check/environment.ts';
import type { CheckedExpression, Environment, Reference } from '../environment.ts';
import { dynType } from '../types.ts';

export function unchecked(environment: Environment, source: string, expr: Expr): CheckedExpression {
  const referenceOf: (Reference | undefined)[] = [];
  resolveNames(environment, expr, new Set(), referenceOf);
  return { source, environment, expr, type: dynType, typeOf: [], referenceOf, variables: new Set() };
}

type References = (Reference | undefined)[];

function resolveNames(environment: Environment, expr: Expr, locals: ReadonlySet<string>, references: References): void {
  const visit = (child: Expr, known = locals): void => resolveNames(environment, child, known, references);
  switch (expr.kind) {
    case 'identifier':
      if (!locals.has(expr.name)) references[expr.id] = global(environment, expr.name) ?? undeclared(expr.name);
      return;
    case 'select': {
      const name = qualifiedName(expr);
      const known = name === undefined ? undefined : global(environment, name);
      if (known === undefined) visit(expr.operand);
      else references[expr.id] = known;
      return;
    }
    case 'call': {
      const namespace = expr.target === undefined ? undefined : qualifiedName(expr.target);
      const qualified =
        namespace === undefined ? undefined : resolveFunction(environment, `${namespace}.${expr.function}`);
      const overloads = qualified ?? resolveFunction(environment, expr.function) ?? [];
      references[expr.id] = { kind: 'function', overloads, qualified: qualified !== undefined };
      if (expr.target !== undefined && qualified === undefined) visit(expr.target);
      for (const arg of expr.args) visit(arg);
      return;
    }
    case 'list':
      for (const element of expr.elements) visit(element);
      return;
    case 'map':
      for (const child of expr.entries.flatMap(({ key, value }) => [key, value])) visit(child);
      return;
    case 'object':
      for (const { value } of expr.entries) visit(value);
      return;
    case 'comprehension': {
      visit(expr.range);
      visit(expr.initial);
      const inner = new Set([...locals, expr.accumulator, expr.variable, expr.second ?? expr.variable]);
      for (const child of [expr.condition, expr.step, expr.result]) visit(child, inner);
    }
  }
}

const global = (environment: Environment, name: string) => resolveName(environment, name)?.reference;

/** A variable that has no value. */
const undeclared = (name: string): Reference => ({ kind: 'variable', name, slot: -1 });

function qualifiedName(expr: Expr): string | undefined {
  if (expr.kind === 'identifier') return expr.name;
  const prefix = expr.kind === 'select' && !expr.test ? qualifiedName(expr.operand) : undefined;
  return prefix === undefined || expr.kind !== 'select' ? undefined : `${prefix}.${expr.field}`;
}
