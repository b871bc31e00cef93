import { type FieldError, fieldError, qualifiedName } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import { byRule, eachOf } from '../core/pod-spec/field-rules.ts';
import type { TopologySelectorTerm } from '../types/core-v1.ts';
import { unique } from '../validate/common.ts';

type Term = Infer<typeof TopologySelectorTerm>;

/** Where volumes may be made: no term says the same as one before it, or nothing. */
export function validateTopologies(terms: readonly Term[] | undefined, path: string): FieldError[] {
  // A term that says nothing is told as a repetition, even the first.
  const seen = new Set(['[]']);
  return eachOf(terms, path, ({ matchLabelExpressions: expressions = [] }, at) => {
    const list = `${at}.matchLabelExpressions`;
    const found = [
      ...unique(expressions, list, ({ key = '' }) => key, '.key'),
      ...eachOf(expressions, list, ({ key = '', values }, place) => [
        ...unique(values, `${place}.values`, (value) => value),
        ...byRule(`${place}.key`, key, qualifiedName),
      ]),
    ];
    const identity = JSON.stringify(
      expressions.map(({ key = '', values }) => [key, ...new Set([...(values ?? [])].sort())].join('\n')).sort(),
    );
    if (seen.has(identity)) found.push(fieldError.duplicate(list, ''));
    seen.add(identity);
    return found;
  });
}
