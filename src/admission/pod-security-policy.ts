import { type FieldError, fieldError, type Names } from '../meta/index.ts';
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

const levels: readonly Level[] = ['privileged', 'baseline', 'restricted'];
const privilegedLatest: LevelVersion = { level: 'privileged', minor: Number.POSITIVE_INFINITY };

/** `restricted:latest`, `baseline:v1.25`. */
export const formatLevel = ({ level, minor }: LevelVersion): string =>
  `${level}:${Number.isFinite(minor) ? `v1.${minor}` : 'latest'}`;

export const sameLevel = (a: LevelVersion, b: LevelVersion): boolean => a.level === b.level && a.minor === b.minor;

/** Positive when `a` is stricter than `b`. */
export const compareLevels = (a: Level, b: Level): number => levels.indexOf(a) - levels.indexOf(b);

/**
 * The policy of the labels of a namespace, and the field errors of invalid labels. An invalid `enforce` level counts as
 * restricted, an invalid `warn` or `audit` level as privileged. `warn` defaults to the enforced level.
 */
export function policyFromLabels(
  labels: { readonly [key: string]: string } | undefined,
  names: Pick<Names, 'labels'>,
): { readonly policy: PodPolicy; readonly errors: readonly FieldError[] } {
  const errors: FieldError[] = [];
  const read = (mode: keyof PodPolicy, otherwise: LevelVersion, whenWrong: Level): LevelVersion => {
    const value = (key: string) => (labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined);
    const key = `pod-security.${names.labels}/${mode}`;
    const level = value(key);
    const version = value(`${key}-version`);
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
      level: known ?? (level === undefined ? otherwise.level : whenWrong),
      minor:
        version === undefined
          ? level === undefined
            ? otherwise.minor
            : privilegedLatest.minor
          : (minorOf(version) ?? privilegedLatest.minor),
    };
  };
  const enforce = read('enforce', privilegedLatest, 'restricted');
  const stated = !errors.some(({ field }) => field === `metadata.labels[pod-security.${names.labels}/enforce]`);
  const audit = read('audit', privilegedLatest, 'privileged');
  const warn = read('warn', stated && enforce.level !== 'privileged' ? enforce : privilegedLatest, 'privileged');
  return { policy: { enforce, audit, warn }, errors };
}

/** Undefined when the version is invalid. */
function minorOf(text: string): number | undefined {
  if (text === 'latest') return privilegedLatest.minor;
  const digits = /^v1\.(0|[1-9][0-9]{0,8})$/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
