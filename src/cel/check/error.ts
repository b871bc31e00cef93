import type { Issue } from '../ast.ts';
import { formatIssues } from '../issues.ts';

/** An expression that does not parse or check. */
export class ExpressionError extends Error {
  readonly issues: readonly Issue[];

  constructor(source: string, issues: readonly Issue[]) {
    super(formatIssues(source, issues));
    this.name = 'ExpressionError';
    this.issues = issues;
  }
}
