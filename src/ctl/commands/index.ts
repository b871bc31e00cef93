/** The table of commands. */
import type { CommandGroup } from '../flags/help.ts';
import { apiResourcesCommand } from './api-resources.ts';
import { applyCommand } from './apply.ts';
import { createCommand } from './create/create.ts';
import { deleteCommand } from './delete.ts';
import { getCommand } from './get.ts';
import { annotateCommand, labelCommand } from './label.ts';
import { patchCommand } from './patch.ts';
import { replaceCommand } from './replace.ts';
import { versionCommand } from './version.ts';

/** All commands, as the overview groups them. */
export const commandGroups: readonly CommandGroup[] = [
  { title: 'Basic Commands', commands: [createCommand, getCommand, deleteCommand] },
  { title: 'Advanced Commands', commands: [applyCommand, patchCommand, replaceCommand] },
  { title: 'Settings Commands', commands: [labelCommand, annotateCommand] },
  { title: 'Other Commands', commands: [apiResourcesCommand, versionCommand] },
];
