/** Small rules that the parts of a pod spec share; each gives its findings about one field. */
import { type FieldError, fieldError, inRange, type NameRule } from '../../../meta/index.ts';
import type { StrategyContext } from '../../../registry/index.ts';

/** What the findings about pods and their templates depend on besides them. */
export type PodRules = Pick<StrategyContext, 'names' | 'allowPrivileged'>;

/** The same for a pod spec. */
export interface SpecContext extends PodRules {
  /** Name of the pod whose own spec it is; undefined for the spec of a template. */
  readonly pod?: string;
}

/** How many texts of one kind are advice enough: an answer has room for far fewer. */
export const MAX_ADVICE = 1000;

/** One finding for each complaint of a rule about a text. */
export const byRule = (field: string, value: string, rule: NameRule): FieldError[] =>
  rule(value).map((why) => fieldError.invalid(field, value, why));

/** A finding unless the value is one of these. */
export const oneOf = (field: string, value: string, known: readonly string[]): FieldError[] =>
  known.includes(value) ? [] : [fieldError.notSupported(field, value, known)];

export const nonNegative = (field: string, value: number): FieldError[] =>
  value >= 0 ? [] : [fieldError.invalid(field, value, 'must be greater than or equal to 0')];

/** A finding unless the value lies between the bounds, both included. */
export const within = (field: string, value: number, low: number, high: number): FieldError[] =>
  inRange(value, low, high).map((why) => fieldError.invalid(field, value, why));

/** Mode bits of a file. */
export const fileMode = (field: string, mode: number | undefined): FieldError[] =>
  mode === undefined || (mode >= 0 && mode <= 0o777)
    ? []
    : [fieldError.invalid(field, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];

/** A path that no element leads upwards. */
export const noBacksteps = (field: string, path: string): FieldError[] =>
  path.split('/').includes('..') ? [fieldError.invalid(field, path, "must not contain '..'")] : [];

/** A relative path that leads nowhere upwards. */
export const descendingPath = (field: string, path: string): FieldError[] => [
  ...(path.startsWith('/') ? [fieldError.invalid(field, path, 'must be a relative path')] : []),
  ...noBacksteps(field, path),
];

/** As {@link descendingPath}, and no name that starts with two dots. */
export const localPath = (field: string, path: string): FieldError[] => [
  ...descendingPath(field, path),
  ...(path.startsWith('..') && !path.startsWith('..')
    ? [fieldError.invalid(field, path, "must not start with '..'")]
    : []),
];

/** Runs a rule on each entry of a list, with the path of the entry. */
export const eachOf = <T>(
  entries: readonly T[] | undefined,
  path: string,
  rule: (entry: T, path: string, index: number) => FieldError[],
): FieldError[] => (entries ?? []).flatMap((entry, i) => rule(entry, `${path}[${i}]`, i));
