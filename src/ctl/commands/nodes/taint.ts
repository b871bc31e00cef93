import { at, isJsonObject, type JsonObject } from '../../../meta/index.ts';
import { command } from '../../command.ts';
import { CommandError, usageError } from '../../errors.ts';
import { toggle } from '../../flags/flag.ts';
import { changeFlags } from '../../objects/change.ts';
import { Patcher, type Placed, placedObjects, selectorFlag } from '../../objects/patch.ts';
import { resourceOf, type Target } from '../../objects/targets.ts';
import { jsonText } from '../../output/json.ts';

interface Taint {
  readonly key: string;
  readonly value: string;
  /** Empty in a removal: all effects. */
  readonly effect: string;
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export const taintCommand = command({
  name: 'taint',
  summary: 'Update the taints on one or more nodes',
  description: 'Update the taints on one or more nodes.',
  usage: 'NODE NAME KEY_1=VAL_1:TAINT_EFFECT_1 ... KEY_N=VAL_N:TAINT_EFFECT_N',
  examples: [
    {
      title: "Update node 'foo' with a taint with key 'dedicated' and value 'special-user' and effect 'NoSchedule'",
      lines: ['ctl taint nodes foo dedicated=special-user:NoSchedule'],
    },
    {
      title: "Remove from node 'foo' the taint with key 'dedicated' and effect 'NoSchedule' if one exists",
      lines: ['ctl taint nodes foo dedicated:NoSchedule-'],
    },
    { title: "Remove from node 'foo' all the taints with key 'dedicated'", lines: ['ctl taint nodes foo dedicated-'] },
  ],
  flags: {
    ...changeFlags('kubectl-taint'),
    ...selectorFlag,
    all: toggle(false, 'Select all nodes in the cluster.'),
    overwrite: toggle(
      false,
      'If true, allow taints to be overwritten, otherwise reject taint updates that overwrite existing taints.',
    ),
  },
  run: async ({ args, flags, io, path, cluster }) => {
    const [type = '', ...rest] = args;
    const names = rest.filter((word) => !isTaint(word));
    const specs = rest.filter(isTaint);
    if (type === '')
      throw new CommandError('one or more resources must be specified as <resource> <name> or <resource>/<name>');
    if (!['node', 'nodes', 'no'].includes(type))
      throw new CommandError(`invalid resource type ${type}, only node types are supported`);
    if (specs.length === 0) throw new CommandError('at least one taint update is required');
    if (names.length === 0 && !flags.all && flags.selector === '')
      throw new CommandError('one or more resources must be specified as <resource> <name> or <resource>/<name>');
    const added = specs.filter((spec) => !spec.endsWith('-')).map((spec) => readTaint(spec, path));
    const removed = specs.filter((spec) => spec.endsWith('-')).map((spec) => readRemoval(spec, path));
    const opened = await cluster();
    const resource = await resourceOf(opened, 'nodes');
    const named = (name: string | undefined): Target => ({ resource, namespace: undefined, name });
    const targets = names.length > 0 ? names.map(named) : [named(undefined)];
    const patcher = await Patcher.open(opened, flags, io);
    for (const node of await placedObjects(opened, targets, flags.selector)) {
      const { taints, overwritten } = changedTaints(node, { added, removed, overwrite: flags.overwrite });
      const done = added.length === 0 ? 'untainted' : removed.length === 0 && !overwritten ? 'tainted' : 'modified';
      await patcher.patch(node, 'merge', { spec: { taints: taints.length === 0 ? null : taints } }, { done });
    }
    return 0;
  },
});

interface TaintChange {
  readonly added: readonly Taint[];
  readonly removed: readonly Taint[];
  readonly overwrite: boolean;
}

/** The taints of a node after a change, and whether it replaces some. @throws CommandError */
function changedTaints({ target, object }: Placed, { added, removed, overwrite }: TaintChange) {
  const before = taintsOf(object);
  const twice = added.filter((one) => before.some((taint) => sameTaint(one, taint)));
  if (!overwrite && twice.length > 0) {
    const keys = twice.map(({ key }) => key).join(',');
    throw new CommandError(
      `node ${target.name} already has ${keys} taint(s) with same effect(s) and --overwrite is false`,
    );
  }
  for (const removal of removed) {
    if (before.some((taint) => isRemoved(removal, taint))) continue;
    throw new CommandError(`taint "${removal.key}${removal.effect === '' ? '' : `:${removal.effect}`}" not found`);
  }
  const kept = before.filter(
    (taint) => !removed.some((one) => isRemoved(one, taint)) && !added.some((one) => sameTaint(one, taint)),
  );
  const taints = [...added, ...kept].map(
    ({ key, value, effect }): JsonObject => ({ key, effect, ...(value === '' ? {} : { value }) }),
  );
  return { taints, overwritten: twice.length > 0 };
}

const isTaint = (word: string): boolean => word.includes(':') || word.includes('=') || word.endsWith('-');

/** @throws CommandError */
function readTaint(spec: string, path: string): Taint {
  const [, key = '', value = '', effect = ''] = /^([^=:]+)(?:=([^:]*))?:(.+)$/.exec(spec) ?? [];
  if (key === '') throw usageError(`invalid taint spec: ${spec}`, path);
  if (!effects.includes(effect)) throw usageError(`invalid taint effect: ${effect}, unsupported taint effect`, path);
  return { key, value, effect };
}

/** @throws CommandError */
function readRemoval(spec: string, path: string): Taint {
  const [, key = '', effect = ''] = /^([^=:]+)(?:=[^:]*)?(?::(.+))?-$/.exec(spec) ?? [];
  if (key === '') throw usageError(`invalid taint spec: ${spec}`, path);
  if (effect !== '' && !effects.includes(effect))
    throw usageError(`invalid taint effect: ${effect}, unsupported taint effect`, path);
  return { key, value: '', effect };
}

function taintsOf(node: JsonObject): Taint[] {
  const taints = at(node, 'spec', 'taints');
  return (Array.isArray(taints) ? taints : []).filter(isJsonObject).map(({ key = '', value = '', effect = '' }) => ({
    key: jsonText(key),
    value: jsonText(value),
    effect: jsonText(effect),
  }));
}

const sameTaint = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect;
const isRemoved = (removal: Taint, taint: Taint): boolean =>
  removal.key === taint.key && (removal.effect === '' || removal.effect === taint.effect);
