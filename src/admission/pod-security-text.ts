import type { JsonObject } from '../meta/index.ts';
import { textOf } from './fields.ts';

// How findings about pods are told.

/** What a check finds: what for, and where. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export const plural = (word: string, many: string, number: number): string => (number === 1 ? word : many);

export const quoted = (names: Iterable<string>): string => [...names].map((name) => `"${name}"`).join(', ');

/** The values in their order, each once. */
export const ordered = (values: Iterable<string>): string[] => [...new Set(values)].sort();

/** `container "a"`, `containers "a", "b"`. */
export const tellContainers = (containers: readonly JsonObject[]): string =>
  `${plural('container', 'containers', containers.length)} ${quoted(containers.map(({ name }) => textOf(name)))}`;

/** `pod and container "a"`: those that set something to what it may not be. */
export const tellSetters = (pod: boolean, containers: readonly JsonObject[]): string =>
  [...(pod ? ['pod'] : []), ...(containers.length === 0 ? [] : [tellContainers(containers)])].join(' and ');

/** All findings with their details, as a refusal tells them. */
export const tellDetails = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');

/** All findings without details, as they are the same for many pods. */
export const tellReasons = (violations: readonly Violation[]): string =>
  violations.map(({ reason }) => reason).join(', ');
