import type { CommandGroup } from '../flags/help.ts';
import { blameCommand } from './blame.ts';
import { conflictsCommand } from './conflicts.ts';
import { historyCommand } from './history.ts';
import { topObjectsCommand } from './top-objects.ts';
import { treeCommand } from './tree.ts';
import { undoCommand } from './undo.ts';

/** Commands that read the history of objects and the owners of fields and objects. */
export const historyAndOwners: CommandGroup = {
  title: 'History and Owners',
  commands: [historyCommand, undoCommand, blameCommand, conflictsCommand, treeCommand, topObjectsCommand],
};
