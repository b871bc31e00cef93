/** The resources whose objects a node may use because a pod of the node refers to them. */
export type ReferencedResource =
  | 'configmaps'
  | 'persistentvolumeclaims'
  | 'persistentvolumes'
  | 'resourceclaims'
  | 'secrets'
  | 'serviceaccounts';

/** The resources whose objects belong to one node. */
export type OwnedResource = 'pods' | 'resourceslices' | 'volumeattachments';

/** An object to which a pod or volume refers. */
export interface Reference {
  readonly resource: ReferencedResource;
  readonly namespace: string;
  readonly name: string;
}

/** An object, and the nodes that may use it. */
interface Vertex {
  readonly key: string;
  /** By node, how many objects refer to this one on its behalf. */
  readonly nodes: Map<string, number>;
  /** The objects to which this one refers, if any: the nodes that may use this one may use them, too. */
  targets: Set<Vertex> | undefined;
  /** How many objects refer to this one, or have it as their own. */
  uses: number;
}

/** A pod on a node, and what it refers to. */
interface BoundPod {
  readonly node: string;
  readonly targets: readonly Vertex[];
}

/** A volume, with the claim for which it is. */
interface BoundVolume {
  readonly claim: Vertex;
  readonly volume: Vertex;
}

const keyOf = (resource: string, namespace: string, name: string) => `${resource}/${namespace}/${name}`;

const isSame = (vertices: Iterable<Vertex>, keys: ReadonlySet<string>): boolean => {
  let count = 0;
  for (const { key } of vertices) {
    if (!keys.has(key)) return false;
    count++;
  }
  return count === keys.size;
};

const keysOf = (references: readonly Reference[]) =>
  new Set(references.map(({ resource, namespace, name }) => keyOf(resource, namespace, name)));

/**
 * Which objects nodes may use: their pods, what these refer to, the volumes of their claims, and the secrets of the volumes.
 * A change takes time proportional to the references of the changed object, times the nodes of a claim when a volume
 * changes; a question takes constant time.
 */
export class NodeGraph {
  readonly #vertices = new Map<string, Vertex>();
  readonly #pods = new Map<string, BoundPod>();
  readonly #volumes = new Map<string, BoundVolume>();
  /** The nodes of objects that belong to one, except pods. */
  readonly #owners = new Map<string, string>();

  /** Whether the node may use the object. */
  reaches(node: string, resource: ReferencedResource | OwnedResource, namespace: string, name: string): boolean {
    if (resource === 'pods') return this.#pods.get(keyOf('', namespace, name))?.node === node;
    const key = keyOf(resource, namespace, name);
    return this.#vertices.get(key)?.nodes.has(node) ?? this.#owners.get(key) === node;
  }

  /** A pod with its references; `node` is empty: it is on none, or there is no such pod. */
  setPod(namespace: string, name: string, node: string, references: readonly Reference[]): void {
    const id = keyOf('', namespace, name);
    const before = this.#pods.get(id);
    const keys = keysOf(references);
    if (before !== undefined && before.node === node && isSame(before.targets, keys)) return;
    if (before !== undefined) {
      for (const target of before.targets) {
        this.#lose(target, before.node);
        this.#release(target);
      }
      this.#pods.delete(id);
    }
    if (node === '') return;
    const targets = [...keys].map((key) => this.#use(key));
    for (const target of targets) this.#gain(target, node);
    this.#pods.set(id, { node, targets });
  }

  /** A volume with the claim for which it is, and its secrets; without a claim nobody uses it, or there is no such volume. */
  setVolume(name: string, claim: Reference | undefined, secrets: readonly Reference[]): void {
    const before = this.#volumes.get(name);
    const keys = keysOf(secrets);
    const [claimKey] = keysOf(claim === undefined ? [] : [claim]);
    if (before !== undefined && before.claim.key === claimKey && isSame(before.volume.targets ?? [], keys)) return;
    if (before !== undefined) {
      this.#unlink(before.claim, before.volume);
      for (const secret of before.volume.targets ?? []) this.#unlink(before.volume, secret);
      this.#volumes.delete(name);
    }
    if (claimKey === undefined) return;
    const bound = { claim: this.#use(claimKey), volume: this.#use(keyOf('persistentvolumes', '', name)) };
    this.#link(bound.claim, bound.volume);
    for (const key of keys) this.#link(this.#use(bound.volume.key), this.#use(key));
    this.#volumes.set(name, bound);
  }

  /** An object that belongs to a node; `node` is empty: it belongs to none, or there is no such object. */
  setOwner(resource: Exclude<OwnedResource, 'pods'>, name: string, node: string): void {
    const key = keyOf(resource, '', name);
    if (node === '') this.#owners.delete(key);
    else this.#owners.set(key, node);
  }

  /** How much is kept: nothing when there are neither pods nor volumes nor owned objects. */
  get size(): number {
    return this.#vertices.size + this.#pods.size + this.#volumes.size + this.#owners.size;
  }

  #use(key: string): Vertex {
    let vertex = this.#vertices.get(key);
    if (vertex === undefined) {
      vertex = { key, nodes: new Map(), targets: undefined, uses: 0 };
      this.#vertices.set(key, vertex);
    }
    vertex.uses++;
    return vertex;
  }

  #release(vertex: Vertex): void {
    if (--vertex.uses === 0) this.#vertices.delete(vertex.key);
  }

  /** Lets the nodes of one object use another. Both are in use. */
  #link(from: Vertex, to: Vertex): void {
    from.targets ??= new Set();
    from.targets.add(to);
    for (const node of from.nodes.keys()) this.#gain(to, node);
  }

  #unlink(from: Vertex, to: Vertex): void {
    from.targets?.delete(to);
    for (const node of from.nodes.keys()) this.#lose(to, node);
    this.#release(from);
    this.#release(to);
  }

  #gain(vertex: Vertex, node: string): void {
    const count = vertex.nodes.get(node) ?? 0;
    vertex.nodes.set(node, count + 1);
    if (count > 0) return;
    for (const target of vertex.targets ?? []) this.#gain(target, node);
  }

  #lose(vertex: Vertex, node: string): void {
    const count = vertex.nodes.get(node) ?? 0;
    if (count > 1) {
      vertex.nodes.set(node, count - 1);
      return;
    }
    vertex.nodes.delete(node);
    for (const target of vertex.targets ?? []) this.#lose(target, node);
  }
}
