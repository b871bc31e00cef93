import { at, isJsonObject, type JsonObject } from '../../meta/index.ts';

/** The conditions that say whether an object does its work, the most telling one first. */
const conditionTypes = ['Ready', 'Available', 'Established', 'Complete', 'Failed'];

/** Whether an object is ready, in one or two words: `Ready`, `NotReady (ContainersNotReady)`, `2/3`, `Bound`; `-` if it cannot be. */
export function readinessOf(object: JsonObject): string {
  if (at(object, 'metadata', 'deletionTimestamp') !== undefined) return 'Terminating';
  const conditions = at(object, 'status', 'conditions');
  for (const type of conditionTypes) {
    const condition = (Array.isArray(conditions) ? conditions : []).find(
      (one) => isJsonObject(one) && one['type'] === type,
    );
    if (!isJsonObject(condition)) continue;
    const { status, reason } = condition;
    if (status === 'True') return type;
    if (type !== 'Failed') return `Not${type}${typeof reason === 'string' && reason !== '' ? ` (${reason})` : ''}`;
  }
  const replicas = at(object, 'spec', 'replicas');
  if (typeof replicas === 'number') return `${Number(at(object, 'status', 'readyReplicas') ?? 0)}/${replicas}`;
  const phase = at(object, 'status', 'phase');
  return typeof phase === 'string' && phase !== '' ? phase : '-';
}
