/** The parts that controllers of nodes share: conditions, taints, zones and the subjects of events. */
import type { Client, EventSubject } from '../../client/index.ts';
import { formatTime, isStatus, type Names } from '../../meta/index.ts';
import * as kinds from '../shared/kinds.ts';
import type { NodeObject, NodeTaint } from '../shared/node-selection.ts';

export type NodeCondition = NonNullable<NonNullable<NodeObject['status']>['conditions']>[number];
/** The key and the effect, which identify a taint. */
export type TaintName = Pick<NodeTaint, 'key' | 'effect'>;

export const nodeCondition = ({ status }: NodeObject, type: string): NodeCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type);

/** The keys of the taints that conditions of a node stand for. */
export const taintKeys = ({ labels }: Names) => ({
  notReady: `node.${labels}/not-ready`,
  unreachable: `node.${labels}/unreachable`,
  memoryPressure: `node.${labels}/memory-pressure`,
  diskPressure: `node.${labels}/disk-pressure`,
  pidPressure: `node.${labels}/pid-pressure`,
  networkUnavailable: `node.${labels}/network-unavailable`,
  unschedulable: `node.${labels}/unschedulable`,
});

export const taintsOf = ({ spec }: NodeObject): readonly NodeTaint[] => spec?.taints ?? [];

export const sameTaint = (a: TaintName, b: TaintName): boolean => a.key === b.key && a.effect === b.effect;

export const hasTaint = (node: NodeObject, taint: TaintName): boolean =>
  taintsOf(node).some((one) => sameTaint(one, taint));

/** How often taints are written after conflicts. */
const attempts = 5;

/** Taints to add to a node and to remove from it. */
export interface TaintChange {
  readonly add?: readonly TaintName[];
  readonly remove?: readonly TaintName[];
}

/**
 * Gives the node the taints that it lacks, as of now, and takes others away; it stays as it is if that changes nothing.
 * What others change at the same time stays, and the change is decided again for what they have made of the node.
 */
export async function changeTaints(
  { client, now }: { readonly client: Client; readonly now: number },
  seen: NodeObject,
  changeFor: (node: NodeObject) => TaintChange,
): Promise<NodeObject> {
  for (let node = seen, tries = 1; ; tries++) {
    const { add = [], remove = [] } = changeFor(node);
    const missing = add.filter((taint) => !hasTaint(node, taint));
    if (missing.length === 0 && !remove.some((taint) => hasTaint(node, taint))) return node;
    const remainingTaints = taintsOf(node).filter((taint) => !remove.some((one) => sameTaint(one, taint)));
    const added = missing.map(({ key = '', effect = '' }) => ({ key, effect, timeAdded: formatTime(now) }));
    const { name = '', uid = '', resourceVersion = '' } = node.metadata;
    const patch = { metadata: { uid, resourceVersion }, spec: { taints: [...remainingTaints, ...added] as never } };
    try {
      return await client.kind(kinds.nodes).patch(node.metadata, 'strategic', patch);
    } catch (error) {
      if (tries === attempts || !isStatus(error, 409)) throw error;
      node = await client.kind(kinds.nodes).get({ name });
      if (node.metadata.uid !== uid) throw error;
    }
  }
}

/** The failure zone of the node, empty without one. */
export function zoneOf({ metadata: { labels = {} } }: NodeObject, names: Names): string {
  const value = (name: string) =>
    labels[`failure-domain.beta.${names.labels}/${name}`] ?? labels[`topology.${names.labels}/${name}`] ?? '';
  const [region, zone] = [value('region'), value('zone')];
  return region === '' && zone === '' ? '' : `${region}:\0:${zone}`;
}

/** A node as the subject of events: by its name and uid. */
export const subjectOf = (name: string, uid: string): EventSubject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid },
});
