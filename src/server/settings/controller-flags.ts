import { jitterFactor, type LeaderElectionSettings, type RequestRate } from '../../client/index.ts';
import { controllerNames, defaultControllers } from './controller-list.ts';
import { flag } from './flag.ts';
import * as type from './flag-types.ts';

const controllerList = controllerNames.map((name) => `\`${name}\``).join(', ');

/** The flags of whatever runs controllers. */
export const controllerFlags = {
  controllers: flag(
    'Controllers',
    type.controllers,
    defaultControllers,
    `Controllers to run: \`name\` enables one, \`-name\` disables it, \`*\` enables those that are on by default, \`-*\` disables all others. The first item that matches a controller decides. Controllers: ${controllerList}.`,
  ),
  kubeApiQps: flag(
    'Controllers',
    type.integer(0, 1_000_000),
    20,
    'Maximum number of requests per second of each controller; 0 means no limit, which is the default of a server that is embedded in a program. The garbage collector may send twice as many, the namespace controller twenty times as many. Informers and the nodes of `--fake-nodes` have no limit.',
  ),
  kubeApiBurst: flag(
    'Controllers',
    type.integer(1, 1_000_000),
    30,
    'Maximum burst of requests of a controller after a period without any.',
  ),
  leaderElect: flag(
    'Controllers',
    type.boolean,
    true,
    'Whether controllers run only while this process holds the lease `kube-system/kube-controller-manager`, so that one of several processes runs them.',
  ),
  leaderElectLeaseDuration: flag(
    'Controllers',
    type.duration,
    15_000,
    'How long other processes wait for the leader to renew the lease before they acquire it; at least 1s.',
  ),
  leaderElectRenewDeadline: flag(
    'Controllers',
    type.duration,
    10_000,
    'How long the leader retries to renew the lease before it gives up; shorter than `--leader-elect-lease-duration`.',
  ),
  leaderElectRetryPeriod: flag(
    'Controllers',
    type.duration,
    2_000,
    'Time between attempts to acquire or renew the lease; 1.2 times this must be shorter than `--leader-elect-renew-deadline`.',
  ),
};

/** The requests that each controller may send; undefined: as many as it likes. */
export const requestRate = (settings: ControllerSettings): RequestRate | undefined =>
  settings.kubeApiQps === 0 ? undefined : { perSecond: settings.kubeApiQps, burst: settings.kubeApiBurst };

type ControllerSettings = { readonly [K in keyof typeof controllerFlags]: (typeof controllerFlags)[K]['default'] };

/** The problems of durations that do not fit together; `nameOf` spells a setting. */
export function leaseProblems(
  settings: ControllerSettings,
  nameOf: (key: keyof typeof controllerFlags) => string,
): string[] {
  const { leaderElect, leaderElectLeaseDuration: lease, leaderElectRenewDeadline: renew } = settings;
  if (!leaderElect) return [];
  const problems: string[] = [];
  if (lease < 1_000) problems.push(`${nameOf('leaderElectLeaseDuration')} must be at least 1s`);
  if (settings.leaderElectRetryPeriod < 1)
    problems.push(`${nameOf('leaderElectRetryPeriod')} must be greater than zero`);
  if (lease <= renew) {
    problems.push(`${nameOf('leaderElectLeaseDuration')} must be greater than ${nameOf('leaderElectRenewDeadline')}`);
  }
  if (renew <= settings.leaderElectRetryPeriod * jitterFactor) {
    const retry = nameOf('leaderElectRetryPeriod');
    problems.push(`${nameOf('leaderElectRenewDeadline')} must be greater than ${jitterFactor} times ${retry}`);
  }
  return problems;
}

/** The durations of leader election. */
export const leaseSettings = (settings: ControllerSettings): LeaderElectionSettings => ({
  leaseMs: settings.leaderElectLeaseDuration,
  renewMs: settings.leaderElectRenewDeadline,
  retryMs: settings.leaderElectRetryPeriod,
});
