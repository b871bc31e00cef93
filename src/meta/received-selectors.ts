import { type FieldSelector, type LabelSelector, parseFieldSelector, parseLabelSelector } from './selectors.ts';
import { StatusError } from './status-error.ts';

/** The selectors of a request; absent when the request has none. */
export interface Selectors {
  readonly labelSelector?: ReceivedSelector<LabelSelector> | undefined;
  readonly fieldSelector?: ReceivedSelector<FieldSelector> | undefined;
}

/** The text of a selector as received, and the parsed selector or the 400 of its parser. */
export type ReceivedSelector<S> =
  | { readonly text: string; readonly selector: S; readonly error?: never }
  | { readonly text: string; readonly selector?: never; readonly error: StatusError };

/** Approximate memory of a requirement or a term, apart from its texts (bytes). */
const requirementBytes = 96;

/** Returns the approximate memory of the selectors of a request (bytes). */
export function selectorBytes({ labelSelector, fieldSelector }: Selectors): number {
  const parts = (labelSelector?.selector?.requirements.length ?? 0) + (fieldSelector?.selector?.terms.length ?? 0);
  // The text as it was received, and those of the requirements.
  const texts = 2 * ((labelSelector?.text.length ?? 0) + (fieldSelector?.text.length ?? 0));
  return parts * requirementBytes + texts;
}

/** Parses the selectors of a request. An empty text is an absent selector. */
export function receiveSelectors(labels: string, fields: string): Selectors {
  return {
    ...(labels === '' ? {} : { labelSelector: receiveSelector(labels, parseLabelSelector) }),
    ...(fields === '' ? {} : { fieldSelector: receiveSelector(fields, parseFieldSelector) }),
  };
}

function receiveSelector<S>(text: string, parse: (text: string) => S): ReceivedSelector<S> {
  try {
    return { text, selector: parse(text) };
  } catch (error) {
    if (error instanceof StatusError) return { text, error };
    throw error;
  }
}
