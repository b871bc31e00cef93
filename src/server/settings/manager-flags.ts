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
    'Kubeconfig whose current context is the server to run controllers for.',
  ),
  apiDomain: flag(
    'API',
    type.optionalDomain,
    undefined,
    `Domain of API groups, labels and annotations, such as \`${compatibleDomain}\`. If not set, it is discovered from the server.`,
  ),
  rootCaFile: flag(
    'Controllers',
    type.file,
    undefined,
    'CA bundle in PEM with which pods verify the server. If not set, it is the one of the kubeconfig.',
  ),
  useServiceAccountCredentials: flag(
    'Controllers',
    type.boolean,
    false,
    'Whether each controller authenticates with the token of its own service account, which is renewed before it expires. Otherwise all of them use the credentials of the kubeconfig.',
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
