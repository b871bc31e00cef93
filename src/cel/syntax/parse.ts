/** Text to syntax tree: the grammar, the macros, and the limits of both. */
import { countCodePoints } from '../../meta/index.ts';
import type { Expr, Issue } from '../ast.ts';
import { tokenize } from './lexer.ts';
import { Nodes, ParseLimitError } from './nodes.ts';
import { type ParseOptions, Parser } from './parser.ts';
import { explain } from './syntax-errors.ts';

export type { ParseOptions } from './parser.ts';

interface ParseResult {
  /** Undefined when there are issues. */
  readonly expr: Expr | undefined;
  readonly issues: readonly Issue[];
}

/** The length of a source, in code points. */
const maxSourceLength = 100_000;

/** The tree of a source, or its issues. Never throws, and takes time in proportion to the length. */
export function parse(source: string, options: ParseOptions = {}): ParseResult {
  const size = source.length > maxSourceLength ? countCodePoints(source) : source.length;
  if (size > maxSourceLength) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${maxSourceLength}`;
    return { expr: undefined, issues: [{ offset: -1, message }] };
  }
  const tokens = tokenize(source);
  if (tokens.unrecognized.length > 0) return { expr: undefined, issues: explain(source, tokens) };
  const nodes = new Nodes();
  try {
    const expr = new Parser(source, tokens, nodes, options).start();
    if (expr === undefined) return { expr, issues: explain(source, tokens) };
    nodes.limitDepth(expr);
    return { expr: nodes.issues.length === 0 ? expr : undefined, issues: nodes.issues };
  } catch (error) {
    if (!(error instanceof ParseLimitError)) throw error;
    return { expr: undefined, issues: [...nodes.issues, error.issue] };
  }
}
