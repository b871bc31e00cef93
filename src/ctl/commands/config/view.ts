import { type Kubeconfig, type KubeconfigEntry, kubeconfigLists } from '../../../client/index.ts';
import type { JsonObject } from '../../../meta/index.ts';
import { command } from '../../command.ts';
import { CommandError } from '../../errors.ts';
import { text, toggle } from '../../flags/flag.ts';
import { outputFlags, printerOf } from '../../output/printer.ts';
import { readConfig } from './config-file.ts';

/** The placeholders that `view` shows for secrets and certificates. */
const secrets: { readonly [field: string]: string } = {
  'certificate-authority-data': 'DATA+OMITTED',
  'client-certificate-data': 'DATA+OMITTED',
  'client-key-data': 'DATA+OMITTED',
  token: 'REDACTED',
  password: 'REDACTED',
};

export const viewCommand = command({
  name: 'view',
  summary: 'Display merged kubeconfig settings or a specified kubeconfig file',
  usage: '',
  examples: [
    { title: 'Show merged kubeconfig settings', lines: ['ctl config view'] },
    {
      title: 'Get the password for the e2e user',
      lines: [`ctl config view -o jsonpath='{.users[?(@.name == "e2e")].user.password}'`],
    },
  ],
  flags: {
    ...outputFlags,
    output: text('yaml', 'Output format.', { short: 'o' }),
    flatten: toggle(
      false,
      'Flatten the resulting kubeconfig file into self-contained output (useful for creating portable kubeconfig files).',
    ),
    minify: toggle(false, 'Remove all information not used by current-context from the output.'),
    raw: toggle(false, 'Display raw byte data and sensitive data.'),
  },
  run: async (context) => {
    const { flags, io, globals } = context;
    const config = await readConfig(context);
    const printer = await printerOf(flags, { write: (line) => io.stdout.write(line), folder: io.folder });
    const current = globals.context === '' ? config.currentContext : globals.context;
    const shown = flags.minify ? minified(config, current) : config;
    printer?.print(documentOf(shown, current, flags.raw || flags.flatten));
    return 0;
  },
});

/** Only what a context uses. @throws CommandError */
function minified(config: Kubeconfig, current: string): Kubeconfig {
  if (current === '') throw new CommandError('current-context must exist in order to minify');
  const context = config.contexts.get(current);
  if (context === undefined) throw new CommandError(`cannot locate context ${current}`);
  const only = (entries: Kubeconfig['users'], name: unknown) => new Map([...entries].filter(([key]) => key === name));
  return {
    ...config,
    contexts: only(config.contexts, current),
    clusters: only(config.clusters, context.fields['cluster']),
    users: only(config.users, context.fields['user']),
  };
}

function documentOf(config: Kubeconfig, current: string, raw: boolean): JsonObject {
  const listOf = (list: keyof typeof kubeconfigLists) =>
    [...config[list].values()]
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map((entry) => ({ name: entry.name, [kubeconfigLists[list]]: raw ? entry.fields : redacted(entry) }));
  const orNull = (items: JsonObject[]) => (items.length === 0 ? null : items);
  return {
    apiVersion: 'v1',
    clusters: orNull(listOf('clusters')),
    contexts: orNull(listOf('contexts')),
    'current-context': current,
    kind: 'Config',
    preferences: {},
    users: orNull(listOf('users')),
  };
}

function redacted({ fields }: KubeconfigEntry): JsonObject {
  const entries = Object.entries(fields).map(([field, value]) => [field, secrets[field] ?? value]);
  return Object.fromEntries(entries) as JsonObject;
}
