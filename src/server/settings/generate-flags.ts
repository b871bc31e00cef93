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
    'Definitions of custom resources: YAML or JSON files, folders of such files, the kubeconfig of a server, or the https URL of one.',
  ),
  kubeconfig: flag(
    'Types',
    type.file,
    undefined,
    'Kubeconfig with the credentials and certificate authorities for the URL in `--from`; its current context is used.',
  ),
  format: flag('Types', type.oneOf(...formatNames), 'typescript', 'What is written.'),
  out: flag('Types', type.file, undefined, 'The file that is written. Without one the output is printed.'),
};

export type GenerateSettings = SettingsOf<typeof flags>;

export const generateTable: FlagTable<GenerateSettings> = {
  list: listOf(flags),
  defaults: defaultsOf(flags),
  problemsOf: ({ from }, nameOf) =>
    from.length === 0 ? [`${nameOf('from')} must name definition files, folders, a kubeconfig or a server`] : [],
};
