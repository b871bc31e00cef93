import { formats } from '../../generate/index.ts';
import { defaultsOf, type FlagTable, flag, listOf, type SettingsOf } from './flag.ts';
import * as type from './flag-types.ts';

const formatNames = Object.keys(formats) as (keyof typeof formats)[];

/** The flags of `orch generate types`. */
const flags = {
  from: flag(
    'Types',
    type.texts('source', () => undefined),
    [],
    'Sources of custom resource definitions: YAML or JSON files, folders of such files, the kubeconfig of a server, or its https URL.',
  ),
  kubeconfig: flag(
    'Types',
    type.file,
    undefined,
    'Kubeconfig whose current context has the credentials and the CA bundle for the URL in `--from`.',
  ),
  format: flag('Types', type.oneOf(...formatNames), 'typescript', 'Output format.'),
  out: flag('Types', type.file, undefined, 'Output file. If not set, the output is printed.'),
};

export type GenerateSettings = SettingsOf<typeof flags>;

export const generateTable: FlagTable<GenerateSettings> = {
  list: listOf(flags),
  defaults: defaultsOf(flags),
  problemsOf: ({ from }, nameOf) =>
    from.length === 0 ? [`${nameOf('from')} must name definition files, folders, a kubeconfig or a server`] : [],
};
