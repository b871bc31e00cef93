import { text, type ValuesOf } from '../flags/flag.ts';
import type { Target } from './targets.ts';
import { pathOfTarget } from './targets.ts';

/** The flags of commands that select objects. */
export const selectorFlags = {
  selector: text(
    '',
    "Selector (label query) to filter on, supports '=', '==', '!=', 'in', 'notin'. Matching objects must satisfy all of the specified label constraints.",
    { short: 'l' },
  ),
  fieldSelector: text(
    '',
    "Selector (field query) to filter on, supports '=', '==', and '!='. The server only supports a limited number of field queries per type.",
  ),
};

export type SelectorValues = ValuesOf<typeof selectorFlags>;

/** Parameters of a URL; absent ones are undefined or empty. */
export interface Query {
  readonly [name: string]: string | number | boolean | undefined;
}

/** A path with its query. */
export function urlOf(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.append(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The query of a target: selectors apply where no name is given. */
export function targetUrl(target: Target, selectors: Partial<SelectorValues>, query: Query = {}): string {
  const { selector, fieldSelector } = target.name === undefined ? selectors : {};
  return urlOf(pathOfTarget(target), { labelSelector: selector, fieldSelector, ...query });
}
