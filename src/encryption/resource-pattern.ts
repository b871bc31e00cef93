/** Which resources a rule of the configuration is for. */
import type { GroupResource } from '../meta/index.ts';

/** `secrets`, `deployments.apps`, `*.apps`, `*.` (the core group), `*.*`. The group follows the first dot. */
export function parseResource(text: string): GroupResource {
  const dot = text.indexOf('.');
  return dot < 0 ? { resource: text, group: '' } : { resource: text.slice(0, dot), group: text.slice(dot + 1) };
}

/** The patterns that a resource matches, the narrowest first, as written in the configuration. */
export const patternsOf = (given: GroupResource): string[] => {
  const { resource, group } = given;
  return [group === '' ? resource : `${resource}.${group}`, ...widePatternsOf(given)];
};

/** The patterns for all resources of a group, or of all groups, that a resource or a pattern matches. */
export const widePatternsOf = ({ group }: GroupResource): string[] => [`*.${group}`, '*.*'];
