/** Patches that this program applies itself, for `--local` and `--dry-run=client`. */
import { applyJsonPatch, applyMergePatch, arrange, readOperations, reasonOfJsonPatch } from '../../merge/index.ts';
import {
  atOnce,
  compatibleDomain,
  defaultDomain,
  isJsonObject,
  type Json,
  type JsonArray,
  type JsonObject,
  jsonEqual,
  StatusError,
  setKey,
} from '../../meta/index.ts';
import { CommandError } from '../errors.ts';
import { jsonText } from '../output/json.ts';

export type PatchFormat = 'merge' | 'strategic' | 'json';

/** @throws CommandError when the patch cannot be applied */
export function patchLocally(object: JsonObject, format: PatchFormat, patch: Json): JsonObject {
  try {
    const patched = apply(object, format, patch);
    if (isJsonObject(patched)) return patched;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw new CommandError(reasonOfJsonPatch(error)?.message ?? error.message, { cause: error });
  }
  throw new CommandError('the patch does not leave an object');
}

function apply(object: JsonObject, format: PatchFormat, patch: Json): Json {
  if (format === 'merge') return applyMergePatch(object, patch);
  if (format === 'json') return applyJsonPatch(object, readOperations(patch));
  if (!isJsonObject(patch)) throw new CommandError('a strategic merge patch must be an object');
  const [group = ''] = jsonText(object['apiVersion']).split('/');
  const isBuiltIn =
    !group.includes('.') || [compatibleDomain, defaultDomain].some((domain) => group.endsWith(`.${domain}`));
  if (!isBuiltIn)
    throw new CommandError(
      `custom types have no strategic merge patch: use --type=merge for ${jsonText(object['kind'])}`,
    );
  return merged(object, patch, '');
}

/**
 * The merge keys of the lists of built-in types, by the name of their field; empty for lists of scalars. Ports of containers
 * have another key than those of services.
 */
export const mergeKeys: { readonly [field: string]: string } = {
  addresses: 'type',
  allocatedResourcesStatus: 'name',
  conditions: 'type',
  containers: 'name',
  drivers: 'name',
  env: 'name',
  ephemeralContainers: 'name',
  finalizers: '',
  hostAliases: 'ip',
  hostIPs: 'ip',
  imagePullSecrets: 'name',
  initContainers: 'name',
  matchConditions: 'name',
  ownerReferences: 'uid',
  podCIDRs: '',
  podIPs: 'ip',
  reservedFor: 'uid',
  resourceClaimStatuses: 'name',
  resourceClaims: 'name',
  schedulingGates: 'name',
  secrets: 'name',
  topologySpreadConstraints: 'topologyKey',
  variables: 'name',
  volumeDevices: 'devicePath',
  volumeMounts: 'mountPath',
  volumes: 'name',
  webhooks: 'name',
};

const deleteFrom = '$deleteFromPrimitiveList/';
const orderOf = '$setElementOrder/';

/** An object after a strategic merge patch. `field`: the field that holds the object, or the list that it is in. */
function merged(object: JsonObject, patch: JsonObject, field: string): JsonObject {
  const { $patch: directive, $retainKeys: retained, ...changes } = patch;
  if (directive === 'replace') return changes as JsonObject;
  if (directive === 'delete') return {};
  const kept = Array.isArray(retained) ? Object.entries(object).filter(([key]) => retained.includes(key)) : undefined;
  const result: JsonObject = kept === undefined ? { ...object } : Object.fromEntries(kept);
  for (const [key, change] of Object.entries(changes) as [string, Json][]) {
    if (key.startsWith(orderOf)) continue;
    if (key.startsWith(deleteFrom)) withoutItems(result, key.slice(deleteFrom.length), change);
    else if (change === null) delete result[key];
    else {
      const place = { field: key, holder: field, order: patch[`${orderOf}${key}`] };
      setKey(result, key, mergedValue(Object.hasOwn(result, key) ? result[key] : undefined, change, place));
    }
  }
  return result;
}

function withoutItems(object: JsonObject, field: string, removed: Json): void {
  const items = object[field];
  if (Array.isArray(items) && Array.isArray(removed)) object[field] = items.filter((item) => !removed.includes(item));
}

interface Place {
  readonly field: string;
  /** The field that holds the object with the field. */
  readonly holder: string;
  /** The order of a list that the patch demands. */
  readonly order: Json | undefined;
}

function mergedValue(before: Json | undefined, change: Json, { field, holder, order }: Place): Json {
  if (isJsonObject(change)) return merged(isJsonObject(before) ? before : {}, change, field);
  if (!Array.isArray(change)) return change;
  const key = field === 'ports' ? (/ontainers$/.test(holder) ? 'containerPort' : 'port') : mergeKeys[field];
  const items = Array.isArray(before) ? before : [];
  if (key === undefined) return change;
  const isScalars = key === '';
  const after = isScalars ? [...new Set([...items, ...change])] : mergedList(items, change, field, key);
  const present = isScalars ? change : change.filter(isPresent);
  return atOnce(arrange(after, Array.isArray(order) ? order : present, items, isScalars ? undefined : key));
}

/** Whether an item of a patch is in the list afterwards. */
const isPresent = (item: Json): boolean => isJsonObject(item) && item['$patch'] === undefined;

/** A list whose items are found by the value of `key`. @throws CommandError when an item of the patch has none */
function mergedList(items: JsonArray, changes: JsonArray, field: string, key: string): Json[] {
  const result: Json[] = changes.some((item) => isJsonObject(item) && item['$patch'] === 'replace') ? [] : [...items];
  for (const item of changes) {
    if (!isJsonObject(item)) throw new CommandError(`${field}: each item of a strategic merge patch must be an object`);
    const { $patch: directive, ...change } = item;
    if (directive === 'replace') continue;
    const value = change[key];
    if (value === undefined)
      throw new CommandError(`map: ${jsonText(item)} does not contain declared merge key: ${key}`);
    const at = result.findIndex((one) => isJsonObject(one) && jsonEqual(one[key], value));
    const found = result[at];
    if (directive === 'delete') {
      if (at >= 0) result.splice(at, 1);
    } else if (isJsonObject(found)) result[at] = merged(found, change, field);
    else result.push(merged({}, change, field));
  }
  return result;
}
