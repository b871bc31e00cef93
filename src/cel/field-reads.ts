/** Finds out whether an expression reads a field of a variable. */
import { childrenOf, type Expr } from './ast.ts';
import type { CheckedExpression } from './environment.ts';

/**
 * Whether an expression reads a field of a declared variable by name: `claims.email`, `claims.?email` and
 * `has(claims.email)` do; `claims['email']` does not.
 */
export function readsField({ expr, referenceOf }: CheckedExpression, variable: string, field: string): boolean {
  const isVariable = (operand: Expr | undefined): boolean => {
    const reference = operand && referenceOf[operand.id];
    return operand?.kind === 'identifier' && reference?.kind === 'variable' && reference.name === variable;
  };
  const reads = (node: Expr): boolean => {
    if (node.kind === 'select') return node.field === field && isVariable(node.operand);
    if (node.kind !== 'call' || node.function !== '_?._') return false;
    const [operand, name] = node.args;
    return (
      name?.kind === 'literal' && name.value.type === 'string' && name.value.value === field && isVariable(operand)
    );
  };
  const pending: Expr[] = [expr];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (reads(node)) return true;
    for (const child of childrenOf(node)) pending.push(child);
  }
  return false;
}
