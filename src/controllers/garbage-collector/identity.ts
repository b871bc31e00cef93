import type { ObjectMeta, OwnerReference } from '../../meta/index.ts';
import type { ServedResource } from '../metadata/discovery.ts';

/** Where an object is, or where its dependents say that it is; two that name the same object may differ. */
export interface Identity {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty at cluster scope. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export const identityOf = (metadata: ObjectMeta, { apiVersion, kind }: ServedResource): Identity => {
  const { namespace = '', name = '', uid = '' } = metadata;
  return { apiVersion, kind, namespace, name, uid };
};

/** The owner that a reference of an object in the namespace means. */
export const ownerIdentity = ({ apiVersion, kind, name, uid }: OwnerReference, namespace: string): Identity => ({
  apiVersion,
  kind,
  namespace,
  name,
  uid,
});

/** Whether a reference names what the identity has, the namespace aside. */
export const namesIdentity = (ref: OwnerReference, { apiVersion, kind, name, uid }: Identity): boolean =>
  ref.uid === uid && ref.name === name && ref.kind === kind && ref.apiVersion === apiVersion;

export const isSameIdentity = (a: Identity, b: Identity): boolean =>
  a.uid === b.uid &&
  a.name === b.name &&
  a.namespace === b.namespace &&
  a.kind === b.kind &&
  a.apiVersion === b.apiVersion;

/** An order in which the kind counts most, then the namespace, then the name. */
export function compareIdentities(a: Identity, b: Identity): number {
  for (const field of ['kind', 'apiVersion', 'namespace', 'name', 'uid'] as const) {
    if (a[field] !== b[field]) return a[field] < b[field] ? -1 : 1;
  }
  return 0;
}

/** As events and errors show it. */
export const textOf = ({ apiVersion, kind, namespace, name, uid }: Identity): string =>
  `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;

/** The identities that were used last, up to a number. */
export class RecentIdentities {
  readonly #limit: number;
  readonly #keys = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(identity: Identity): void {
    const key = textOf(identity);
    this.#keys.delete(key);
    this.#keys.add(key);
    const [oldest] = this.#keys;
    if (this.#keys.size > this.#limit && oldest !== undefined) this.#keys.delete(oldest);
  }

  has(identity: Identity): boolean {
    const key = textOf(identity);
    if (!this.#keys.delete(key)) return false;
    this.#keys.add(key);
    return true;
  }
}
