/** The subcommands that list, choose, rename and delete entries of kubeconfigs. */

import { type Command, command } from '../../command.ts';
import { CommandError, usageError } from '../../errors.ts';
import { text, toggle } from '../../flags/flag.ts';
import { jsonText } from '../../output/json.ts';
import { printTable } from '../../output/tab-writer.ts';
import { changeFile, fileFor, itemsOf, type ListName, readConfig, withItems } from './config-file.ts';

const getContexts = command({
  name: 'get-contexts',
  summary: 'Describe one or many contexts',
  usage: '[(-o|--output=)name)]',
  examples: [{ title: 'List all the contexts in your kubeconfig file', lines: ['ctl config get-contexts'] }],
  flags: {
    noHeaders: toggle(false, "When using the default output format, don't print headers (default print headers)."),
    output: text('', 'Output format. One of: (name).', { short: 'o' }),
  },
  run: async (context) => {
    const { args, flags, io } = context;
    if (flags.output !== '' && flags.output !== 'name')
      throw new CommandError(`output must be one of '' or 'name': ${flags.output}`);
    const config = await readConfig(context);
    const names = args.length === 0 ? [...config.contexts.keys()].sort() : args;
    const found = names.filter((name) => config.contexts.has(name));
    if (flags.output === 'name') io.stdout.write(found.map((name) => `${name}\n`).join(''));
    else {
      const rows = found.map((name) => {
        const { cluster = '', user = '', namespace = '' } = config.contexts.get(name)?.fields ?? {};
        return [
          name === config.currentContext ? '*' : '',
          name,
          jsonText(cluster),
          jsonText(user),
          jsonText(namespace),
        ];
      });
      const header = ['CURRENT', 'NAME', 'CLUSTER', 'AUTHINFO', 'NAMESPACE'];
      printTable((line) => io.stdout.write(line), flags.noHeaders ? rows : [header, ...rows]);
    }
    const missing = names.find((name) => !config.contexts.has(name));
    if (missing !== undefined) throw new CommandError(`context ${missing} not found`);
    return 0;
  },
});

const namesCommand = (name: string, list: ListName, what: string): Command =>
  command({
    name,
    summary: `Display ${what} defined in the kubeconfig`,
    usage: '',
    examples: [{ title: `List the ${what}`, lines: [`ctl config ${name}`] }],
    flags: {},
    run: async (context) => {
      const names = [...(await readConfig(context))[list].keys()].sort();
      context.io.stdout.write(['NAME', ...names].map((each) => `${each}\n`).join(''));
      return 0;
    },
  });

const currentContext = command({
  name: 'current-context',
  summary: 'Display the current-context',
  usage: '',
  examples: [{ title: 'Display the current-context', lines: ['ctl config current-context'] }],
  flags: {},
  run: async (context) => {
    const { currentContext: current } = await readConfig(context);
    if (current === '') throw new CommandError('current-context is not set');
    context.io.stdout.write(`${current}\n`);
    return 0;
  },
});

export const getCommands: readonly Command[] = [
  getContexts,
  namesCommand('get-clusters', 'clusters', 'clusters'),
  namesCommand('get-users', 'users', 'users'),
  currentContext,
];

const useContext = command({
  name: 'use-context',
  aliases: ['use'],
  summary: 'Set the current-context in a kubeconfig file',
  usage: 'CONTEXT_NAME',
  examples: [{ title: 'Use the context for the minikube cluster', lines: ['ctl config use-context minikube'] }],
  flags: {},
  run: async (context) => {
    const [name, ...more] = context.args;
    if (name === undefined || more.length > 0) throw usageError('exactly one context name is required', context.path);
    if (!(await readConfig(context)).contexts.has(name))
      throw new CommandError(`no context exists with the name: ${JSON.stringify(name)}`);
    await changeFile(context.io, await fileFor(context), (document) => ({ ...document, 'current-context': name }));
    context.io.stdout.write(`Switched to context ${JSON.stringify(name)}.\n`);
    return 0;
  },
});

const renameContext = command({
  name: 'rename-context',
  summary: 'Rename a context from the kubeconfig file',
  usage: 'CONTEXT_NAME NEW_NAME',
  examples: [{ title: 'Rename a context', lines: ['ctl config rename-context old-name new-name'] }],
  flags: {},
  run: async (context) => {
    const [from, to, ...more] = context.args;
    if (from === undefined || to === undefined || more.length > 0)
      throw usageError('two context names are required', context.path);
    const { contexts, currentContext: current } = await readConfig(context);
    const entry = contexts.get(from);
    if (entry === undefined)
      throw new CommandError(`cannot rename the context ${JSON.stringify(from)}, it's not in the kubeconfig`);
    if (contexts.has(to))
      throw new CommandError(
        `cannot rename the context ${JSON.stringify(from)}, the context ${JSON.stringify(to)} already exists in ${entry.file}`,
      );
    await changeFile(context.io, entry.file, (document) => {
      const items = itemsOf(document, 'contexts').map((item) => (item.name === from ? { ...item, name: to } : item));
      return withItems(document, 'contexts', items);
    });
    if (current === from)
      await changeFile(context.io, await fileFor(context), (document) => ({ ...document, 'current-context': to }));
    context.io.stdout.write(`Context ${JSON.stringify(from)} renamed to ${JSON.stringify(to)}.\n`);
    return 0;
  },
});

const deleteEntry = (name: string, list: ListName, what: string): Command =>
  command({
    name,
    summary: `Delete the specified ${what} from the kubeconfig`,
    usage: 'NAME',
    examples: [{ title: `Delete a ${what}`, lines: [`ctl config ${name} my-${what}`] }],
    flags: {},
    run: async (context) => {
      const [entry = '', ...more] = context.args;
      if (entry === '' || more.length > 0) throw usageError(`exactly one ${what} name is required`, context.path);
      const config = await readConfig(context);
      const file = await fileFor(context, list, entry);
      if (!config[list].has(entry)) throw new CommandError(`cannot delete ${what} ${entry}, not in ${file}`);
      if (list === 'contexts' && config.currentContext === entry) {
        context.io.stderr.write(
          'warning: this removed your active context, use "orch ctl config use-context" to select a different one\n',
        );
      }
      await changeFile(context.io, file, (document) =>
        withItems(
          document,
          list,
          itemsOf(document, list).filter((item) => item.name !== entry),
        ),
      );
      context.io.stdout.write(`deleted ${what} ${entry} from ${file}\n`);
      return 0;
    },
  });

export const deleteCommands: readonly Command[] = [
  deleteEntry('delete-cluster', 'clusters', 'cluster'),
  deleteEntry('delete-context', 'contexts', 'context'),
  deleteEntry('delete-user', 'users', 'user'),
  renameContext,
  useContext,
];
