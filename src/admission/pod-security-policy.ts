import { type FieldError, fieldError, type Names } from '../meta/index.ts';
import type { Level } from './pod-security-checks.ts';

/** A level as it was in a minor version; infinite for the latest. */
export interface LevelVersion {
  readonly level: Level;
  readonly minor: number;
}

/** What holds in a namespace: what pods must keep, what is written down, what the writer is told. */
export interface PodPolicy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
}

const levels: readonly Level[] = ['privileged', 'baseline', 'restricted'];
const open: LevelVersion = { level: 'privileged', minor: Number.POSITIVE_INFINITY };

/** `restricted:latest`, `baseline:v1.25`. */
export const tellLevel = ({ level, minor }: LevelVersion): string =>
  `${level}:${Number.isFinite(minor) ? `v1.${minor}` : 'latest'}`;

export const sameLevel = (a: LevelVersion, b: LevelVersion): boolean => a.level === b.level && a.minor === b.minor;

/** Positive when `a` is the stricter one. */
export const compareLevels = (a: Level, b: Level): number => levels.indexOf(a) - levels.indexOf(b);

/**
 * The policy that the labels of a namespace state, and what is wrong with them. A wrong level enforces the strictest,
 * and neither warns nor is written down. Who is told nothing else is warned of what is enforced.
 */
export function readPolicy(
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
        version === undefined ? (level === undefined ? otherwise.minor : open.minor) : (minorOf(version) ?? open.minor),
    };
  };
  const enforce = read('enforce', open, 'restricted');
  const stated = !errors.some(({ field }) => field === `metadata.labels[pod-security.${names.labels}/enforce]`);
  const audit = read('audit', open, 'privileged');
  const warn = read('warn', stated && enforce.level !== 'privileged' ? enforce : open, 'privileged');
  return { policy: { enforce, audit, warn }, errors };
}

/** Undefined when the text is no version. */
function minorOf(text: string): number | undefined {
  if (text === 'latest') return open.minor;
  const digits = /^v1\.(0|[1-9][0-9]{0,8})$/.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
