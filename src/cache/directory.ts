import type { Change } from './change.ts';
import { fieldOf, type Selection, unknownLabels } from './selection.ts';

/** A subscriber to changes. */
export interface Member {
  readonly selection: Selection;
  /** `isPlaced`: the object is known to be in the namespace of the selection and to have its name. */
  offer(change: Change, isPlaced: boolean): void;
}

type Group = Map<string, Set<Member>>;

/** An index of subscribers by the most selective part of their selection, so that few are matched with each change. */
export class Directory {
  readonly #all = new Set<Member>();
  readonly #byNamespace: Group = new Map();
  readonly #byName: Group = new Map();
  /** By namespace and name, joined with a slash, which neither can contain. */
  readonly #byObject: Group = new Map();
  readonly #byField: ReadonlyMap<string, Group>;

  constructor(indexedFields: readonly string[]) {
    this.#byField = new Map(indexedFields.map((path) => [path, new Map()]));
  }

  add(member: Member): void {
    const [group, key] = this.#place(member.selection);
    if (group === undefined) {
      this.#all.add(member);
      return;
    }
    const set = group.get(key);
    if (set === undefined) group.set(key, new Set([member]));
    else set.add(member);
  }

  remove(member: Member): void {
    const [group, key] = this.#place(member.selection);
    const set = group === undefined ? this.#all : group.get(key);
    set?.delete(member);
    if (set?.size === 0) group?.delete(key);
  }

  /** Offers a change once to every member that may match it. Members may be removed during the call. */
  offer(change: Change): void {
    const { current, previous } = change;
    const object = current ?? previous!;
    offerTo(this.#all, change, true);
    offerTo(this.#byNamespace.get(object.namespace), change, true);
    offerTo(this.#byName.get(object.name), change, true);
    if (this.#byObject.size > 0) offerTo(this.#byObject.get(`${object.namespace}/${object.name}`), change, true);
    for (const [path, group] of this.#byField) {
      if (group.size === 0) continue;
      if (object.labels === unknownLabels) {
        for (const members of group.values()) offerTo(members, change, false);
        continue;
      }
      const value = fieldOf(object, path);
      offerTo(group.get(value), change, false);
      if (previous === undefined || previous === object) continue;
      const former = fieldOf(previous, path);
      if (former !== value) offerTo(group.get(former), change, false);
    }
  }

  /**
   * The number of members that a change of an object may match, those aside that select by a field. Without a name: of
   * any object of the namespace.
   */
  count(namespace: string, name: string): number {
    const named = name === '' ? 0 : sizeOf(this.#byName, name) + sizeOf(this.#byObject, `${namespace}/${name}`);
    return this.#all.size + sizeOf(this.#byNamespace, namespace) + named;
  }

  #place({ namespace, name, field }: Selection): [Group | undefined, string] {
    if (namespace && name) return [this.#byObject, `${namespace}/${name}`];
    if (name) return [this.#byName, name];
    const byValue = field === undefined ? undefined : this.#byField.get(field.path);
    if (field !== undefined && byValue !== undefined) return [byValue, field.value];
    return namespace ? [this.#byNamespace, namespace] : [undefined, ''];
  }
}

const sizeOf = (group: Group, key: string): number => group.get(key)?.size ?? 0;

function offerTo(members: Set<Member> | undefined, change: Change, isPlaced: boolean): void {
  if (members === undefined) return;
  for (const member of members) member.offer(change, isPlaced);
}
