// Messages about violations of a pod security level.

/** A violation: a reason that is the same for all pods, and the fields of this pod. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

/** A container, as messages name it. */
interface Named {
  readonly name?: string;
}

export const plural = (word: string, many: string, number: number): string => (number === 1 ? word : many);

export const quoted = (names: Iterable<string>): string => [...names].map((name) => `"${name}"`).join(', ');

/** Sorted, without duplicates. */
export const ordered = (values: Iterable<string>): string[] => [...new Set(values)].sort();

/** `container "a"`, `containers "a", "b"`. */
export const formatContainers = (containers: readonly Named[]): string =>
  `${plural('container', 'containers', containers.length)} ${quoted(containers.map(({ name = '' }) => name))}`;

/** `pod and container "a"`: the holders of a disallowed value. */
export const formatSetters = (pod: boolean, containers: readonly Named[]): string =>
  [...(pod ? ['pod'] : []), ...(containers.length === 0 ? [] : [formatContainers(containers)])].join(' and ');

/** All violations with details, for the message of a rejection. */
export const formatDetails = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ');

/** All violations without details, to group pods by. */
export const formatReasons = (violations: readonly Violation[]): string =>
  violations.map(({ reason }) => reason).join(', ');
