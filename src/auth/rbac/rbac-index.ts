import { type ApiObject, isJsonObject, type Json, type JsonObject, scheduler, type User } from '../../meta/index.ts';
import { type Action, type CompiledRules, compileRules, rulesAllow, rulesOf, weightOf } from './rules.ts';

export type RoleKind = 'Role' | 'ClusterRole';

/** A role that exists, or to which a binding refers. */
interface RoleSlot {
  readonly kind: string;
  readonly name: string;
  /** False: a binding cannot refer to a role of this kind. */
  readonly supported: boolean;
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
  readonly role: RoleSlot;
}

/** The bindings of one role to a subject, in the order of their creation. */
type BindingsOfRole = Set<Binding>;
/** What a subject is bound to, by namespace: each role once, whatever the number of its bindings. */
type RolesOfSubject = Map<string, Map<RoleSlot, BindingsOfRole>>;

/** A decision that examines more permissions than this continues in turns; each takes about 30 ns. */
const permissionsAtOnce = 5_000;

/**
 * The roles and bindings of the cluster. A decision looks at the roles of the user's name and groups in one namespace and
 * at cluster scope, each once, whatever the number of others. A change takes time linear in the size of its object.
 */
export class RbacIndex {
  /** Whether all stored roles and bindings are in the index. */
  loaded = false;
  /** By namespace and name. */
  readonly #roles = new Map<string, RoleSlot>();
  readonly #bindings = new Map<string, Binding>();
  /** Users, including those of service accounts. */
  readonly #users = new Map<string, RolesOfSubject>();
  readonly #groups = new Map<string, RolesOfSubject>();

  /** Adds, replaces or, with undefined, removes a Role, or a ClusterRole in the namespace ''. */
  setRole(namespace: string, name: string, role: ApiObject | undefined): void {
    const key = `${namespace}/${name}`;
    if (role === undefined) {
      const slot = this.#roles.get(key);
      if (slot === undefined) return;
      slot.compiled = undefined;
      this.#release(key, slot);
    } else this.#slot(key, namespace === '' ? 'ClusterRole' : 'Role', name).compiled = compileRules(rulesOf(role));
  }

  /** Adds, replaces or, with undefined, removes a RoleBinding, or a ClusterRoleBinding in the namespace ''. */
  setBinding(namespace: string, name: string, object: ApiObject | undefined): void {
    const key = `${namespace}/${name}`;
    const before = this.#bindings.get(key);
    if (before !== undefined) this.#remove(key, before);
    if (object === undefined) return;
    const roleRef = refOf(object);
    const role = this.#slot(roleKeyOf(roleRef, namespace), roleRef.kind, roleRef.name);
    role.bindings += 1;
    const binding: Binding = { namespace, name, roleRef, subjects: subjectsOf(object, namespace), role };
    this.#bindings.set(key, binding);
    for (const subject of binding.subjects) this.#addSubject(subject, binding);
  }

  /** The rules of a role; undefined when it does not exist. */
  rulesOf(kind: RoleKind, namespace: string, name: string): CompiledRules | undefined {
    return this.#roles.get(roleKeyOf({ kind, name }, namespace))?.compiled;
  }

  /**
   * A binding through which the user may take the action in the namespace; one at cluster scope before others. A promise
   * where many permissions have to be looked at, in turns of the user.
   */
  findGrant(user: User, namespace: string, action: Action): Binding | undefined | Promise<Binding | undefined> {
    const candidates = this.#rolesOf(user, namespace);
    let looked = 0;
    for (let next = candidates.next(); next.done !== true; next = candidates.next()) {
      const [role, bindings] = next.value;
      if (role.compiled === undefined) continue;
      if (rulesAllow(role.compiled, action)) return firstOf(bindings);
      looked += weightOf(role.compiled, action);
      if (looked >= permissionsAtOnce) return findInTurns(candidates, action, user);
    }
    return undefined;
  }

  /** The roles to which the user is bound at cluster scope and in the namespace, each once. */
  rolesOf(user: User, namespace: string): ReadonlySet<RoleSlot> {
    const found = new Set<RoleSlot>();
    for (const [role] of this.#rolesOf(user, namespace)) found.add(role);
    return found;
  }

  /** The first subject of the binding that is the user. */
  subjectOf({ subjects: all }: Binding, { name, groups }: User): Subject | undefined {
    return all.find((subject) => {
      const [subjects, key] = this.#place(subject) ?? [];
      return subjects === this.#users ? key === name : subjects === this.#groups && groups.includes(key ?? '');
    });
  }

  /** The number of entries of each kind, which shows that nothing is left of removed objects. */
  get sizes() {
    const { size: roles } = this.#roles;
    return { roles, bindings: this.#bindings.size, users: this.#users.size, groups: this.#groups.size };
  }

  *#rolesOf(user: User, namespace: string): Generator<readonly [RoleSlot, BindingsOfRole], void, undefined> {
    yield* this.#rolesIn(user, '');
    if (namespace !== '') yield* this.#rolesIn(user, namespace);
  }

  *#rolesIn(
    { name, groups }: User,
    namespace: string,
  ): Generator<readonly [RoleSlot, BindingsOfRole], void, undefined> {
    const own = this.#users.get(name)?.get(namespace);
    if (own !== undefined) yield* own;
    for (const group of groups) {
      const shared = this.#groups.get(group)?.get(namespace);
      if (shared !== undefined) yield* shared;
    }
  }

  #slot(key: string, kind: string, name: string): RoleSlot {
    let slot = this.#roles.get(key);
    if (slot === undefined) {
      slot = { kind, name, supported: !key.startsWith(unsupported), compiled: undefined, bindings: 0 };
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
    role.bindings -= 1;
    this.#release(roleKeyOf(roleRef, namespace), role);
  }

  /** The map in which a subject is indexed, and its key there; undefined for one that nobody is. */
  #place({ kind, name, namespace }: Subject): readonly [Map<string, RolesOfSubject>, string] | undefined {
    if (kind === 'User') return [this.#users, name];
    if (kind === 'Group') return [this.#groups, name];
    if (kind !== 'ServiceAccount' || namespace === '') return undefined;
    return [this.#users, `system:serviceaccount:${namespace}:${name}`];
  }

  #addSubject(subject: Subject, binding: Binding): void {
    const [subjects, key] = this.#place(subject) ?? [];
    if (subjects === undefined || key === undefined) return;
    const byNamespace: RolesOfSubject = subjects.get(key) ?? new Map();
    const roles = byNamespace.get(binding.namespace) ?? new Map<RoleSlot, BindingsOfRole>();
    const bindings = roles.get(binding.role) ?? new Set<Binding>();
    subjects.set(key, byNamespace);
    byNamespace.set(binding.namespace, roles);
    roles.set(binding.role, bindings);
    bindings.add(binding);
  }

  #removeSubject(subject: Subject, binding: Binding): void {
    const [subjects, key] = this.#place(subject) ?? [];
    if (subjects === undefined || key === undefined) return;
    const byNamespace = subjects.get(key);
    const roles = byNamespace?.get(binding.namespace);
    const bindings = roles?.get(binding.role);
    bindings?.delete(binding);
    if (bindings?.size === 0) roles?.delete(binding.role);
    if (roles?.size === 0) byNamespace?.delete(binding.namespace);
    if (byNamespace?.size === 0) subjects.delete(key);
  }
}

const firstOf = (bindings: BindingsOfRole): Binding | undefined => bindings.keys().next().value;

/** The rest of a decision. Roles that change meanwhile are looked at as they are by then. */
async function findInTurns(
  candidates: Iterator<readonly [RoleSlot, BindingsOfRole]>,
  action: Action,
  { name }: User,
): Promise<Binding | undefined> {
  const turns = scheduler.turns(name);
  for (;;) {
    if (turns.over) await turns.next();
    const next = candidates.next();
    if (next.done === true) return undefined;
    const [{ compiled }, bindings] = next.value;
    if (compiled !== undefined && rulesAllow(compiled, action)) return firstOf(bindings);
  }
}

/** The beginning of keys of roles of another kind: it is not a name of a namespace. */
const unsupported = '?';

/** The key of a referenced role, one of its own for kinds that a binding of the namespace cannot refer to. */
function roleKeyOf({ kind, name }: Binding['roleRef'], namespace: string): string {
  if (kind === 'ClusterRole') return `/${name}`;
  return kind === 'Role' && namespace !== '' ? `${namespace}/${name}` : `${unsupported}${kind}/${name}`;
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
