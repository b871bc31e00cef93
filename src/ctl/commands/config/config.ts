import { type Command, command } from '../../command.ts';
import { deleteCommands, getCommands } from './entries.ts';
import { propertyCommands, setCommands } from './settings.ts';
import { viewCommand } from './view.ts';

export const configCommand: Command = command({
  name: 'config',
  summary: 'Modify kubeconfig files',
  description: `Modify kubeconfig files using subcommands like "orch ctl config set current-context my-context".

 The files are chosen in this order: the one of --kubeconfig, those of the variable KUBECONFIG, and .kube/config in the home folder.`,
  usage: 'SUBCOMMAND',
  examples: [],
  flags: {},
  subcommands: [...deleteCommands, ...getCommands, ...propertyCommands, ...setCommands, viewCommand].sort((a, b) =>
    a.name < b.name ? -1 : 1,
  ),
});
