/** The patches of a kustomization. */
import { parseYaml } from '../../codec/index.ts';
import { applyJsonPatch, readOperations, reasonOfJsonPatch } from '../../merge/index.ts';
import { isJsonObject, type Json, type JsonObject, jsonCopy, StatusError } from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import { objectsOf } from './documents.ts';
import type { Kustomization, Patch } from './format.ts';
import type { Folder } from './load.ts';
import { mergedObject } from './merge.ts';
import { identityText, isSameIdentity, Resource } from './resource.ts';
import { selectResources } from './selector.ts';
import { sizeOf } from './size.ts';

/** A patch that has been read: one of the two. */
interface ReadPatch {
  /** Where it stands, for messages. */
  readonly source: string;
  readonly objects?: readonly JsonObject[];
  readonly operations?: readonly JsonObject[];
}

/** Applies `patchesStrategicMerge` and `patches`. @throws CommandError */
export async function applyPatches(folder: Folder, resources: Resource[], kustomization: Kustomization): Promise<void> {
  const { patchesStrategicMerge = [], patches = [] } = kustomization;
  for (const patch of patchesStrategicMerge) {
    const read = await readMergePatch(folder, patch);
    for (const object of read.objects ?? []) mergeInto(folder, resources, [ownTarget(resources, object)], object, {});
  }
  for (const [i, patch] of patches.entries()) await applyPatch(folder, resources, patch, `patches[${i}]`);
}

/** Applies `patchesJson6902`. @throws CommandError */
export async function applyJsonPatches(
  folder: Folder,
  resources: Resource[],
  { patchesJson6902 = [] }: Kustomization,
): Promise<void> {
  for (const [i, patch] of patchesJson6902.entries()) {
    await applyPatch(folder, resources, patch, `patchesJson6902[${i}]`);
  }
}

async function applyPatch(folder: Folder, resources: Resource[], patch: Patch, field: string): Promise<void> {
  const { target, options = {} } = patch;
  const { source, objects = [], operations } = await readPatch(folder, patch, field);
  if (operations !== undefined) {
    if (target === undefined || target === null) {
      throw new CommandError(`${source}: a JSON patch needs a target, which selects the resources`);
    }
    for (const resource of selectResources(resources, target)) applyOperations(folder, resource, operations, source);
    return;
  }
  if (target !== undefined && target !== null && objects.length > 1) {
    throw new CommandError(`${source}: a patch with a target may have one object only`);
  }
  for (const object of objects) {
    const selected = target ? selectResources(resources, target) : [ownTarget(resources, object)];
    mergeInto(folder, resources, selected, object, options);
  }
}

/** The text of `path` or `patch`. */
async function readPatch(folder: Folder, { path = '', patch = '' }: Patch, field: string): Promise<ReadPatch> {
  if ((path === '') === (patch.trim() === '')) throw new CommandError(`${field}: set either path or patch`);
  const source = path === '' ? `${field}.patch` : path;
  const text = path === '' ? patch : (await folder.read(path)).toString();
  const value = firstValue(text, source);
  if (!Array.isArray(value)) return { source, objects: objectsOf(text, source) };
  return { source, operations: operationsOf(value, source) };
}

function firstValue(text: string, source: string): Json {
  try {
    return parseYaml(Buffer.from(text)).value;
  } catch (error) {
    throw inSource(error, source);
  }
}

function operationsOf(value: Json, source: string): readonly JsonObject[] {
  try {
    return readOperations(value);
  } catch (error) {
    throw inSource(error, source);
  }
}

/** An entry of `patchesStrategicMerge`: a patch, or the path of a file with patches. */
async function readMergePatch(folder: Folder, entry: string): Promise<ReadPatch> {
  const isInline = entry.includes('\n') || entry.trimStart().startsWith('{');
  const source = isInline ? 'patchesStrategicMerge' : entry;
  return { source, objects: objectsOf(isInline ? entry : (await folder.read(entry)).toString(), source) };
}

/** The resource that a patch without target means. @throws CommandError unless there is exactly one */
function ownTarget(resources: readonly Resource[], patch: JsonObject): Resource {
  const { identity } = new Resource(patch);
  const found = resources.filter((one) => one.identities.some((other) => isSameIdentity(other, identity)));
  const [first, ...others] = found;
  if (first === undefined) throw new CommandError(`no resource matches the patch of ${identityText(identity)}`);
  if (others.length > 0) throw new CommandError(`several resources match the patch of ${identityText(identity)}`);
  return first;
}

/** Merges a patch into resources; those that it deletes leave the list. */
function mergeInto(
  folder: Folder,
  resources: Resource[],
  selected: readonly Resource[],
  patch: JsonObject,
  { allowNameChange = false, allowKindChange = false }: { readonly [option: string]: boolean },
): void {
  folder.charge(selected.length * sizeOf(patch));
  for (const resource of selected) {
    const { kind, name, namespace, object } = resource;
    if (allowNameChange || allowKindChange) resource.remember();
    const merged = mergedObject(object, jsonCopy({ ...patch, apiVersion: object['apiVersion'] ?? '' }));
    if (merged === undefined) {
      resources.splice(resources.indexOf(resource), 1);
      continue;
    }
    resource.object = merged;
    if (!allowKindChange) merged['kind'] = kind;
    if (!allowNameChange) resource.setMetadata('name', name);
    resource.setMetadata('namespace', namespace === '' ? undefined : namespace);
  }
}

function applyOperations(folder: Folder, resource: Resource, operations: readonly JsonObject[], source: string): void {
  resource.remember();
  try {
    const patched = applyJsonPatch(resource.object, operations);
    if (!isJsonObject(patched)) throw new CommandError(`${source}: ${resource.text} is no object after the patch`);
    folder.charge(Math.max(0, sizeOf(patched) - sizeOf(resource.object)));
    resource.object = patched;
  } catch (error) {
    throw inSource(error, `${source}, on ${resource.text}`);
  }
}

function inSource(error: unknown, source: string): unknown {
  if (!(error instanceof StatusError)) return error;
  return new CommandError(`${source}: ${reasonOfJsonPatch(error)?.message ?? error.message}`, { cause: error });
}
