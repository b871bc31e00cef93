import type { ServerSettings } from './flags.ts';

/** The number of fake nodes of the demo, unless `--fake-nodes` sets another. */
const demoNodes = 3;

/** The number of fake nodes of a server. */
export const fakeNodeCount = ({ demo, fakeNodes }: Pick<ServerSettings, 'demo' | 'fakeNodes'>): number =>
  demo && fakeNodes === 0 ? demoNodes : fakeNodes;

/** Whether containers may be privileged: as configured, otherwise only where fake nodes run nothing. */
export const allowsPrivileged = (settings: Pick<ServerSettings, 'demo' | 'fakeNodes' | 'allowPrivileged'>): boolean =>
  settings.allowPrivileged ?? fakeNodeCount(settings) > 0;
