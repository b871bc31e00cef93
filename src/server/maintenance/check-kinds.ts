/** The kinds whose objects a store has: built-in ones, and those of the definitions in it. */
import { customResources } from '../../extensions/index.ts';
import {
  type ApiObject,
  atOnce,
  errorsNow,
  type FieldError,
  formatGroupResource,
  formatGroupVersion,
  type Names,
  type User,
} from '../../meta/index.ts';
import { keyPrefixOf, type Registry, type ResourceDefinition } from '../../registry/index.ts';
import type { CompiledType } from '../../schema/index.ts';
import { systemClock } from '../clock.ts';

/** The objects below a prefix of keys. */
export interface StoredKind {
  /** The group resource, such as `deployments.apps`. */
  readonly id: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** The `apiVersion` in which a server stores objects. */
  readonly storageVersion: string;
  /** The types of stored objects, by `apiVersion`. */
  readonly types: ReadonlyMap<string, CompiledType>;
  /** Validates a decoded custom object against the schema of its definition. */
  readonly validate?: (object: ApiObject) => readonly FieldError[];
}

/** By prefix of their keys. */
export type StoredKinds = ReadonlyMap<string, StoredKind>;

/** The kinds of a registry that serves all resources. Resources that share their objects are one kind. */
export function builtinKinds({ resources }: Registry): Map<string, StoredKind> {
  const kinds = new Map<string, StoredKind>();
  for (const { definition, keyPrefix, id, storageVersion, versions } of resources) {
    if (definition.virtual === true) continue;
    const others = [...versions.values()].map(({ apiVersion, type }) => [apiVersion, type] as const);
    const existing = kinds.get(keyPrefix);
    kinds.set(keyPrefix, {
      id: existing?.id ?? formatGroupResource(id),
      kind: definition.kind,
      namespaced: definition.namespaced,
      storageVersion: storageVersion.apiVersion,
      types: new Map([...(existing?.types ?? []), ...others, [storageVersion.apiVersion, storageVersion.type]]),
    });
  }
  return kinds;
}

/** The kind of a decoded definition, and the prefix of its keys. @throws StatusError for an unusable schema */
export function customKind(definition: ApiObject, names: Names, registry: Registry): [string, StoredKind] | undefined {
  const versions = customResources(definition, { names, features: registry.features });
  const [any] = versions.values();
  if (any === undefined) return undefined;
  return [
    keyPrefixOf(any),
    {
      id: formatGroupResource({ group: any.group, resource: any.plural }),
      kind: any.kind,
      namespaced: any.namespaced,
      storageVersion: formatGroupVersion({ group: any.group, version: any.custom?.version ?? '' }),
      types: new Map(
        any.versions.flatMap(({ version, type }) =>
          type === undefined ? [] : [[formatGroupVersion({ group: any.group, version }), type]],
        ),
      ),
      validate: (object) => validate(versions, object, names),
    },
  ];
}

function validate(versions: ReadonlyMap<string, ResourceDefinition>, object: ApiObject, names: Names) {
  const version = object.apiVersion.slice(object.apiVersion.indexOf('/') + 1);
  const { validate, validateInSteps } = versions.get(version)?.strategy ?? {};
  const context = { names, now: systemClock.now(), requester: nobody, warn: () => {} };
  const errors = errorsNow(validate?.(object, context) ?? []);
  const lengthy = validateInSteps?.(object, undefined, context, { found: errors, part: 'whole' });
  return lengthy === undefined ? errors : [...errors, ...errorsNow(atOnce(lengthy))];
}

/** Stored objects have no requester. */
const nobody: User = { name: '', groups: [] };
