import { compatibleDomain } from '../../meta/index.ts';
import { controllerFlags, leaseProblems } from './controller-flags.ts';
import { defaultsOf, type FlagTable, flag, listOf, type SettingsOf } from './flag.ts';
import * as type from './flag-types.ts';
import { processFlags } from './process-flags.ts';

/** The flags of `orch controllers`. */
const flags = {
  kubeconfig: flag(
    'Address',
    type.file,
    undefined,
    'Kubeconfig of the server whose objects the controllers look after; its current context is used.',
  ),
  apiDomain: flag(
    'API',
    type.optionalDomain,
    undefined,
    `Domain of API groups, labels and annotations, such as \`${compatibleDomain}\`. Without one it is that of the server.`,
  ),
  rootCaFile: flag(
    'Controllers',
    type.file,
    undefined,
    'Certificate authorities in PEM that pods trust the server by. Without them they are those of the kubeconfig.',
  ),
  useServiceAccountCredentials: flag(
    'Controllers',
    type.boolean,
    false,
    'Each controller is the user of its own service account, with a token that is renewed before it expires. Otherwise all of them are the user of the kubeconfig.',
  ),
  ...controllerFlags,
  ...processFlags,
};

export type ManagerSettings = SettingsOf<typeof flags>;

export const managerTable: FlagTable<ManagerSettings> = {
  list: listOf(flags),
  defaults: defaultsOf(flags),
  problemsOf: (settings, nameOf) => [
    ...(settings.kubeconfig === undefined ? [`${nameOf('kubeconfig')} must name the kubeconfig of a server`] : []),
    ...leaseProblems(settings, nameOf),
  ],
};
