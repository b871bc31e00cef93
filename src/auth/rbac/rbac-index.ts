import { type ApiObject, isJsonObject, type Json, type JsonObject, scheduler, type User } from '../../meta/index.ts';
import { type Action, type CompiledRules, compileRules, rulesAllow, rulesOf, weightOf } from './rules.ts';
import { type Binding, type RoleSlot, type Subject, SubjectBindings } from './subject-bindings.ts';

export type RoleKind = 'Role' | 'ClusterRole';

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
  readonly #users = new SubjectBindings();
  readonly #groups = new SubjectBindings();

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
    for (const subject of binding.subjects) {
      const [ofKind, who] = this.#place(subject) ?? [];
      if (who !== undefined) ofKind?.add(who, binding);
    }
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
    const candidates = this.#bindingsOf(user, namespace);
    let looked = 0;
    for (const bindings of candidates) {
      for (const binding of bindings) {
        const { compiled } = binding.role;
        if (compiled === undefined) continue;
        if (rulesAllow(compiled, action)) return binding;
        looked += weightOf(compiled, action);
        if (looked >= permissionsAtOnce) return findInTurns(this.#bindingsOf(user, namespace), action, user);
      }
    }
    return undefined;
  }

  /** The roles to which the user is bound at cluster scope and in the namespace, each once. */
  rolesOf(user: User, namespace: string): ReadonlySet<RoleSlot> {
    const found = new Set<RoleSlot>();
    for (const bindings of this.#bindingsOf(user, namespace)) for (const { role } of bindings) found.add(role);
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

  /** The bindings of a user and of each of its groups, at cluster scope and in the namespace. */
  #bindingsOf({ name, groups }: User, namespace: string): Iterable<Binding>[] {
    const found: Iterable<Binding>[] = [];
    for (const scope of namespace === '' ? [''] : ['', namespace]) {
      const own = this.#users.of(name, scope);
      if (own !== undefined) found.push(own);
      for (const group of groups) {
        const shared = this.#groups.of(group, scope);
        if (shared !== undefined) found.push(shared);
      }
    }
    return found;
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
    for (const subject of subjects) {
      const [ofKind, who] = this.#place(subject) ?? [];
      if (who !== undefined) ofKind?.delete(who, binding);
    }
    role.bindings -= 1;
    this.#release(roleKeyOf(roleRef, namespace), role);
  }

  /** The map in which a subject is indexed, and its key there; undefined for one that nobody is. */
  #place({ kind, name, namespace }: Subject): readonly [SubjectBindings, string] | undefined {
    if (kind === 'User') return [this.#users, name];
    if (kind === 'Group') return [this.#groups, name];
    if (kind !== 'ServiceAccount' || namespace === '') return undefined;
    return [this.#users, `system:serviceaccount:${namespace}:${name}`];
  }
}

/** The same in turns, from the beginning. Roles that change meanwhile are looked at as they are by then. */
async function findInTurns(
  candidates: readonly Iterable<Binding>[],
  action: Action,
  { name }: User,
): Promise<Binding | undefined> {
  const turns = scheduler.turns(name);
  for (const bindings of candidates) {
    for (const binding of bindings) {
      if (turns.over) await turns.next();
      const { compiled } = binding.role;
      if (compiled !== undefined && rulesAllow(compiled, action)) return binding;
    }
  }
  return undefined;
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
