import { createChain, type ResourceKey } from '../../admission/index.ts';
import type { CachedObject } from '../../cache/index.ts';
import {
  type ApiObject,
  at,
  atOnce,
  inTurns,
  type JsonObject,
  jsonEqualInSteps,
  serverTurns,
  statusError,
  type WaitingSteps,
} from '../../meta/index.ts';
import { type RegistryContext, turnsOf, withStatusErrors } from '../context.ts';
import type { ServerObjects } from '../resource/definition.ts';
import type { Resource } from '../resource/resource.ts';
import { keyOf } from '../resource/target.ts';
import { inStoredVersion, toOwnVersion, wouldStore } from '../stored/convert.ts';
import { toCachedObject } from '../stored/describe.ts';
import type { ObjectFormat } from '../stored/format.ts';
import { isCorrupt, readObject, readObjectInSteps, unreadable } from '../stored/read.ts';
import { storedText, storedTextInSteps } from '../stored/write.ts';
import type { Change, NewEntry, Target, WriteOptions } from '../types.ts';
import { setDefaults } from './candidate/content.ts';
import { createCandidate } from './candidate/create.ts';
import type { Conversions } from './conversions.ts';
import { trackManagedFields, trackServerUpdate } from './managed-fields.ts';
import { completeObject } from './prepare.ts';
import { write } from './write.ts';
import { conversionsOf, readWriteRequest } from './write-request.ts';

/** Maximum number of attempts of a change. */
const maxAttempts = 200;

/** The options of the server's own writes. */
const ownWriteOptions = (fieldManager = 'apiserver'): WriteOptions => ({
  requester: { name: 'system:apiserver', groups: ['system:masters'] },
  dryRun: false,
  fieldManager,
  fieldValidation: 'Ignore',
  force: false,
  warn: () => {},
});

/** The objects of the registry, for the server itself or for a request with `options`; its dry run stores nothing. */
export function serverObjects(registry: RegistryContext, options?: WriteOptions): ServerObjects {
  const unchecked: RegistryContext = { ...registry, admission: createChain([]) };
  const { get, list, cached, getAs, selectAs, namespace, derived } = registry.cachedReads;
  const writeThrough = async (target: Target, change: Change) => {
    const { object } = await withStatusErrors(target, write(registry, target, change, options ?? ownWriteOptions()));
    if (object === undefined) throw statusError.notFound(target.resource.id, target.name);
    return readInTurns(target.resource.format, object);
  };
  return {
    get,
    list,
    cached,
    getAs,
    selectAs,
    namespace,
    derived,
    read: async (key, namespace, name) => {
      const resource = find(registry, key);
      return withStatusErrors({ resource }, readLatest(registry, resource, namespace, name));
    },
    create: async (key: ResourceKey, object: ApiObject) => {
      const target = targetOf(find(registry, key), object.metadata.namespace);
      return writeThrough(target, { verb: 'create', object: { value: object, findings: [] } });
    },
    update: async (key: ResourceKey, object: ApiObject, subresource = '') => {
      const { namespace, name } = object.metadata;
      const target = { ...targetOf(find(registry, key), namespace, name), subresource };
      return writeThrough(target, { verb: 'update', object: { value: object, findings: [] } });
    },
    guaranteedUpdate: async (
      key: ResourceKey,
      namespace: string,
      name: string,
      change: (object: ApiObject) => void,
      subresource?: string,
    ) => {
      const place = { resource: find(registry, key), namespace, name, subresource };
      return withStatusErrors(place, guaranteedUpdate(registry, place, change, options?.dryRun === true));
    },
    delete: async (key, namespace, name, deleteOptions) => {
      const target = targetOf(find(registry, key), namespace, name);
      const change = { verb: 'delete', options: deleteOptions } as const;
      await withStatusErrors(target, write(unchecked, target, change, options ?? ownWriteOptions()));
    },
  } as ServerObjects;
}

interface Place {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string | undefined;
}

/** See `ServerObjects.guaranteedUpdate`. */
async function guaranteedUpdate(
  registry: RegistryContext,
  target: Place,
  change: (object: ApiObject) => void,
  dryRun: boolean,
): Promise<string> {
  const { resource, namespace, name } = target;
  const conversions = conversionsOf(resource);
  const { queue } = registry;
  const place = queue.place(keyIn(resource, namespace, name));
  try {
    if (queue.has(place.key)) await queue.enter(place);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const revision = await attemptUpdate(registry, target, change, dryRun, conversions);
      if (revision !== undefined) return String(revision);
      await queue.enter(place);
    }
  } finally {
    queue.leave(place);
  }
  throw statusError.modified(resource.id, name);
}

/** The revision of the object after the update; undefined when another writer was first. */
async function attemptUpdate(
  registry: RegistryContext,
  { resource, namespace, name, subresource }: Place,
  change: (object: ApiObject) => void,
  dryRun: boolean,
  conversions: Conversions | undefined,
): Promise<number | undefined> {
  const { format, definition } = resource;
  const { ttlSeconds: ttl } = definition.strategy;
  function* changed(): WaitingSteps<{ readonly object: ApiObject; readonly unchanged: boolean }> {
    const before = yield* readObjectInSteps(format, current);
    const object = yield* readObjectInSteps(format, current);
    change(object);
    const unchanged = yield* jsonEqualInSteps(object, before);
    if (subresource !== undefined && !unchanged) {
      yield* trackServerUpdate(registry, resource, subresource, object, before, conversions);
    }
    return { object, unchanged };
  }
  const { current, stored } = await load(registry, resource, namespace, name);
  const { key, revision } = current;
  const turns = conversions === undefined ? turnsOf({}, current.bytes.length) : serverTurns();
  const run = async <T>(steps: WaitingSteps<T>): Promise<T> =>
    turns === undefined ? atOnce(steps) : inTurns(steps, turns);
  const { object, unchanged } = await run(changed());
  if (dryRun || (unchanged && (await wouldStore(format, object, stored)))) return revision;
  const value = Buffer.from(await run(storedTextInSteps(format, await inStoredVersion(format, object))));
  const answer = await registry.store.commit(
    [{ key, revision }],
    [ttl === undefined ? { key, value } : { key, value, ttl }],
  );
  return answer.ok ? answer.revision : undefined;
}

/** The stored object. @throws StatusError 404, or 500 when it cannot be read */
async function load(registry: RegistryContext, resource: Resource, namespace: string, name: string) {
  const { entry } = await registry.store.get(keyIn(resource, namespace, name));
  if (entry === undefined) throw statusError.notFound(resource.id, name);
  const cached = toCachedObject(resource.format, entry);
  if (isCorrupt(cached)) throw unreadable(cached);
  const current = await toOwnVersion(resource.format, cached);
  return { current, stored: entry };
}

async function readLatest(registry: RegistryContext, resource: Resource, namespace: string, name: string) {
  const { current } = await load(registry, resource, namespace, name);
  return readInTurns(resource.format, current);
}

/** In turns of the server where the object is large. @throws StatusError 500 when it cannot be read */
function readInTurns(format: ObjectFormat, object: CachedObject): ApiObject | Promise<ApiObject> {
  const turns = turnsOf({}, object.bytes.length);
  return turns === undefined ? readObject(format, object) : inTurns(readObjectInSteps(format, object), turns);
}

/** See `Registry.newEntry`. */
export function newEntry(
  registry: RegistryContext,
  resource: Resource,
  object: JsonObject,
  fieldManager: string,
): NewEntry {
  const place = at(object, 'metadata', 'namespace');
  const namespace = typeof place === 'string' ? place : '';
  const change = { verb: 'create', object: { value: object, findings: [] } } as const;
  const request = readWriteRequest(registry, targetOf(resource, namespace), change, ownWriteOptions(fieldManager));
  const candidate = atOnce(createCandidate(request, change));
  const defaults = setDefaults(resource, candidate.object, request.context);
  if (defaults !== undefined) atOnce(defaults);
  atOnce(trackManagedFields(request, candidate, undefined));
  completeObject(request, candidate, undefined);
  const { name = '' } = candidate.object.metadata;
  return { key: keyIn(resource, namespace, name), value: Buffer.from(storedText(resource.format, candidate.object)) };
}

const targetOf = (resource: Resource, namespace = '', name = ''): Target => ({
  resource,
  version: resource.storageVersion.declared.version,
  namespace,
  name,
  subresource: '',
});

function find({ catalog }: RegistryContext, key: ResourceKey): Resource {
  const resource = catalog.findResource(key);
  if (resource === undefined) throw statusError.noSuchResource();
  return resource;
}

function keyIn(resource: Resource, namespace: string, name: string): string {
  const key = keyOf(resource, { namespace, name });
  if (key === undefined) throw statusError.notFound(resource.id, name);
  return key;
}
