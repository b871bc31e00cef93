import type { CommandGroup } from '../flags/help.ts';
import { certificateCommand } from './certificate.ts';
import { cordonCommand, uncordonCommand } from './nodes/cordon.ts';
import { drainCommand } from './nodes/drain.ts';
import { taintCommand } from './nodes/taint.ts';
import { cpCommand } from './pods/cp.ts';
import { attachCommand, execCommand } from './pods/exec.ts';
import { logsCommand } from './pods/logs.ts';
import { portForwardCommand } from './pods/port-forward.ts';
import { rolloutCommand } from './rollout/rollout.ts';
import { scaleCommand } from './scale.ts';
import { setCommand } from './set.ts';

/** Commands for workloads, nodes and running pods. */
export const operations: readonly CommandGroup[] = [
  { title: 'Deploy Commands', commands: [rolloutCommand, scaleCommand, setCommand] },
  {
    title: 'Cluster Management Commands',
    commands: [certificateCommand, cordonCommand, uncordonCommand, drainCommand, taintCommand],
  },
  {
    title: 'Troubleshooting Commands',
    commands: [logsCommand, attachCommand, execCommand, portForwardCommand, cpCommand],
  },
];
