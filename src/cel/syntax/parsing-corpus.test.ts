import { tests } from '@bufbuild/cel-spec/testdata/parsing.js';
import { describe, expect, it } from 'vitest';
import { formatIssues } from '../issues.ts';
import { printTree } from '../testing/print.ts';
import { parse } from './parse.ts';

const all = {
  optionalSyntax: true,
  twoVariableMacros: true,
  bindings: true,
  mathMacros: true,
  escapedIdentifiers: true,
};

/** Cases that lower a limit, and two that report a disabled feature in addition to a syntax error. */
const isSkipped = (error: string): boolean =>
  /limit exceeded: (4|32)\b|max recursion depth/.test(error) ||
  (error.includes('unsupported syntax') && error.includes('Syntax error'));
const compact = (text: string): string => text.replace(/\^#[^#]*#|\s+/g, '');

const trees: [string, string][] = [];
const failures: [string, string][] = [];
for (const { original, ast, error } of tests.tests ?? []) {
  // Expansions of macros have tests of their own.
  if (ast !== undefined) {
    if (!ast.includes('__comprehension__')) trees.push([original.expr, compact(ast)]);
  } else if (error !== undefined && !isSkipped(error)) {
    failures.push([original.expr, error.replaceAll('ERROR: :', 'ERROR: <input>:').trim()]);
  }
}

describe('the corpus of the specification', () => {
  it.each(trees)('has the tree of %j', (source, expected) => {
    const { expr, issues } = parse(source, all);
    expect(issues).toEqual([]);
    const printed = printTree(expr!).replaceAll('\\u0007', '\\a').replaceAll('\\u000b', '\\v');
    expect(compact(printed)).toBe(expected);
  });

  it.each(failures)('has the issues of %j', (source, expected) => {
    const { expr, issues } = parse(source, expected.includes('unsupported syntax') ? {} : all);
    expect(expr).toBeUndefined();
    expect(formatIssues(source, issues)).toBe(expected);
  });

  it('is read', () => {
    expect(trees.length).toBeGreaterThan(80);
    expect(failures.length).toBeGreaterThan(50);
  });
});
