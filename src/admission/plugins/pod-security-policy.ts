import { type FieldError, fieldError, getKey, type Names } from '../../meta/index.ts';
import type { PodSecurityConfiguration } from '../configuration/kinds.ts';
import type { Level } from './pod-security-checks.ts';

/** A level as of a minor version; Infinity for the latest. */
export interface LevelVersion {
  readonly level: Level;
  readonly minor: number;
}

/** The level of each mode in a namespace. */
export interface PodPolicy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
}

export const levels: readonly Level[] = ['privileged', 'baseline', 'restricted'];
const latest = Number.POSITIVE_INFINITY;

/** `restricted:latest`, `baseline:v1.25`. */
export const formatLevel = ({ level, minor }: LevelVersion): string =>
  `${level}:${Number.isFinite(minor) ? `v1.${minor}` : 'latest'}`;

export const sameLevel = (a: LevelVersion, b: LevelVersion): boolean => a.level === b.level && a.minor === b.minor;

/** Positive when `a` is stricter than `b`. */
export const compareLevels = (a: Level, b: Level): number => levels.indexOf(a) - levels.indexOf(b);

/** The policy of namespaces without labels: privileged unless the configuration says otherwise. */
export function defaultPolicy({ defaults = {} }: PodSecurityConfiguration): PodPolicy {
  const of = (mode: keyof PodPolicy): LevelVersion => ({
    level: levels.find((level) => level === defaults[mode]) ?? 'privileged',
    minor: minorOf(defaults[`${mode}-version`] || 'latest') ?? latest,
  });
  return { enforce: of('enforce'), audit: of('audit'), warn: of('warn') };
}

type Labels = { readonly [key: string]: string } | undefined;

/**
 * The policy of the labels of a namespace, and the field errors of invalid labels. An invalid `enforce` level counts as
 * restricted, an invalid `warn` or `audit` level as privileged. Without a `warn` level, that of an `enforce` label
 * applies if it is stricter than the default.
 */
export function policyFromLabels(
  labels: Labels,
  names: Pick<Names, 'labels'>,
  defaults: PodPolicy,
): { readonly policy: PodPolicy; readonly errors: readonly FieldError[] } {
  const errors: FieldError[] = [];
  const read = (mode: keyof PodPolicy, whenWrong: Level) => {
    const key = labelOf(mode, names);
    const level = getKey(labels ?? {}, key);
    const version = getKey(labels ?? {}, `${key}-version`);
    const known = levels.find((word) => word === level);
    if (level !== undefined && known === undefined) {
      const rule = `must be one of ${levels.join(', ')}`;
      errors.push(fieldError.invalid(`metadata.labels[${key}]`, level, rule));
    }
    if (version !== undefined && minorOf(version) === undefined) {
      const rule = 'must be "latest" or "v1.x"';
      errors.push(fieldError.invalid(`metadata.labels[${key}-version]`, version, rule));
    }
    return {
      level: level === undefined ? undefined : (known ?? whenWrong),
      minor: version === undefined ? undefined : (minorOf(version) ?? latest),
      valid: known !== undefined,
    };
  };
  const inMode = ({ level, minor }: ReturnType<typeof read>, otherwise: LevelVersion): LevelVersion => ({
    level: level ?? otherwise.level,
    minor: minor ?? otherwise.minor,
  });
  const stated = read('enforce', 'restricted');
  const enforce = inMode(stated, defaults.enforce);
  const audit = inMode(read('audit', 'privileged'), defaults.audit);
  const follows = stated.valid && compareLevels(enforce.level, defaults.warn.level) > 0;
  const warnLabels = read('warn', 'privileged');
  const warn = inMode(warnLabels, follows && warnLabels.level === undefined ? enforce : defaults.warn);
  return { policy: { enforce, audit, warn }, errors };
}

const labelOf = (mode: keyof PodPolicy, names: Pick<Names, 'labels'>) => `pod-security.${names.labels}/${mode}`;

/**
 * The warning that a policy of labels has no effect in an exempt namespace; undefined when there is nothing to warn of:
 * the policy is privileged in every mode, or that of namespaces without labels.
 */
export function exemptionWarning(
  namespace: string,
  policy: PodPolicy,
  labels: Labels,
  names: Pick<Names, 'labels'>,
  defaults: PodPolicy,
): string | undefined {
  const modes = ['enforce', 'audit', 'warn'] as const;
  if (modes.every((mode) => policy[mode].level === 'privileged')) return undefined;
  const isDefault = (mode: keyof PodPolicy) =>
    sameLevel(policy[mode], defaults[mode]) ||
    [policy, defaults].every(({ [mode]: { level } }) => level === 'privileged');
  if (modes.every(isDefault)) return undefined;
  const labelledModes = modes.filter((mode) => {
    const key = labelOf(mode, names);
    const labelled = [key, `${key}-version`].some((one) => getKey(labels ?? {}, one) !== undefined);
    return labelled && policy[mode].level !== 'privileged';
  });
  const levels = labelledModes.map((mode) => `${mode}=${formatLevel(policy[mode])}`).join(', ');
  return `namespace "${namespace}" is exempt from Pod Security, and the policy (${levels}) will be ignored`;
}

/** Undefined when the version is invalid. */
export function minorOf(text: string): number | undefined {
  if (text === 'latest') return latest;
  const digits = /^v1\.(0|[1-9][0-9]{0,8})$/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
