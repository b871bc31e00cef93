import { type Command, command } from '../../command.ts';
import { canICommand } from './can-i.ts';
import { reconcileCommand } from './reconcile.ts';
import { whoamiCommand } from './whoami.ts';

export const authCommand: Command = command({
  name: 'auth',
  summary: 'Inspect authorization',
  description: 'Inspect authorization.',
  usage: '',
  examples: [],
  flags: {},
  subcommands: [canICommand, reconcileCommand, whoamiCommand],
});
