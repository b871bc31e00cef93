import { at } from '../../../meta/index.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { type Command, command } from '../../command.ts';
import { usageError } from '../../errors.ts';
import { changeFlags } from '../../objects/change.ts';
import { Patcher, type Placed, placedObjects, selectorFlag } from '../../objects/patch.ts';
import { resourceOf, type Target } from '../../objects/targets.ts';

export const nodeFlags = { ...changeFlags('kubectl-cordon'), ...selectorFlag };

/** The nodes of a command line: those that it names, or that the selector matches. @throws CommandError */
export async function nodesOf(
  cluster: Cluster,
  names: readonly string[],
  { selector, path }: { readonly selector: string; readonly path: string },
): Promise<Placed[]> {
  if (names.length === 0 && selector === '') {
    throw usageError(`USAGE: ${path.split(' ').at(-1)} NODE [flags]`, path);
  }
  if (names.length > 0 && selector !== '')
    throw usageError('cannot specify both a node name and a --selector option', path);
  const resource = await resourceOf(cluster, 'nodes');
  const named = (name: string | undefined): Target => ({ resource, namespace: undefined, name });
  const plain = names.map((name) => name.replace(/^(?:nodes?|no)\//, ''));
  return placedObjects(cluster, selector === '' ? plain.map(named) : [named(undefined)], selector);
}

/** Marks nodes as unschedulable, or as schedulable again, and reports each. */
export async function cordon(patcher: Patcher, nodes: readonly Placed[], unschedulable: boolean): Promise<void> {
  const done = unschedulable ? 'cordoned' : 'uncordoned';
  for (const node of nodes) {
    if ((at(node.object, 'spec', 'unschedulable') === true) === unschedulable)
      patcher.report(node.object, `already ${done}`);
    else await patcher.patch(node, 'strategic', { spec: { unschedulable: unschedulable ? true : null } }, { done });
  }
}

const cordonLike = (name: 'cordon' | 'uncordon', unschedulable: boolean): Command => {
  const state = unschedulable ? 'unschedulable' : 'schedulable';
  return command({
    name,
    summary: `Mark node as ${state}`,
    description: `Mark node as ${state}.`,
    usage: 'NODE',
    examples: [{ title: `Mark node "foo" as ${state}`, lines: [`ctl ${name} foo`] }],
    flags: nodeFlags,
    run: async ({ args, flags, io, path, cluster }) => {
      const opened = await cluster();
      const nodes = await nodesOf(opened, args, { selector: flags.selector, path });
      await cordon(await Patcher.open(opened, flags, io), nodes, unschedulable);
      return 0;
    },
  });
};

export const cordonCommand = cordonLike('cordon', true);
export const uncordonCommand = cordonLike('uncordon', false);
