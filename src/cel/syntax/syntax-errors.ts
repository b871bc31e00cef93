import type { Issue } from '../ast.ts';
import type { Tokens } from './lexer.ts';

/** What is wrong with a text that the grammar does not have. */
export function explain(_source: string, tokens: Tokens): readonly Issue[] {
  return tokens.issues.length > 0 ? tokens.issues : [{ offset: 0, message: 'Syntax error' }];
}
