import type { CachedObject } from '../../cache/index.ts';
import { fieldError, StatusError, statusError } from '../../meta/index.ts';
import { StoreError } from '../../store/index.ts';
import { type RegistryContext, waitForRevision } from '../context.ts';
import { checkName, objectKey } from '../resource/target.ts';
import { toOwnVersion } from '../stored/convert.ts';
import { toCachedObject } from '../stored/describe.ts';
import { isCorrupt, unreadable } from '../stored/read.ts';
import type { ReadOptions, Target } from '../types.ts';
import { invalidOptions, readVersion } from './parameters.ts';

/**
 * The object as it was at exactly a resourceVersion.
 * @throws StatusError 400 for the name or the resourceVersion, 404 if the object did not exist then, 410 if that version has
 *   been compacted, 422 for a resource that is not stored, 504 for a version that the store has not reached
 */
export async function getExact(registry: RegistryContext, target: Target, options: ReadOptions): Promise<CachedObject> {
  const { resource, name } = target;
  checkName(target);
  if (resource.definition.virtual === true) {
    const why = `${resource.id.resource} are not stored and have no history`;
    throw invalidOptions(registry.names, 'GetOptions', [fieldError.forbidden('resourceVersionMatch', why)]);
  }
  // The errors of a list, whose parameter this is.
  const revision = readVersion(options.resourceVersion, 'list') ?? 0;
  await waitForRevision(resource, revision);
  const entry = await readEntry(registry, target, revision);
  if (entry === undefined) throw statusError.notFound(resource.id, name);
  const object = toCachedObject(resource.format, entry);
  if (isCorrupt(object)) throw unreadable(object);
  return toOwnVersion(resource.format, object, options.turns);
}

async function readEntry({ store }: RegistryContext, target: Target, revision: number) {
  try {
    return (await store.get(objectKey(target.resource, target), revision)).entry;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'compacted') throw tooOld(revision, error.revision ?? 0);
    throw error;
  }
}

/** The 410 of a watch from such a version, with the oldest version that can be read as a cause. */
const tooOld = (revision: number, oldest: number): StatusError =>
  new StatusError(410, 'Expired', `too old resource version: ${revision} (${oldest})`, {
    causes: [{ reason: 'OldestResourceVersion', field: 'resourceVersion', message: String(oldest) }],
  });
