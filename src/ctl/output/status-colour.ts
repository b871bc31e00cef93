import type { Colour } from './terminal.ts';

const words: { readonly [colour in Colour]?: readonly string[] } = {
  red: [
    'ContainerStatusUnknown',
    'CrashLoopBackOff',
    'CreateContainerConfigError',
    'CreateContainerError',
    'DeadlineExceeded',
    'Denied',
    'ErrImagePull',
    'Error',
    'Evicted',
    'Failed',
    'False',
    'ImagePullBackOff',
    'InvalidImageName',
    'Lost',
    'NotReady',
    'OOMKilled',
    'RunContainerError',
    'Unknown',
  ],
  yellow: [
    'ContainerCreating',
    'Init',
    'Pending',
    'PodInitializing',
    'Released',
    'SchedulingDisabled',
    'Suspended',
    'Terminating',
  ],
  green: [
    'Active',
    'Approved',
    'Available',
    'Bound',
    'Complete',
    'Completed',
    'Established',
    'Issued',
    'Ready',
    'Running',
    'Succeeded',
    'True',
  ],
};

/** The colour of a status such as `Ready,SchedulingDisabled` or `Init:Error`: that of its worst word. Undefined for others. */
export function statusColour(status: string): Colour | undefined {
  const parts = status.split(/[,:]/);
  const colours = Object.keys(words) as (keyof typeof words)[];
  return colours.find((colour) => words[colour]?.some((word) => parts.includes(word)));
}
