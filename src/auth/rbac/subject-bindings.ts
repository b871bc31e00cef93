/** The bindings of users and groups. */
import type { CompiledRules } from './rules.ts';

/** A role that exists, or to which a binding refers. */
export interface RoleSlot {
  readonly kind: string;
  readonly name: string;
  /** False: a binding cannot refer to a role of this kind. */
  readonly supported: boolean;
  /** Undefined: the role does not exist. */
  compiled: CompiledRules | undefined;
  /** How many bindings refer to it. */
  bindings: number;
}

export interface Subject {
  readonly kind: string;
  readonly name: string;
  /** Of a service account; that of the binding by default. */
  readonly namespace: string;
}

/** A RoleBinding, or with an empty namespace a ClusterRoleBinding. */
export interface Binding {
  readonly namespace: string;
  readonly name: string;
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects: readonly Subject[];
  readonly role: RoleSlot;
}

/** By namespace and role, in the order of their creation. */
type ByNamespace = Map<string, Map<RoleSlot, Set<Binding>>>;

/** The number of bindings up to which a subject has a list: one binding may have 25,000 subjects, which have no others. */
const mostInList = 8;

/** The bindings of subjects by name, of users or of groups. A change of one takes the same time whatever their number. */
export class SubjectBindings {
  readonly #subjects = new Map<string, readonly Binding[] | ByNamespace>();

  /** How many subjects have bindings. */
  get size(): number {
    return this.#subjects.size;
  }

  add(subject: string, binding: Binding): void {
    const found = this.#subjects.get(subject);
    if (found === undefined) this.#subjects.set(subject, [binding]);
    else if (found instanceof Map) addTo(found, binding);
    else if (!found.includes(binding)) {
      this.#subjects.set(subject, found.length < mostInList ? [...found, binding] : byNamespace([...found, binding]));
    }
  }

  delete(subject: string, binding: Binding): void {
    const found = this.#subjects.get(subject);
    if (found === undefined) return;
    if (found instanceof Map) {
      deleteFrom(found, binding);
      if (found.size === 0) this.#subjects.delete(subject);
      return;
    }
    const left = found.filter((one) => one !== binding);
    if (left.length === 0) this.#subjects.delete(subject);
    else this.#subjects.set(subject, left);
  }

  /** The bindings of a subject in a namespace, the first one of each role; undefined: it has none anywhere. */
  of(subject: string, namespace: string): Iterable<Binding> | undefined {
    const found = this.#subjects.get(subject);
    if (found === undefined) return undefined;
    if (found instanceof Map) return firstOfEach(found.get(namespace)?.values() ?? []);
    return found.filter((binding) => binding.namespace === namespace && isFirst(found, binding));
  }
}

function* firstOfEach(roles: Iterable<Set<Binding>>): Generator<Binding, void, undefined> {
  for (const [first] of roles) if (first !== undefined) yield first;
}

/** Whether no earlier binding binds to the same role in the same namespace. */
const isFirst = (bindings: readonly Binding[], binding: Binding): boolean =>
  bindings.find(({ role, namespace }) => role === binding.role && namespace === binding.namespace) === binding;

function byNamespace(bindings: readonly Binding[]): ByNamespace {
  const made: ByNamespace = new Map();
  for (const binding of bindings) addTo(made, binding);
  return made;
}

function addTo(namespaces: ByNamespace, binding: Binding): void {
  const roles = namespaces.get(binding.namespace) ?? new Map<RoleSlot, Set<Binding>>();
  const bindings = roles.get(binding.role) ?? new Set<Binding>();
  namespaces.set(binding.namespace, roles);
  roles.set(binding.role, bindings);
  bindings.add(binding);
}

function deleteFrom(namespaces: ByNamespace, binding: Binding): void {
  const roles = namespaces.get(binding.namespace);
  const bindings = roles?.get(binding.role);
  bindings?.delete(binding);
  if (bindings?.size === 0) roles?.delete(binding.role);
  if (roles?.size === 0) namespaces.delete(binding.namespace);
}
