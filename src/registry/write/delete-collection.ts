import type { CachedObject } from '../../cache/index.ts';
import { type JsonObject, StatusError, serverTurns } from '../../meta/index.ts';
import type { RegistryContext } from '../context.ts';
import { list } from '../read/read.ts';
import type { ObjectList, ReadOptions, Target, WriteOptions } from '../types.ts';
import { readDeleteOptions, refuseUnsafe, warnWithoutPolicy } from './delete-options.ts';
import { write } from './write.ts';

/** Maximum number of deletions that run at a time. */
const stride = 32;

/** Deletes the matching objects and returns the list of them before. An object that is already gone is not an error. */
export async function deleteCollection(
  registry: RegistryContext,
  target: Target,
  options: ReadOptions,
  deleteOptions: JsonObject,
  writeOptions: WriteOptions,
): Promise<ObjectList> {
  const deletion = readDeleteOptions(deleteOptions, registry);
  refuseUnsafe(deletion, registry.names);
  warnWithoutPolicy(target.resource, deletion, writeOptions.warn);
  const matching = await list(registry, target, options);
  const items = [...matching.items];
  const turns = writeOptions.turns ?? serverTurns();
  const together = { ...writeOptions, stages: undefined };
  for (let i = 0; i < items.length; i += stride) {
    const step = items.slice(i, i + stride).map((object) => remove(registry, target, object, deleteOptions, together));
    const failure = (await Promise.allSettled(step)).find((outcome) => outcome.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
    if (turns.over) await turns.next();
  }
  return { ...matching, items };
}

async function remove(
  registry: RegistryContext,
  target: Target,
  { namespace, name }: CachedObject,
  options: JsonObject,
  writeOptions: WriteOptions,
): Promise<void> {
  try {
    await write(
      registry,
      { ...target, namespace, name },
      { verb: 'delete', options, ofCollection: true },
      writeOptions,
    );
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 404) throw error;
  }
}
