/** The table of commands. */
import type { CommandGroup } from '../flags/help.ts';
import { apiResourcesCommand } from './api-resources.ts';
import { getCommand } from './get.ts';
import { versionCommand } from './version.ts';

/** All commands, as the overview groups them. */
export const commandGroups: readonly CommandGroup[] = [
  { title: 'Basic Commands', commands: [getCommand] },
  { title: 'Other Commands', commands: [apiResourcesCommand, versionCommand] },
];
