import type { ReceivedSelector, Selectors } from '../meta/index.ts';
import type { Attributes, Requirements } from './types.ts';

export type SelectorAttributes = Pick<Attributes, 'fieldSelector' | 'labelSelector'>;

/** Selectors as attributes. A selector of everything is none. */
export function selectorAttributes({ fieldSelector, labelSelector }: Selectors): SelectorAttributes {
  const fields = fieldSelector && requirementsOf(fieldSelector, ({ terms }) => terms);
  const labels = labelSelector && requirementsOf(labelSelector, ({ requirements }) => requirements);
  return {
    ...(fields === undefined ? {} : { fieldSelector: fields }),
    ...(labels === undefined ? {} : { labelSelector: labels }),
  };
}

function requirementsOf<S, R>(
  { selector, error }: ReceivedSelector<S>,
  list: (selector: S) => readonly R[],
): Requirements<R> | undefined {
  if (error !== undefined) return { requirements: [], error: error.message };
  const requirements = list(selector);
  return requirements.length === 0 ? undefined : { requirements };
}
