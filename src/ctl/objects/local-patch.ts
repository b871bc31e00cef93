/** Patches that this program applies itself, for `--local` and `--dry-run=client`. */
import {
  applyJsonPatch,
  applyMergePatch,
  readOperations,
  reasonOfJsonPatch,
  strategicMergePatch,
} from '../../merge/index.ts';
import {
  atOnce,
  compatibleDomain,
  isJsonObject,
  type Json,
  type JsonObject,
  namesFor,
  StatusError,
} from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import { jsonText } from '../output/json.ts';

export type PatchFormat = 'merge' | 'strategic' | 'json';

/** The object after a patch, as the server would patch it. @throws CommandError when the patch cannot be applied */
export async function patchLocally(object: JsonObject, format: PatchFormat, patch: Json): Promise<JsonObject> {
  try {
    const patched = await apply(object, format, patch);
    if (isJsonObject(patched)) return patched;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw new CommandError(reasonOfJsonPatch(error)?.message ?? error.message, { cause: error });
  }
  throw new CommandError('the patch does not leave an object');
}

async function apply(object: JsonObject, format: PatchFormat, patch: Json): Promise<Json> {
  if (format === 'merge') return applyMergePatch(object, patch);
  if (format === 'json') return applyJsonPatch(object, readOperations(patch));
  const { builtInType } = await import('./built-in-type.ts');
  const kind = jsonText(object['kind']);
  const schema = builtInType(jsonText(object['apiVersion']), kind);
  if (schema === undefined) {
    throw new CommandError(`custom types have no strategic merge patch: use --type=merge for ${kind}`);
  }
  return atOnce(strategicMergePatch(object, patch, schema, namesFor(compatibleDomain)));
}
