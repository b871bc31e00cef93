import { readOwnJson } from '../../codec/index.ts';
import { type ApiObject, formatPath, isJsonObject, type Json, quote, StatusError } from '../../meta/index.ts';
import type { Findings } from './check-findings.ts';
import type { StoredKind } from './check-kinds.ts';

/** A reference of an object to an owner. */
interface Ownership {
  readonly key: string;
  readonly namespace: string | undefined;
  readonly owner: { readonly uid: string; readonly kind: string; readonly name: string };
}

/** An object that may be an owner. */
interface Owner {
  readonly key: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string | undefined;
}

/** Checks objects one by one, and their references at the end. */
export class ObjectCheck {
  readonly #findings: Findings;
  readonly #namespaces: ReadonlySet<string>;
  readonly #byUid = new Map<string, Owner>();
  readonly #ownerships: Ownership[] = [];

  /** `namespaces`: the names of existing namespaces. */
  constructor(findings: Findings, namespaces: ReadonlySet<string>) {
    this.#findings = findings;
    this.#namespaces = namespaces;
  }

  /**
   * Returns the `apiVersion` of the value; undefined when it is not an object of the kind. `place` is the key without the
   * prefix of the kind.
   */
  check(kind: StoredKind, key: string, place: string, value: Uint8Array): string | undefined {
    const decoded = decode(kind, value);
    if ('problem' in decoded) {
      this.#findings.add('object', key, decoded.problem);
      return undefined;
    }
    const { object, unknown } = decoded;
    for (const field of unknown) {
      this.#findings.add('fields', key, `${field} is not declared in ${kind.kind} of ${object.apiVersion}`);
    }
    for (const { field, message } of kind.validate?.(object) ?? []) {
      this.#findings.add('schema', key, `${field}: ${message}`);
    }
    this.#identify(kind, key, place, object);
    return object.apiVersion;
  }

  /** Checks the references between the objects. */
  finish(): void {
    for (const { key, namespace, owner } of this.#ownerships) {
      const problem = ownerProblem(this.#byUid.get(owner.uid), owner, namespace);
      if (problem !== undefined) {
        this.#findings.add('owner', key, `its owner ${owner.kind} ${quote(owner.name)} (uid ${owner.uid}) ${problem}`);
      }
    }
  }

  #identify(kind: StoredKind, key: string, place: string, { metadata }: ApiObject): void {
    const { name = '', namespace, uid = '', ownerReferences = [] } = metadata;
    const own = kind.namespaced ? `${namespace ?? ''}/${name}` : name;
    if (own !== place) this.#findings.add('name', key, `it is the object ${quote(own)} and not ${quote(place)}`);
    if (namespace !== undefined && !this.#namespaces.has(namespace)) {
      this.#findings.add('namespace', key, `there is no namespace ${quote(namespace)}`);
    }
    const other = this.#byUid.get(uid);
    if (uid === '') this.#findings.add('uid', key, 'it has no uid');
    else if (other !== undefined) this.#findings.add('uid', key, `it has the uid ${uid} of ${other.key}`);
    else this.#byUid.set(uid, { key, kind: kind.kind, name, namespace });
    for (const owner of ownerReferences) this.#ownerships.push({ key, namespace, owner });
  }
}

function ownerProblem(existing: Owner | undefined, owner: Ownership['owner'], namespace: string | undefined) {
  if (existing === undefined) return 'is not there';
  if (existing.kind !== owner.kind || existing.name !== owner.name)
    return `is ${existing.kind} ${quote(existing.name)}`;
  if (existing.namespace === undefined || existing.namespace === namespace) return undefined;
  return `is in the namespace ${quote(existing.namespace)}`;
}

/** Decodes the object of a kind with the paths of undeclared fields, or returns the problem. */
export function decode(
  kind: StoredKind,
  value: Uint8Array,
): { readonly object: ApiObject; readonly unknown: readonly string[] } | { readonly problem: string } {
  const stored = parse(value);
  if (!isJsonObject(stored)) return { problem: 'the value is not the JSON of an object' };
  const { apiVersion = '', kind: storedKind } = stored;
  const type = typeof apiVersion === 'string' ? kind.types.get(apiVersion) : undefined;
  if (type === undefined || storedKind !== kind.kind) {
    const may = [...kind.types.keys()].map((version) => `${version} ${kind.kind}`).join(' or ');
    return { problem: `it is of ${JSON.stringify(apiVersion)} ${JSON.stringify(storedKind ?? '')} and not of ${may}` };
  }
  try {
    const decoded = type.decode(stored);
    return { object: decoded.value as ApiObject, unknown: decoded.unknown.map(formatPath) };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return { problem: `it does not decode as ${kind.kind}: ${error.message}` };
  }
}

function parse(value: Uint8Array): Json | undefined {
  try {
    return readOwnJson(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString());
  } catch {
    return undefined;
  }
}
