/** Field rules that many kinds share: each returns its errors of one field. */
import {
  dns1035Label,
  errorsOfEach,
  type FieldError,
  fieldError,
  immutable,
  inRange,
  type Json,
  jsonEqual,
  type NameRule,
  type ObjectMeta,
  percent,
  validateSelectorObject,
} from '../../meta/index.ts';
import type { StrategyContext } from '../../registry/index.ts';

/** The context of the validation of pods and pod templates. */
export interface PodValidationContext extends Pick<StrategyContext, 'names' | 'allowPrivileged'> {
  /** The object is being created: values are refused that are tolerated in stored objects only. */
  readonly creates?: boolean;
}

/** The context of the validation of a pod spec. */
export interface PodSpecContext extends PodValidationContext {
  /** Name of the pod; undefined for the spec of a template. */
  readonly pod?: string;
}

/** The most warnings of one kind that are collected; a response has room for far fewer. */
export const MAX_WARNINGS = 1000;

/** An error for each message of a name rule. */
export const byRule = (field: string, value: string, rule: NameRule): FieldError[] =>
  rule(value).map((why) => fieldError.invalid(field, value, why));

/** NotSupported unless the value is one of `supported`. */
export const oneOf = (field: string, value: string, supported: readonly string[]): FieldError[] =>
  supported.includes(value) ? [] : [fieldError.notSupported(field, value, supported)];

export const nonNegative = (field: string, value: number): FieldError[] =>
  value >= 0 ? [] : [fieldError.invalid(field, value, 'must be greater than or equal to 0')];

/** Invalid unless the value is between the bounds, inclusive. */
export const within = (field: string, value: number, low: number, high: number): FieldError[] =>
  inRange(value, low, high).map((why) => fieldError.invalid(field, value, why));

/** Validates the mode bits of a file. */
export const fileMode = (field: string, mode: number | undefined): FieldError[] =>
  mode === undefined || (mode >= 0 && mode <= 0o777)
    ? []
    : [fieldError.invalid(field, mode, 'must be a number between 0 and 0777 (octal), both inclusive')];

/** Rejects a path with a `..` element. */
export const noBacksteps = (field: string, path: string): FieldError[] =>
  /(?:^|\/)\.\.(?:\/|$)/.test(path) ? [fieldError.invalid(field, path, "must not contain '..'")] : [];

/** Rejects an absolute path and a path with a `..` element. */
export const descendingPath = (field: string, path: string): FieldError[] => [
  ...(path.startsWith('/') ? [fieldError.invalid(field, path, 'must be a relative path')] : []),
  ...noBacksteps(field, path),
];

/** As {@link descendingPath}; also rejects a path that starts with two dots. */
export const localPath = (field: string, path: string): FieldError[] => [
  ...descendingPath(field, path),
  ...(path.startsWith('..') && !path.startsWith('../')
    ? [fieldError.invalid(field, path, "must not start with '..'")]
    : []),
];

/** Runs a rule on each entry of a list, with the path of the entry: on those of a long list later, as `errorsOfEach` does. */
export const eachOf = <T>(
  entries: readonly T[] | undefined,
  path: string,
  rule: (entry: T, path: string, index: number) => FieldError[],
): FieldError[] => errorsOfEach(entries ?? [], (entry, i) => rule(entry, `${path}[${i}]`, i));

/** Whether an object is being created: it has no resourceVersion yet. */
export const isNew = ({ metadata }: { metadata: ObjectMeta }): boolean => (metadata.resourceVersion ?? '') === '';

/** The context of the validation of a pod, or of an object with a pod template. */
export const podContext = (object: { metadata: ObjectMeta }, context: PodValidationContext): PodValidationContext => ({
  ...context,
  creates: isNew(object),
});

/** Requires that `name` and `generateName`, where set, equal a name that follows from the spec. */
export const validateNamed = ({ name, generateName }: ObjectMeta, desired: string, why: string): FieldError[] =>
  Object.entries({ generateName, name })
    .filter(([, text]) => (text ?? '') !== '' && text !== desired)
    .map(([field, text]) => fieldError.invalid(`metadata.${field}`, text as string, why));

export const same = (a: Json | undefined, b: Json | undefined): boolean => jsonEqual(a ?? null, b ?? null);

/** The `immutable` error when a field has changed. */
export const unchanged = (field: string, value: Json | undefined, old: Json | undefined): FieldError[] =>
  same(value, old) ? [] : [immutable(field, value)];

/** Validates a label selector. */
export const selector = (value: Json | undefined, path: string): FieldError[] => validateSelectorObject(value, path);

/** One error with all messages of a name rule. */
export function byRuleAsOne(
  field: string,
  value: string,
  rule: (value: string) => string[],
  joint = ',',
): FieldError[] {
  const problems = rule(value);
  return problems.length === 0 ? [] : [fieldError.invalid(field, value, problems.join(joint))];
}

/** A Duplicate error for each entry that repeats the key of an earlier one. */
export function unique<T>(
  entries: readonly T[] | null | undefined,
  path: string,
  key: (entry: T) => string,
  at = '',
): FieldError[] {
  const seen = new Set<string>();
  const errors: FieldError[] = [];
  (entries ?? []).forEach((entry, i) => {
    const value = key(entry);
    if (seen.has(value)) errors.push(fieldError.duplicate(`${path}[${i}]${at}`, value));
    seen.add(value);
  });
  return errors;
}

/** Validates review versions: unique DNS labels. */
export function validateReviewVersions(versions: readonly string[], path: string): FieldError[] {
  const seen = new Set<string>();
  return eachOf(versions, path, (version, at) => {
    if (seen.has(version)) return [fieldError.invalid(at, version, 'duplicate version')];
    seen.add(version);
    return byRule(at, version, dns1035Label);
  });
}

/** A Duplicate error with a reason. */
export function duplicateOf(field: string, value: Json, why: string): FieldError {
  const error = fieldError.duplicate(field, value);
  return { ...error, message: `${error.message}: ${why}` };
}

/** Validates an int-or-percent: not negative, at most 100%. */
export function nonNegativeOrPercent(field: string, value: number | string): FieldError[] {
  if (typeof value === 'number') return nonNegative(field, value);
  const errors = byRule(field, value, percent);
  if (errors.length === 0 && Number(value.slice(0, -1)) > 100) {
    errors.push(fieldError.invalid(field, value, 'must not be greater than 100%'));
  }
  return errors;
}
