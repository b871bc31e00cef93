import type { CachedObject } from '../cache/index.ts';
import { type JsonObject, StatusError } from '../meta/index.ts';
import type { Core } from './core.ts';
import { readDeleteOptions, refuseUnsafe, warnWithoutPolicy } from './delete-options.ts';
import { list } from './read.ts';
import type { ObjectList, ReadOptions, Target, WriteOptions } from './types.ts';
import { write } from './write.ts';

/** How many deletions are under way at a time. */
const stride = 32;

/** Deletes what the selectors choose; the answer is the list of it, as it was. What is gone already is no error. */
export async function deleteCollection(
  core: Core,
  target: Target,
  options: ReadOptions,
  deleteOptions: JsonObject,
  writeOptions: WriteOptions,
): Promise<ObjectList> {
  const deletion = readDeleteOptions(deleteOptions, core);
  refuseUnsafe(deletion, core.names);
  warnWithoutPolicy(target.resource, deletion, writeOptions.warnings);
  const found = await list(core, target, options);
  const items = [...found.items];
  for (let i = 0; i < items.length; i += stride) {
    const step = items.slice(i, i + stride).map((object) => remove(core, target, object, deleteOptions, writeOptions));
    const failure = (await Promise.allSettled(step)).find((outcome) => outcome.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
  }
  return { ...found, items };
}

async function remove(
  core: Core,
  target: Target,
  { namespace, name }: CachedObject,
  options: JsonObject,
  writeOptions: WriteOptions,
): Promise<void> {
  try {
    await write(core, { ...target, namespace, name }, { verb: 'delete', options }, writeOptions);
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 404) throw error;
  }
}
