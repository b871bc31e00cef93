import { createChain } from '../admission/index.ts';
import type { CachedObject } from '../cache/index.ts';
import { at, atOnce, formatGroupResource, type JsonObject, jsonEqual, statusError } from '../meta/index.ts';
import { describe, isCorrupt, readObject, storedText, unreadable } from './bytes.ts';
import { type Core, current } from './core.ts';
import type { Objects } from './definition.ts';
import { completeDraft, makeDraft } from './draft.ts';
import { trackOwners, trackServer } from './ownership.ts';
import type { Resource } from './resource.ts';
import { keyOf, rangeOf } from './selection.ts';
import type { NewEntry, WriteOptions } from './types.ts';
import { readJob, write } from './write.ts';

/** How often a change begins anew because another writer was first. */
const maxAttempts = 200;

/** The objects of the server for what is done on the server's own account; in a dry run nothing is stored. */
export function objectsOf(core: Core, options: WriteOptions, dryRun: boolean): Objects {
  const unchecked: Core = { ...core, admission: createChain([]) };
  const read = (held: CachedObject) => {
    if (isCorrupt(held)) throw unreadable(held);
    return readObject(held);
  };
  const load = async (resource: Resource, namespace: string, name: string) => {
    const { entry } = await core.store.get(keyIn(resource, namespace, name));
    if (entry === undefined) throw statusError.notFound(resource.id, name);
    return { entry, object: read(describe(resource.format, entry)) };
  };
  return {
    get: async (id, namespace, name) => (await load(find(core, id), namespace, name)).object,
    list: async (id, namespace) => {
      const resource = find(core, id);
      const snapshot = (await current(core, resource)).snapshot();
      const range = rangeOf(resource, { namespace });
      return [...snapshot.range(range)].map(read);
    },
    update: async (id, namespace, name, change, subresource) => {
      const resource = find(core, id);
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        const { entry, object } = await load(resource, namespace, name);
        const before = readObject(describe(resource.format, entry));
        change(object);
        if (dryRun || jsonEqual(object, before)) return String(entry.revision);
        if (subresource !== undefined) trackServer(core, resource, subresource, object, before);
        const value = Buffer.from(storedText(resource.format, object));
        const { key, revision } = entry;
        const { ttlSeconds: ttl } = resource.definition.strategy;
        const written = ttl === undefined ? { key, value } : { key, value, ttl };
        const answer = await core.store.commit([{ key, revision }], [written]);
        if (answer.ok) return String(answer.revision);
      }
      throw statusError.modified(resource.id, name);
    },
    delete: async (id, namespace, name, deleteOptions: JsonObject) => {
      const resource = find(core, id);
      const version = resource.storageVersion.declared.version;
      const target = { resource, version, namespace, name, subresource: '' };
      await write(unchecked, target, { verb: 'delete', options: deleteOptions }, { ...options, dryRun });
    },
  };
}

/** See `Registry.newEntry`. */
export function newEntry(core: Core, resource: Resource, object: JsonObject, fieldManager: string): NewEntry {
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
  const job = readJob(core, target, change, options);
  const draft = atOnce(makeDraft(job, undefined));
  resource.definition.strategy.defaults?.(draft.object, job.context);
  atOnce(trackOwners(job, draft, undefined));
  completeDraft(job, draft, undefined);
  const { name = '' } = draft.object.metadata;
  return { key: keyIn(resource, namespace, name), value: Buffer.from(storedText(resource.format, draft.object)) };
}

function find({ resources }: Core, id: string): Resource {
  const found = resources.find((resource) => formatGroupResource(resource.id) === id);
  if (found === undefined) throw statusError.noSuchResource();
  return found;
}

function keyIn(resource: Resource, namespace: string, name: string): string {
  const key = keyOf(resource, { namespace, name });
  if (key === undefined) throw statusError.notFound(resource.id, name);
  return key;
}
