/** Which resources a rule of the configuration is for. */
import type { GroupResource } from '../meta/index.ts';

/** `secrets`, `deployments.apps`, `*.apps`, `*.` (the core group), `*.*`. The group follows the first dot. */
export function parseResource(text: string): GroupResource {
  const dot = text.indexOf('.');
  return dot < 0 ? { resource: text, group: '' } : { resource: text.slice(0, dot), group: text.slice(dot + 1) };
}

/** The patterns that a resource matches, the narrowest first, as written in the configuration. */
export const patternsOf = ({ resource, group }: GroupResource): string[] => [
  group === '' ? resource : `${resource}.${group}`,
  `*.${group}`,
  '*.*',
];

/** Whether the pattern is for all resources of a group, or of all groups. */
export const isWide = ({ resource }: GroupResource): boolean => resource === '*';

/** Whether every resource of the first pattern matches the second one too. */
export const covers = (narrow: GroupResource, wide: GroupResource): boolean =>
  isWide(wide) && (wide.group === '*' || wide.group === narrow.group);
