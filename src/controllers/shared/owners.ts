import {
  type Client,
  type Index,
  type Informer,
  type KindPlace,
  controllerReference as referenceTo,
} from '../../client/index.ts';
import {
  isStatus,
  type LabelSelector,
  type Names,
  type OwnerReference,
  StatusError,
  type Turns,
} from '../../meta/index.ts';
import { apiVersionOf, type Kind, type Named } from './kind.ts';
import { Evaluation } from './selection.ts';

/** The owner reference with `controller: true`; an object has one at most. */
export const controllerOf = ({ metadata }: Named): OwnerReference | undefined =>
  metadata.ownerReferences?.find((reference) => reference['controller'] === true);

/** The reference that makes the owner the controller of an object, which blocks its foreground deletion. */
export const controllerReference = (kind: KindPlace, { metadata }: Named, names: Names): OwnerReference =>
  referenceTo({ apiVersion: apiVersionOf(kind, names), kind: kind.kind, metadata });

/** The objects by the uid of their controller, or under `orphansIn` their namespace where they have none. */
export const byController = <T extends Named>(informer: Informer<T>): Index<T> =>
  informer.indexBy('controller', (object) => [controllerOf(object)?.uid ?? orphansIn(object.metadata.namespace ?? '')]);

export const orphansIn = (namespace: string): string => `orphans in ${namespace}`;

/** The object of the informer that controls another one; undefined when it is of another kind, or gone. */
export function findController<T extends Named>(informer: Informer<T>, object: Named): T | undefined {
  const reference = controllerOf(object);
  if (reference === undefined || reference.kind !== informer.kind.kind) return undefined;
  const controller = informer.get(object.metadata.namespace ?? '', reference.name);
  return controller?.metadata.uid === reference.uid ? controller : undefined;
}

export interface Claimant<O extends Named> {
  readonly client: Client;
  readonly names: Names;
  readonly turns: Turns;
  readonly kind: Kind<O>;
  readonly owner: O;
  readonly selector: LabelSelector;
  /** An additional condition on selected objects. */
  readonly isMember?: (object: Named) => boolean;
  /** Objects get it when they are adopted, and lose it when they are released. */
  readonly finalizer?: string;
}

/**
 * The objects among the candidates that the owner controls and selects. Orphans that it selects are adopted, and objects
 * that it no longer selects are released, unless it is being deleted.
 */
export async function claim<T extends Named, O extends Named>(
  { client, names, turns, kind, owner, selector, isMember = () => true, finalizer }: Claimant<O>,
  dependents: Kind<T>,
  candidates: readonly T[],
): Promise<T[]> {
  const { uid = '', namespace = '', name = '', deletionTimestamp } = owner.metadata;
  const claimed: T[] = [];
  let mayAdopt: Promise<boolean> | undefined;
  const evaluation = new Evaluation(turns);
  for (const object of candidates) {
    const turn = evaluation.evaluated(selector);
    if (turn !== undefined) await turn;
    const matches = selector.matches(object.metadata.labels) && isMember(object);
    const reference = controllerOf(object);
    if (reference !== undefined) {
      if (reference.uid !== uid) continue;
      if (matches) claimed.push(object);
      else if (deletionTimestamp === undefined) await release(client, dependents, object, uid, finalizer);
      continue;
    }
    if (!matches || deletionTimestamp !== undefined || object.metadata.deletionTimestamp !== undefined) continue;
    mayAdopt ??= isAlive(client, kind, namespace, name, uid);
    if (!(await mayAdopt)) throw new Error(`${kind.kind} ${name} is being deleted: it adopts nothing`);
    const adopted = await adopt(client, dependents, object, controllerReference(kind, owner, names), finalizer);
    if (adopted !== undefined) claimed.push(adopted);
  }
  return claimed;
}

/** Whether the owner exists in the store and is not being deleted. */
async function isAlive(
  client: Client,
  kind: KindPlace,
  namespace: string,
  name: string,
  uid: string,
): Promise<boolean> {
  const live = await client.kind<Named>(kind).find({ namespace, name });
  return live?.metadata.uid === uid && live.metadata.deletionTimestamp === undefined;
}

/** Undefined: the object is gone. */
async function adopt<T extends Named>(
  client: Client,
  kind: Kind<T>,
  object: T,
  reference: OwnerReference,
  finalizer: string | undefined,
): Promise<T | undefined> {
  const { uid = '' } = object.metadata;
  const finalizers = finalizer === undefined ? {} : { finalizers: [finalizer] };
  try {
    // The uid makes sure that it is still the same object; another controller's reference makes it invalid.
    const metadata = { ownerReferences: [reference], uid, ...finalizers };
    return await client.kind(kind).patch(object.metadata, 'strategic', { metadata });
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

async function release<T extends Named>(
  client: Client,
  kind: Kind<T>,
  object: T,
  owner: string,
  finalizer: string | undefined,
): Promise<void> {
  const { uid = '' } = object.metadata;
  const finalizers = finalizer === undefined ? {} : { '$deleteFromPrimitiveList/finalizers': [finalizer] };
  try {
    const metadata = { ownerReferences: [{ $patch: 'delete', uid: owner }], uid, ...finalizers };
    await client.kind(kind).patch(object.metadata, 'strategic', { metadata });
  } catch (error) {
    // The object is gone, or another one has its name.
    if (!(error instanceof StatusError) || ![404, 409, 422].includes(error.code)) throw error;
  }
}
