import { compatibleDomain } from '../../meta/index.ts';
import type { CommandDocs, FlagTable } from '../settings/flag.ts';
import { commandHelp } from '../settings/flag-docs.ts';
import { defaultSettings, type Settings, serverTable } from '../settings/flags.ts';

/** The settings of `orch demo` that differ from the defaults of `orch serve`. */
const demoDefaults: Settings = {
  ...defaultSettings,
  apiDomain: compatibleDomain,
  store: 'memory',
  demo: true,
  securePort: 0,
};

/** The flags of `orch demo`. */
export const demoTable: FlagTable<Settings> = {
  ...serverTable,
  list: serverTable.list.map((flag) => ({ ...flag, default: demoDefaults[flag.key] })),
  defaults: demoDefaults,
};

/** The output of `orch demo --help`. */
const demoHelp = (): string =>
  commandHelp(
    'orch demo [flags]',
    [
      'Serves example objects to try with kubectl: nodes that run nothing, deployments, a custom resource, roles,',
      'a quota. Everything is kept in memory until the process ends. The flags are those of orch serve.',
    ],
    demoTable.list,
  );

export const demoDocs: CommandDocs = { help: demoHelp, flags: demoTable.list };
