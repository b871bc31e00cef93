import { formatGroupVersion, type Names } from '../meta/index.ts';
import type { ResourceVersion, Target } from '../registry/index.ts';
import type { Call } from './call.ts';

/** Adds the warning and the audit annotations of a deprecated version. */
export function reportDeprecation(
  { warn, audit }: Pick<Call, 'warn' | 'audit'>,
  { resource: { definition }, version }: Target,
  deprecated: NonNullable<ResourceVersion['deprecated']>,
  { domain }: Names,
): void {
  audit?.annotate(`${domain}/deprecated`, 'true');
  if ('warning' in deprecated) {
    warn(deprecated.warning);
    return;
  }
  const { since, removed, replacement } = deprecated;
  const what = `${formatGroupVersion({ group: definition.group, version })} ${definition.kind}`;
  const until = removed === undefined ? '' : `, unavailable in v${removed}+`;
  const instead = replacement === undefined ? '' : `; use ${replacement}`;
  if (removed !== undefined) audit?.annotate(`${domain}/removed-release`, removed);
  warn(`${what} is deprecated in v${since}+${until}${instead}`);
}
