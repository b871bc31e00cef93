/** The table of commands. */
import type { Command } from '../command.ts';
import type { CommandGroup } from '../flags/help.ts';
import { apiResourcesCommand } from './api-resources.ts';
import { apiVersionsCommand } from './api-versions.ts';
import { applyCommand } from './apply.ts';
import { authCommand } from './auth/auth.ts';
import { completionCommand, wordsCommand } from './completion.ts';
import { configCommand } from './config/config.ts';
import { convertCommand } from './convert.ts';
import { createCommand } from './create/create.ts';
import { deleteCommand } from './delete.ts';
import { describeCommand } from './describe.ts';
import { diffCommand } from './diff.ts';
import { editCommand } from './edit.ts';
import { explainCommand } from './explain.ts';
import { getCommand } from './get.ts';
import { historyAndOwners } from './history-and-owners.ts';
import { kustomizeCommand } from './kustomize.ts';
import { annotateCommand, labelCommand } from './label.ts';
import { operations } from './operations.ts';
import { patchCommand } from './patch.ts';
import { replaceCommand } from './replace.ts';
import { versionCommand } from './version.ts';
import { waitCommand } from './wait.ts';

/** All commands, as the overview groups them. */
export const commandGroups: readonly CommandGroup[] = [
  { title: 'Basic Commands', commands: [createCommand, explainCommand, getCommand, editCommand, deleteCommand] },
  { title: 'Troubleshooting and Debugging Commands', commands: [describeCommand, authCommand] },
  {
    title: 'Advanced Commands',
    commands: [diffCommand, applyCommand, patchCommand, replaceCommand, waitCommand, kustomizeCommand, convertCommand],
  },
  ...operations,
  historyAndOwners,
  { title: 'Settings Commands', commands: [labelCommand, annotateCommand, completionCommand] },
  { title: 'Other Commands', commands: [apiResourcesCommand, apiVersionsCommand, configCommand, versionCommand] },
];

/** All commands, with those that only scripts call. */
export const commands: readonly Command[] = [
  ...commandGroups.flatMap((group) => group.commands),
  wordsCommand(() => commands),
];
