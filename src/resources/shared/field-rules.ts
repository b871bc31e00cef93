/** Field rules that many kinds share: each returns its errors of one field. */
import {
  dns1035Label,
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

/** What the findings about pods and their templates depend on besides them. */
export type PodValidationContext = Pick<StrategyContext, 'names' | 'allowPrivileged'>;

/** The same for a pod spec. */
export interface PodSpecContext extends PodValidationContext {
  /** Name of the pod whose own spec it is; undefined for the spec of a template. */
  readonly pod?: string;
}

/** How many texts of one kind are advice enough: an answer has room for far fewer. */
export const MAX_WARNINGS = 1000;

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
  ...(path.startsWith('..') && !path.startsWith('../')
    ? [fieldError.invalid(field, path, "must not start with '..'")]
    : []),
];

/** Runs a rule on each entry of a list, with the path of the entry. */
export const eachOf = <T>(
  entries: readonly T[] | undefined,
  path: string,
  rule: (entry: T, path: string, index: number) => FieldError[],
): FieldError[] => (entries ?? []).flatMap((entry, i) => rule(entry, `${path}[${i}]`, i));

/** Whether an object is being created: it has no version yet. Some rules hold for new objects alone. */
export const isNew = ({ metadata }: { metadata: ObjectMeta }): boolean => (metadata.resourceVersion ?? '') === '';

/** A finding unless an object is named after what it holds; what its name was to start with is judged alike. */
export const validateNamed = ({ name, generateName }: ObjectMeta, wanted: string, why: string): FieldError[] =>
  Object.entries({ generateName, name })
    .filter(([, text]) => (text ?? '') !== '' && text !== wanted)
    .map(([field, text]) => fieldError.invalid(`metadata.${field}`, text as string, why));

/** A value in the form of plain JSON: what a schema's type says without its name. */
export const asJson = (value: unknown): Json | undefined => value as Json | undefined;

export const same = (a: unknown, b: unknown): boolean => jsonEqual(asJson(a) ?? null, asJson(b) ?? null);

/** A finding when a field that never changes has changed. */
export const unchanged = (field: string, value: unknown, old: unknown): FieldError[] =>
  same(value, old) ? [] : [immutable(field, asJson(value))];

/** What is wrong with a label selector, below `path`. */
export const selector = (value: unknown, path: string): FieldError[] => validateSelectorObject(asJson(value), path);

/** The complaints of a rule about a text, as one finding. */
export function byRuleAsOne(
  field: string,
  value: string,
  rule: (value: string) => string[],
  joint = ',',
): FieldError[] {
  const found = rule(value);
  return found.length === 0 ? [] : [fieldError.invalid(field, value, found.join(joint))];
}

/** A finding at each entry that an earlier one equals. */
export function unique<T>(
  entries: readonly T[] | null | undefined,
  path: string,
  key: (entry: T) => string,
  at = '',
): FieldError[] {
  const seen = new Set<string>();
  const found: FieldError[] = [];
  (entries ?? []).forEach((entry, i) => {
    const value = key(entry);
    if (seen.has(value)) found.push(fieldError.duplicate(`${path}[${i}]${at}`, value));
    seen.add(value);
  });
  return found;
}

/** Versions of reviews: each once, and named as versions are. */
export function validateReviewVersions(versions: readonly string[], path: string): FieldError[] {
  const seen = new Set<string>();
  return eachOf(versions, path, (version, at) => {
    if (seen.has(version)) return [fieldError.invalid(at, version, 'duplicate version')];
    seen.add(version);
    return byRule(at, version, dns1035Label);
  });
}

/** The finding of a value that repeats, with a reason. */
export function duplicateOf(field: string, value: Json, why: string): FieldError {
  const found = fieldError.duplicate(field, value);
  return { ...found, message: `${found.message}: ${why}` };
}

/** A count, or a share of at most the whole. */
export function nonNegativeOrPercent(field: string, value: number | string): FieldError[] {
  if (typeof value === 'number') return nonNegative(field, value);
  const found = byRule(field, value, percent);
  if (found.length === 0 && Number(value.slice(0, -1)) > 100) {
    found.push(fieldError.invalid(field, value, 'must not be greater than 100%'));
  }
  return found;
}

const pathForm = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const wholePath = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

/** A name such as `example.com/name`. */
export function domainPath(field: string, value: string, domain: (value: string) => string[]): FieldError[] {
  if (value === '') return [fieldError.required(field)];
  const slash = value.indexOf('/');
  const [host, path] = slash < 0 ? ['', ''] : [value.slice(0, slash), value.slice(slash + 1)];
  if (host === '' || path === '') {
    return [fieldError.invalid(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const found = byRule(field, host, domain);
  if (wholePath.test(path)) return found;
  return [...found, fieldError.invalid(field, path, `Invalid path (regex used for validation is '${pathForm}')`)];
}
