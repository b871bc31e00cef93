import { createChain } from '../admission/index.ts';
import type { CachedObject } from '../cache/index.ts';
import { at, atOnce, formatGroupResource, type JsonObject, jsonEqual, statusError } from '../meta/index.ts';
import { describe, isCorrupt, readObject, storedText, unreadable } from './bytes.ts';
import { consistentCache, type RegistryContext } from './context.ts';
import type { Objects } from './definition.ts';
import { trackManagedFields, trackServerUpdate } from './field-management.ts';
import { completePendingObject, preparePendingObject } from './prepare.ts';
import { readWriteRequest } from './read-request.ts';
import type { Resource } from './resource.ts';
import { keyOf, rangeOf } from './selection.ts';
import type { NewEntry, WriteOptions } from './types.ts';
import { write } from './write.ts';

/** How often a change begins anew because another writer was first. */
const maxAttempts = 200;

/** The objects of the server for what is done on the server's own account; in a dry run nothing is stored. */
export function objectsOf(registry: RegistryContext, options: WriteOptions, dryRun: boolean): Objects {
  const unchecked: RegistryContext = { ...registry, admission: createChain([]) };
  const read = (held: CachedObject) => {
    if (isCorrupt(held)) throw unreadable(held);
    return readObject(held);
  };
  const load = async (resource: Resource, namespace: string, name: string) => {
    const { entry } = await registry.store.get(keyIn(resource, namespace, name));
    if (entry === undefined) throw statusError.notFound(resource.id, name);
    return { entry, object: read(describe(resource.format, entry)) };
  };
  return {
    get: async (id, namespace, name) => (await load(find(registry, id), namespace, name)).object,
    list: async (id, namespace) => {
      const resource = find(registry, id);
      const snapshot = (await consistentCache(registry, resource)).snapshot();
      const range = rangeOf(resource, { namespace });
      return [...snapshot.range(range)].map(read);
    },
    update: async (id, namespace, name, change, subresource) => {
      const resource = find(registry, id);
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const { entry, object } = await load(resource, namespace, name);
        const before = readObject(describe(resource.format, entry));
        change(object);
        if (dryRun || jsonEqual(object, before)) return String(entry.revision);
        if (subresource !== undefined) trackServerUpdate(registry, resource, subresource, object, before);
        const value = Buffer.from(storedText(resource.format, object));
        const { key, revision } = entry;
        const { ttlSeconds: ttl } = resource.definition.strategy;
        const written = ttl === undefined ? { key, value } : { key, value, ttl };
        const answer = await registry.store.commit([{ key, revision }], [written]);
        if (answer.ok) return String(answer.revision);
      }
      throw statusError.modified(resource.id, name);
    },
    delete: async (id, namespace, name, deleteOptions: JsonObject) => {
      const resource = find(registry, id);
      const version = resource.storageVersion.declared.version;
      const target = { resource, version, namespace, name, subresource: '' };
      await write(unchecked, target, { verb: 'delete', options: deleteOptions }, { ...options, dryRun });
    },
  };
}

/** See `Registry.newEntry`. */
export function newEntry(
  registry: RegistryContext,
  resource: Resource,
  object: JsonObject,
  fieldManager: string,
): NewEntry {
  const { version } = resource.storageVersion.declared;
  const place = at(object, 'metadata', 'namespace');
  const namespace = typeof place === 'string' ? place : '';
  const target = { resource, version, namespace, name: '', subresource: '' };
  const change = { verb: 'create', object: { value: object, findings: [] } } as const;
  const requester = { name: 'system:apiserver', groups: ['system:masters'] };
  const options: WriteOptions = {
    requester,
    dryRun: false,
    fieldManager,
    fieldValidation: 'Ignore',
    force: false,
    warnings: new Set(),
  };
  const request = readWriteRequest(registry, target, change, options);
  const pending = atOnce(preparePendingObject(request, undefined));
  resource.definition.strategy.defaults?.(pending.object, request.context);
  atOnce(trackManagedFields(request, pending, undefined));
  completePendingObject(request, pending, undefined);
  const { name = '' } = pending.object.metadata;
  return { key: keyIn(resource, namespace, name), value: Buffer.from(storedText(resource.format, pending.object)) };
}

function find({ resources }: RegistryContext, id: string): Resource {
  const found = resources.find((resource) => formatGroupResource(resource.id) === id);
  if (found === undefined) throw statusError.noSuchResource();
  return found;
}

function keyIn(resource: Resource, namespace: string, name: string): string {
  const key = keyOf(resource, { namespace, name });
  if (key === undefined) throw statusError.notFound(resource.id, name);
  return key;
}
