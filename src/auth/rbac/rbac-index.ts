import { type ApiObject, isJsonObject, type Json, type JsonObject, type User } from '../../meta/index.ts';
import { type Action, type CompiledRules, compileRules, rulesAllow, rulesOf } from './rules.ts';

export type RoleKind = 'Role' | 'ClusterRole';

/** A role that exists, or to which a binding refers. */
interface RoleSlot {
  /** Undefined: the role does not exist. */
  compiled: CompiledRules | undefined;
  /** How many bindings refer to it. */
  bindings: number;
}

interface Subject {
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
  /** Undefined: it cannot refer to a role of this kind. */
  readonly role: RoleSlot | undefined;
}

/** The bindings of a user name or group by namespace, each with the position of the subject. */
type BindingsOfSubject = Map<string, Map<Binding, number>>;

/**
 * The roles and bindings of the cluster. A decision looks at the bindings of the user's name and groups in one namespace
 * and at cluster scope, whatever the number of others. A change takes time linear in the size of its object.
 */
export class RbacIndex {
  /** Whether all stored roles and bindings are in the index. */
  loaded = false;
  /** By namespace and name. */
  readonly #roles = new Map<string, RoleSlot>();
  readonly #bindings = new Map<string, Binding>();
  /** Users, including those of service accounts. */
  readonly #users = new Map<string, BindingsOfSubject>();
  readonly #groups = new Map<string, BindingsOfSubject>();

  /** Adds, replaces or, with undefined, removes a Role, or a ClusterRole in the namespace ''. */
  setRole(namespace: string, name: string, role: ApiObject | undefined): void {
    const key = `${namespace}/${name}`;
    if (role === undefined) {
      const slot = this.#roles.get(key);
      if (slot === undefined) return;
      slot.compiled = undefined;
      this.#release(key, slot);
    } else this.#slot(key).compiled = compileRules(rulesOf(role));
  }

  /** Adds, replaces or, with undefined, removes a RoleBinding, or a ClusterRoleBinding in the namespace ''. */
  setBinding(namespace: string, name: string, object: ApiObject | undefined): void {
    const key = `${namespace}/${name}`;
    const before = this.#bindings.get(key);
    if (before !== undefined) this.#remove(key, before);
    if (object === undefined) return;
    const roleRef = refOf(object);
    const roleKey = roleKeyOf(roleRef, namespace);
    const role = roleKey === undefined ? undefined : this.#slot(roleKey);
    if (role !== undefined) role.bindings += 1;
    const binding: Binding = { namespace, name, roleRef, subjects: subjectsOf(object, namespace), role };
    this.#bindings.set(key, binding);
    for (const [position, subject] of binding.subjects.entries()) this.#addSubject(subject, binding, position);
  }

  /** The rules of a role; undefined when it does not exist. */
  rulesOf(kind: RoleKind, namespace: string, name: string): CompiledRules | undefined {
    const key = roleKeyOf({ kind, name }, namespace);
    return key === undefined ? undefined : this.#roles.get(key)?.compiled;
  }

  /** A binding through which the user may take the action in the namespace; one at cluster scope before others. */
  findGrant(user: User, namespace: string, action: Action): Binding | undefined {
    const found = this.#findIn(user, '', action);
    return found !== undefined || namespace === '' ? found : this.#findIn(user, namespace, action);
  }

  /** All bindings of the user at cluster scope and in the namespace, each once. */
  bindingsOf(user: User, namespace: string): Binding[] {
    const found = new Set<Binding>();
    for (const scope of namespace === '' ? [''] : ['', namespace]) {
      for (const bindings of this.#allIn(user, scope)) for (const binding of bindings.keys()) found.add(binding);
    }
    return [...found];
  }

  /** The first subject of the binding that is the user. */
  subjectOf(binding: Binding, user: User): Subject | undefined {
    let first = Number.POSITIVE_INFINITY;
    for (const bindings of this.#allIn(user, binding.namespace))
      first = Math.min(first, bindings.get(binding) ?? first);
    return binding.subjects[first];
  }

  /** The number of entries of each kind, which shows that nothing is left of removed objects. */
  get sizes() {
    const { size: roles } = this.#roles;
    return { roles, bindings: this.#bindings.size, users: this.#users.size, groups: this.#groups.size };
  }

  #findIn(user: User, namespace: string, action: Action): Binding | undefined {
    const found = firstGrant(this.#users.get(user.name)?.get(namespace), action);
    if (found !== undefined) return found;
    for (const group of user.groups) {
      const granting = firstGrant(this.#groups.get(group)?.get(namespace), action);
      if (granting !== undefined) return granting;
    }
    return undefined;
  }

  *#allIn({ name, groups }: User, namespace: string): Iterable<Map<Binding, number>> {
    const own = this.#users.get(name)?.get(namespace);
    if (own !== undefined) yield own;
    for (const group of groups) {
      const shared = this.#groups.get(group)?.get(namespace);
      if (shared !== undefined) yield shared;
    }
  }

  #slot(key: string): RoleSlot {
    let slot = this.#roles.get(key);
    if (slot === undefined) {
      slot = { compiled: undefined, bindings: 0 };
      this.#roles.set(key, slot);
    }
    return slot;
  }

  #release(key: string, slot: RoleSlot): void {
    if (slot.compiled === undefined && slot.bindings === 0) this.#roles.delete(key);
  }

  #remove(key: string, binding: Binding): void {
    const { namespace, roleRef, role, subjects } = binding;
    this.#bindings.delete(key);
    for (const subject of subjects) this.#removeSubject(subject, binding);
    const roleKey = roleKeyOf(roleRef, namespace);
    if (role === undefined || roleKey === undefined) return;
    role.bindings -= 1;
    this.#release(roleKey, role);
  }

  /** The map in which a subject is indexed, and its key there; undefined for one that nobody is. */
  #place({ kind, name, namespace }: Subject): readonly [Map<string, BindingsOfSubject>, string] | undefined {
    if (kind === 'User') return [this.#users, name];
    if (kind === 'Group') return [this.#groups, name];
    if (kind !== 'ServiceAccount' || namespace === '') return undefined;
    return [this.#users, `system:serviceaccount:${namespace}:${name}`];
  }

  #addSubject(subject: Subject, binding: Binding, position: number): void {
    const [subjects, key] = this.#place(subject) ?? [];
    if (subjects === undefined || key === undefined) return;
    const byNamespace: BindingsOfSubject = subjects.get(key) ?? new Map();
    const bindings = byNamespace.get(binding.namespace) ?? new Map<Binding, number>();
    subjects.set(key, byNamespace);
    byNamespace.set(binding.namespace, bindings);
    if (!bindings.has(binding)) bindings.set(binding, position);
  }

  #removeSubject(subject: Subject, binding: Binding): void {
    const [subjects, key] = this.#place(subject) ?? [];
    if (subjects === undefined || key === undefined) return;
    const byNamespace = subjects.get(key);
    const bindings = byNamespace?.get(binding.namespace);
    bindings?.delete(binding);
    if (bindings?.size === 0) byNamespace?.delete(binding.namespace);
    if (byNamespace?.size === 0) subjects.delete(key);
  }
}

function firstGrant(bindings: Map<Binding, number> | undefined, action: Action): Binding | undefined {
  if (bindings === undefined) return undefined;
  for (const binding of bindings.keys()) {
    const compiled = binding.role?.compiled;
    if (compiled !== undefined && rulesAllow(compiled, action)) return binding;
  }
  return undefined;
}

/** The key of a referenced role; undefined for kinds that a binding of the namespace cannot refer to. */
function roleKeyOf({ kind, name }: Binding['roleRef'], namespace: string): string | undefined {
  if (kind === 'ClusterRole') return `/${name}`;
  return kind === 'Role' && namespace !== '' ? `${namespace}/${name}` : undefined;
}

const textOf = (object: JsonObject, field: string): string => {
  const value = object[field];
  return typeof value === 'string' ? value : '';
};

/** The role to which a binding refers. */
export function refOf({ roleRef }: ApiObject): { readonly kind: string; readonly name: string } {
  const ref = isJsonObject(roleRef) ? roleRef : {};
  return { kind: textOf(ref, 'kind'), name: textOf(ref, 'name') };
}

function subjectsOf({ subjects }: ApiObject, bindingNamespace: string): Subject[] {
  return (Array.isArray(subjects) ? (subjects as Json[]) : []).filter(isJsonObject).map((subject) => {
    const kind = textOf(subject, 'kind');
    const namespace = kind === 'ServiceAccount' ? textOf(subject, 'namespace') || bindingNamespace : '';
    return { kind, name: textOf(subject, 'name'), namespace };
  });
}
