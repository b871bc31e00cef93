import type { Awaitable, RequestVersions, ServedKind } from '../../admission/index.ts';
import {
  type ApiObject,
  atOnce,
  formatGroupResource,
  type JsonObject,
  type ObjectMeta,
  type Path,
  statusError,
  unknownField,
} from '../../meta/index.ts';
import { type CompiledType, compile } from '../../schema/index.ts';
import type { RegistryContext } from '../context.ts';
import type { Target } from '../types.ts';
import { replaceContent, setDefaults } from '../write/candidate/content.ts';
import { storedMetadata } from '../write/candidate/metadata.ts';
import type { Candidate } from '../write/write-request.ts';
import type { Catalog } from './catalog.ts';
import type { WriteContext } from './definition.ts';
import type { Resource } from './resource.ts';
import { fromStorage, requestKind, toStorage } from './target.ts';

/** The objects of a request in admission. */
export interface AdmittedObjects {
  readonly registry: RegistryContext;
  readonly target: Target;
  readonly object: ApiObject | undefined;
  readonly oldObject: ApiObject | undefined;
  /** Set for an object that would be stored, with the context of its defaults. */
  readonly candidate?: Candidate;
  readonly context?: WriteContext;
}

/** See `RequestVersions`. Computes on demand. */
export class ObjectVersions implements RequestVersions {
  readonly #of: AdmittedObjects;

  constructor(of: AdmittedObjects) {
    this.#of = of;
  }

  get equivalents(): readonly ServedKind[] {
    return equivalentsOf(this.#of.registry.catalog, this.#of.target);
  }

  read(part: 'object' | 'oldObject', as: ServedKind): Awaitable<JsonObject | undefined> {
    const { target } = this.#of;
    const object = part === 'object' ? this.#visibleObject() : this.#of.oldObject;
    if (object === undefined || hasOwnKind(target)) return object;
    const to = this.#targetOf(as);
    return target.resource.format.custom === undefined ? fromStorage(to, object) : customIn(target, object, to);
  }

  write(as: ServedKind, value: JsonObject, strict = false): Awaitable<void> {
    const { target } = this.#of;
    if (hasOwnKind(target)) return this.#replace(decode(target, value, strict));
    const to = this.#targetOf(as);
    const decoded = decode(to, value, strict);
    if (target.resource.format.custom === undefined) return this.#replace(toStorage(to, decoded));
    const converted = customIn(to, decoded, target);
    return converted instanceof Promise ? converted.then((object) => this.#replace(object)) : this.#replace(converted);
  }

  type(as: ServedKind): CompiledType {
    const { target } = this.#of;
    return decodedKind(hasOwnKind(target) ? target : this.#targetOf(as)).type;
  }

  #targetOf({ resource: { group, version, resource } }: ServedKind): Target {
    const { registry, target } = this.#of;
    const own = target.resource.id;
    if (group === own.group && resource === own.resource && version === target.version) return target;
    return { ...target, resource: registry.catalog.find(group, version, resource) ?? target.resource, version };
  }

  /** Whether the server has set fields that a new object gets after mutating admission. */
  #hasEarlyFields(): boolean {
    const { oldObject, candidate } = this.#of;
    return oldObject === undefined && candidate !== undefined && candidate.admitted !== true;
  }

  #visibleObject(): ApiObject | undefined {
    const { object, candidate } = this.#of;
    if (object === undefined || !this.#hasEarlyFields()) return object;
    const hidden = { uid: undefined, creationTimestamp: undefined, generation: undefined };
    const name = candidate?.generated === true ? undefined : object.metadata.name;
    return { ...object, metadata: storedMetadata(object.metadata, { ...hidden, name }) };
  }

  /** Replaces the content of the object, apart from what only the server sets. */
  #replace(next: ApiObject): void {
    const { target, object, candidate, context } = this.#of;
    if (object === undefined) return;
    const { metadata: before } = object;
    const stored = candidate !== undefined && !hasOwnKind(target);
    if (stored) {
      next.metadata = storedMetadata(next.metadata, this.#serverFields(next.metadata, before));
    }
    replaceContent(object, next);
    if (!stored) return;
    candidate.rewritten ??= { managedFields: before.managedFields };
    const defaults = context === undefined ? undefined : setDefaults(target.resource, object, context);
    if (defaults !== undefined) atOnce(defaults);
  }

  #serverFields(next: ObjectMeta, before: ObjectMeta) {
    const { uid, creationTimestamp, generation, resourceVersion } = before;
    if (this.#hasEarlyFields()) return { uid, creationTimestamp, generation, name: next.name || before.name };
    return {
      uid: next.uid || uid,
      creationTimestamp: next.creationTimestamp ?? creationTimestamp,
      generation,
      resourceVersion,
    };
  }
}

const subresourceOf = ({ resource, subresource }: Target) => resource.subresources.get(subresource);

/** Whether the objects of the target's requests are of one kind, whatever the version of the resource. */
function hasOwnKind(target: Target): boolean {
  const served = subresourceOf(target);
  return served !== undefined && (served.requestKind !== undefined || served.type === 'connect');
}

/** @throws StatusError 400 for a value of the wrong type */
function decode(target: Target, value: JsonObject, strict: boolean): ApiObject {
  const { kind, apiVersion, type } = decodedKind(target);
  const { value: object, unknown } = type.decode(value) as { value: ApiObject; unknown: readonly Path[] };
  if (strict && unknown.length > 0 && target.resource.definition.custom === undefined) {
    throw statusError.badRequest(`strict decoding error: ${unknown.map(unknownField).join(', ')}`);
  }
  const { kind: _, apiVersion: __, metadata, ...rest } = object;
  const decoded = { kind, apiVersion, ...rest };
  const served = subresourceOf(target);
  return (served?.type === 'connect' ? decoded : { kind, apiVersion, metadata: metadata ?? {}, ...rest }) as ApiObject;
}

function decodedKind(target: Target): {
  readonly kind: string;
  readonly apiVersion: string;
  readonly type: CompiledType;
} {
  const served = subresourceOf(target);
  if (served?.type !== 'connect') return requestKind(target);
  return { kind: served.kind, apiVersion: 'v1', type: compile(served.connect.options, target.resource.names) };
}

/** A custom object of one version in another one, without changing it. @throws StatusError when a webhook fails */
function customIn(from: Target, object: ApiObject, to: Target): Awaitable<ApiObject> {
  const { apiVersion, custom } = to.resource.format;
  if (object.apiVersion === apiVersion || custom === undefined) return object;
  const normalize = (converted: ApiObject): ApiObject => {
    const copy = { ...converted };
    atOnce(custom.fromStored(copy));
    return copy;
  };
  const webhook = from.resource.format.custom?.webhook;
  if (webhook === undefined) return normalize(object);
  return webhook([object], apiVersion).then(([converted]) => normalize(converted ?? object));
}

/** By the served resources, which change with custom resources; then by resource, version and subresource. */
const equivalents = new WeakMap<readonly Resource[], Map<string, readonly ServedKind[]>>();

function equivalentsOf({ served }: Catalog, target: Target): readonly ServedKind[] {
  const places = equivalents.get(served) ?? new Map<string, readonly ServedKind[]>();
  equivalents.set(served, places);
  const { resource, version, subresource } = target;
  const key = `${formatGroupResource(resource.id)}/${version}/${subresource}`;
  let kinds = places.get(key);
  if (kinds === undefined) {
    const own = servedKind(target);
    const storage = formatGroupResource(resource.definition.storage);
    const others = served
      .filter(
        ({ definition, subresources }) =>
          definition.kind === resource.definition.kind &&
          formatGroupResource(definition.storage) === storage &&
          (subresource === '' || subresources.has(subresource)),
      )
      .flatMap((other) =>
        other.definition.versions
          .filter((one) => other.definition.group !== resource.id.group || one.version !== version)
          .map((one) => servedKind({ ...target, resource: other, version: one.version })),
      );
    kinds = [own, ...others];
    places.set(key, kinds);
  }
  return kinds;
}

/** The kind and the resource of requests to the target. */
export function servedKind(target: Target): ServedKind {
  const { resource, version } = target;
  const served = subresourceOf(target);
  const {
    group,
    version: of,
    kind,
  } = served?.type === 'connect' ? { group: resource.id.group, version, kind: served.kind } : requestKind(target);
  return {
    kind: { group, version: of, kind },
    resource: { group: resource.id.group, version, resource: resource.id.resource },
  };
}
