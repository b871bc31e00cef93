import type { Client } from '../../client/index.ts';
import type { Names } from '../../meta/index.ts';
import * as kinds from '../shared/kinds.ts';
import type { NodeObject } from '../shared/node-selection.ts';
import { changeTaints, sameTaint, type TaintChange, type TaintName, taintKeys, taintsOf } from './node.ts';

/** Gives the node the taints `NoSchedule` that follow from its conditions and from `unschedulable`, and no others of them. */
export const reconcileTaints = (
  at: { readonly client: Client; readonly now: number },
  names: Names,
  node: NodeObject,
): Promise<NodeObject> => changeTaints(at, node, (current) => taintsFor(current, names));

function taintsFor(node: NodeObject, names: Names): TaintChange {
  const keys = taintKeys(names);
  const meanings: { readonly [type: string]: { readonly [status: string]: string } } = {
    Ready: { False: keys.notReady, Unknown: keys.unreachable },
    MemoryPressure: { True: keys.memoryPressure },
    DiskPressure: { True: keys.diskPressure },
    PIDPressure: { True: keys.pidPressure },
    NetworkUnavailable: { True: keys.networkUnavailable },
  };
  const add: TaintName[] = [];
  const want = (key: string | undefined) => {
    if (key !== undefined) add.push({ key, effect: 'NoSchedule' });
  };
  for (const { type = '', status = '' } of node.status?.conditions ?? []) {
    const meaning = Object.hasOwn(meanings, type) ? meanings[type] : undefined;
    if (meaning !== undefined && Object.hasOwn(meaning, status)) want(meaning[status]);
  }
  if (node.spec?.unschedulable) want(keys.unschedulable);
  const own = new Set<string | undefined>(Object.values(keys));
  const remove = taintsOf(node).filter(
    (taint) => taint.effect === 'NoSchedule' && own.has(taint.key) && !add.some((other) => sameTaint(taint, other)),
  );
  return { add, remove };
}

/** Copies the labels of operating system and architecture to their former names. */
export async function reconcileLabels(
  { client, names }: { readonly client: Client; readonly names: Names },
  node: NodeObject,
): Promise<void> {
  const { labels = {} } = node.metadata;
  const changes: { [key: string]: string } = {};
  for (const name of ['os', 'arch']) {
    const value = labels[`${names.labels}/${name}`];
    const former = `beta.${names.labels}/${name}`;
    if (value !== undefined && labels[former] !== value) changes[former] = value;
  }
  if (Object.keys(changes).length === 0) return;
  await client.kind(kinds.nodes).patch(node.metadata, 'strategic', { metadata: { labels: changes } });
}
