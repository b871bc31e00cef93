/** Updates the names of objects in the fields of others that refer to them. */
import { getKey, isJsonObject, type Json, type JsonObject, setKey } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import { jsonText } from '../output/json.ts';
import { editField } from './field-path.ts';
import type { NameReference } from './format.ts';
import { type Gvk, groupVersionOf, isSelected, type Resource } from './resource.ts';

/**
 * Updates all references to objects whose name or namespace has changed. @throws CommandError for a name that several objects
 * had
 */
export function updateReferences(resources: readonly Resource[], references: readonly NameReference[]): void {
  const byFormerName = new Map<string, Resource[]>();
  for (const resource of resources) {
    for (const name of new Set(resource.previous.map((previous) => previous.name))) {
      const named = byFormerName.get(name);
      if (named === undefined) byFormerName.set(name, [resource]);
      else named.push(resource);
    }
  }
  if (byFormerName.size === 0) return;
  for (const referrer of resources) {
    const { original } = referrer;
    for (const { fieldSpecs = [], ...target } of references) {
      for (const spec of fieldSpecs) {
        if (!isSelected(original, spec)) continue;
        const update = new Update(referrer, target, byFormerName, spec.path ?? '');
        const { kind, group, version } = referrer.identity;
        editField(referrer, { kind, group, version, path: spec.path ?? '' }, { set: (value) => update.set(value) });
      }
    }
  }
}

/** The update of one field of an object. */
class Update {
  readonly #referrer: Resource;
  /** The kind of the objects that the field refers to. */
  readonly #target: Gvk;
  readonly #byFormerName: ReadonlyMap<string, readonly Resource[]>;
  readonly #path: string;

  constructor(referrer: Resource, target: Gvk, byFormerName: ReadonlyMap<string, readonly Resource[]>, path: string) {
    this.#referrer = referrer;
    this.#target = target;
    this.#byFormerName = byFormerName;
    this.#path = path;
  }

  /** The new value of the field: a name, an object with a name and perhaps a namespace, or a list of those. */
  set(value: Json): Json {
    if (Array.isArray(value)) return value.map((item) => this.set(item));
    if (isJsonObject(value)) return this.#setObject(value);
    if (value === null) return value;
    const name = jsonText(value);
    const found = this.#choose(this.#named(name), name, ({ name: own }) => own);
    return found === undefined || found.name === name ? value : found.name;
  }

  #setObject(value: JsonObject): JsonObject {
    const name = getKey(value, 'name');
    if (name === undefined) throw new CommandError('an object with a name is expected');
    const namespace = jsonText(value['namespace']);
    const candidates = this.#named(jsonText(name));
    const inNamespace = (of: 'original' | 'identity') => candidates.filter((one) => one[of].namespace === namespace);
    const original = namespace === '' ? candidates : inNamespace('original');
    const found = this.#choose(
      original.length > 0 ? original : inNamespace('identity'),
      jsonText(name),
      (one) => `${one.namespace}/${one.name}`,
    );
    if (found === undefined) return value;
    setKey(value, 'name', found.name);
    if (found.namespace !== '') setKey(value, 'namespace', found.namespace);
    return value;
  }

  /** The objects that had the name, and that the referrer can refer to. */
  #named(name: string): Resource[] {
    const named = this.#byFormerName.get(name) ?? [];
    const roleRef = this.#path.endsWith('roleRef/name') ? roleRefOf(this.#referrer) : {};
    return named.filter((one) => {
      const { previous } = one;
      return (
        [this.#target, roleRef].every((gvk) => previous.some((id) => isSelected(id, gvk))) && this.#isReachable(one)
      );
    });
  }

  /** Objects of other namespaces are no candidates, except service accounts that a role binding names with their namespace. */
  #isReachable(candidate: Resource): boolean {
    const { namespace } = this.#referrer.identity;
    const other = candidate.identity.namespace;
    if (namespace === undefined || other === undefined || namespace === other) return true;
    return candidate.kind === 'ServiceAccount' && boundNamespaces(this.#referrer).has(candidate.namespace);
  }

  /** The best candidate; undefined for none. @throws CommandError when several fit */
  #choose(candidates: readonly Resource[], name: string, textOf: (one: Resource) => string): Resource | undefined {
    if (candidates.length <= 1) return candidates[0];
    const similar = candidates.filter((one) => hasSameAffixes(one, this.#referrer, true));
    const same = similar.length > 1 ? similar.filter((one) => hasSameAffixes(one, this.#referrer, false)) : similar;
    const [first, ...others] = same;
    if (first === undefined || others.every((one) => textOf(one) === textOf(first))) return first;
    throw new CommandError(
      `the name ${JSON.stringify(name)} may refer to ${same.map((one) => one.text).join(' or to ')}`,
    );
  }
}

/** The kind that a role binding refers to. */
function roleRefOf({ object }: Resource): Gvk {
  const { roleRef = null } = object;
  if (!isJsonObject(roleRef) || !('apiGroup' in roleRef && 'kind' in roleRef)) return {};
  const { group } = groupVersionOf(`${jsonText(roleRef['apiGroup'])}/`);
  return { group, kind: jsonText(roleRef['kind']) };
}

/** The namespaces of the service accounts that a role binding has as subjects. */
function boundNamespaces({ kind, object }: Resource): ReadonlySet<string> {
  const { subjects = null } = object;
  if (kind !== 'RoleBinding' || !Array.isArray(subjects)) return new Set();
  const accounts = subjects.filter(isJsonObject).filter((subject) => subject['kind'] === 'ServiceAccount');
  return new Set(accounts.map((subject) => jsonText(subject['namespace'])));
}

/** Whether two names got the same prefixes and suffixes last. `ignoresNone`: an object without them is like each other one. */
function hasSameAffixes(one: Resource, other: Resource, ignoresNone: boolean): boolean {
  const isSame = (a: readonly string[], b: readonly string[]) =>
    (ignoresNone && (a.length === 0 || b.length === 0)) || endsAlike(a, b);
  return isSame(one.prefixes, other.prefixes) && isSame(one.suffixes, other.suffixes);
}

function endsAlike(a: readonly string[], b: readonly string[]): boolean {
  const length = Math.min(a.length, b.length);
  if (length === 0) return a.length === b.length;
  return a.slice(-length).every((part, i) => part === b.slice(-length)[i]);
}
