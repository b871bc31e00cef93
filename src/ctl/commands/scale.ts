import { at } from '../../meta/index.ts';
import { command } from '../command.ts';
import { CommandError } from '../errors.ts';
import { integer, text } from '../flags/flag.ts';
import { hasFiles } from '../objects/manifests.ts';
import { manifestsOf, Patcher, patchFlags, placedObjects } from '../objects/patch.ts';
import { pathOfTarget, targetsOf } from '../objects/targets.ts';
import { jsonText } from '../output/json.ts';

export const scaleCommand = command({
  name: 'scale',
  summary: 'Set a new size for a deployment, replica set, or replication controller',
  description: 'Set a new size for a deployment, replica set, replication controller, or stateful set.',
  usage: '[--resource-version=version] [--current-replicas=count] --replicas=COUNT (-f FILENAME | TYPE NAME)',
  examples: [
    { title: 'Scale a replica set named foo to 3', lines: ['ctl scale --replicas=3 rs/foo'] },
    {
      title: 'If the deployment named mysql has 2 replicas, scale it to 3',
      lines: ['ctl scale --current-replicas=2 --replicas=3 deployment/mysql'],
    },
  ],
  flags: {
    ...patchFlags('kubectl-scale'),
    currentReplicas: integer(-1, 'Precondition for current size. -1 means no condition.'),
    replicas: integer(0, 'The new desired number of replicas. Required.'),
    resourceVersion: text('', 'Precondition for resource version.'),
  },
  run: async ({ args, flags, io, isSet, cluster }) => {
    if (!isSet('replicas')) throw new CommandError('required flag(s) "replicas" not set');
    if (flags.replicas < 0) {
      throw new CommandError('The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0');
    }
    if (flags.currentReplicas < -1) {
      throw new CommandError('The --current-replicas must specify an integer of -1 or greater');
    }
    const opened = await cluster();
    const patcher = await Patcher.open(opened, flags, io);
    const scaled = hasFiles(flags)
      ? await manifestsOf(opened, args, flags, io)
      : await placedObjects(opened, await targetsOf(opened, args), flags.selector);
    for (const placed of scaled) {
      const { target } = placed;
      const metadata = await preconditions(`${pathOfTarget(target)}/scale`);
      const patch = { ...(metadata && { metadata }), spec: { replicas: flags.replicas } };
      await patcher.patch(placed, 'merge', patch, { done: 'scaled', subresource: 'scale' });
    }
    return 0;

    /** Checks the preconditions, and returns the metadata with which the server checks them again. */
    async function preconditions(url: string) {
      if (flags.currentReplicas === -1 && flags.resourceVersion === '') return undefined;
      const scale = await opened.send({ url });
      const [replicas, resourceVersion] = [
        at(scale, 'spec', 'replicas') ?? 0,
        at(scale, 'metadata', 'resourceVersion'),
      ];
      if (flags.currentReplicas !== -1 && replicas !== flags.currentReplicas) {
        throw new CommandError(`Expected replicas to be ${flags.currentReplicas}, was ${jsonText(replicas)}`);
      }
      if (flags.resourceVersion !== '' && resourceVersion !== flags.resourceVersion) {
        throw new CommandError(
          `Expected resource version to be ${flags.resourceVersion}, was ${jsonText(resourceVersion)}`,
        );
      }
      return { resourceVersion: resourceVersion ?? '' };
    }
  },
});
