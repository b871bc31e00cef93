import type { Issue } from '../ast.ts';
import { formatIssues } from '../issues.ts';

/** The most issues that an error reports. */
const maxIssues = 100;

/** An expression that does not parse or check. The message has the first issues in the order of their places, then `advice`. */
export class ExpressionError extends Error {
  readonly issues: readonly Issue[];

  constructor(source: string, issues: readonly Issue[], advice?: string) {
    super([formatIssues(source, issues), ...(advice === undefined ? [] : [advice])].join('\n'));
    this.name = 'ExpressionError';
    this.issues = issues.toSorted((a, b) => a.offset - b.offset).slice(0, maxIssues);
  }
}
