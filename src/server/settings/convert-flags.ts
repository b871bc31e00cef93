import { compatibleDomain, defaultDomain, parseGroupVersion } from '../../meta/index.ts';
import { defaultsOf, type FlagTable, flag, listOf, type SettingsOf } from './flag.ts';
import * as type from './flag-types.ts';

/** The flags of `orch convert`. */
const flags = {
  filename: flag(
    'Conversion',
    type.texts('file', () => undefined),
    [],
    'Manifests: YAML or JSON files, folders of such files, or `-` for standard input.',
    ['f'],
  ),
  outputVersion: flag(
    'Conversion',
    { ...type.optionalText, placeholder: 'group/version' },
    undefined,
    'Version to convert to, such as `apps/v1`, or `v1` of the core group. The kind of every object must have it.',
  ),
  output: flag('Conversion', type.oneOf('yaml', 'json'), 'yaml', 'Output format.', ['o']),
  validate: flag(
    'Conversion',
    type.oneOf('strict', 'warn', 'ignore'),
    'strict',
    'What unknown and duplicate fields cause: an error, a warning, or nothing. The output lacks unknown fields.',
  ),
  definitions: flag(
    'Conversion',
    type.texts('source', () => undefined),
    [],
    'Sources of the definitions of custom kinds: YAML or JSON files, folders of such files, the kubeconfig of a server, or its https URL. If not set, it is the value of `--kubeconfig`.',
  ),
  kubeconfig: flag(
    'Conversion',
    type.file,
    undefined,
    'Kubeconfig whose current context has the credentials and the CA bundle for the URL in `--definitions`.',
  ),
  apiDomain: flag(
    'API',
    type.domain,
    defaultDomain,
    `Domain of the API groups of the manifests: \`${compatibleDomain}\` for those of kubectl.`,
  ),
};

export type ConvertSettings = SettingsOf<typeof flags>;

export const convertTable: FlagTable<ConvertSettings> = {
  list: listOf(flags),
  defaults: defaultsOf(flags),
  problemsOf: ({ filename, outputVersion }, nameOf) => [
    ...(filename.length === 0 ? [`${nameOf('filename')} must name manifests, or be - for standard input`] : []),
    ...(outputVersion === undefined || parseGroupVersion(outputVersion) === undefined
      ? [`${nameOf('outputVersion')} must be a version, such as apps/v1`]
      : []),
  ],
};
