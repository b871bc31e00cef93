import { applyIntent, applyJsonPatch, applyMergePatch, strategicMergePatch } from '../merge/index.ts';
import {
  type ApiObject,
  formatGroupVersion,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonCopy,
  parseGroupVersion,
  statusError,
} from '../meta/index.ts';
import type { DecodedBody } from './body.ts';
import { spokenOf, toStorage } from './convert.ts';
import type { Job } from './job.ts';
import { ownedTypeOf, ownedView, writerOf } from './ownership.ts';
import type { PatchFormat, Target } from './types.ts';

const patchTypes: { readonly [format in PatchFormat]: string } = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** @throws StatusError 415 for a format that the target does not know */
export function checkPatchFormat({ resource }: Target, format: PatchFormat): void {
  if (format !== 'strategic' || resource.definition.custom !== true) return;
  const { strategic: _, ...known } = patchTypes;
  throw statusError.unsupportedMediaType(Object.values(known));
}

/** What a patch that is no apply makes of an object in the version of the request. @throws StatusError */
export function applyPatch(target: Target, format: PatchFormat, document: JsonObject, patch: Json): Json {
  if (format === 'json') return applyJsonPatch(document, patch);
  if (format === 'strategic') {
    const { schema, names } = spokenOf(target).type;
    return strategicMergePatch(document, patch, schema, names);
  }
  if (isJsonObject(patch)) return applyMergePatch(document, patch);
  const type = Array.isArray(patch)
    ? 'array'
    : typeof patch === 'boolean'
      ? 'bool'
      : patch === null
        ? 'null'
        : typeof patch;
  throw statusError.badRequest(
    `error decoding patch: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`,
  );
}

/** What an apply makes of the object that is there, its owners with it. @throws StatusError 400, 409, 500 */
export function applied(job: Job, old: ApiObject | undefined): DecodedBody {
  const { core, target, change, options } = job;
  if (change.verb !== 'patch') throw statusError.methodNotAllowed();
  const { patch: intent, findings = [] } = change;
  const { fieldValidation, force } = options;
  if (!isJsonObject(intent)) throw statusError.badRequest(`error decoding YAML: ${notAnObject(intent)}`);
  checkType(target, intent);
  const live = old === undefined ? undefined : ownedView(target, old);
  const type = ownedTypeOf(core, target);
  const object = applyIntent({ type, writer: writerOf(job), live, intent, force });
  if (findings.length > 0 && fieldValidation === 'Strict') {
    throw statusError.badRequest(`error strict decoding YAML: ${findings.join(', ')}`);
  }
  const fresh = object === live ? jsonCopy(object as JsonObject as ApiObject) : object;
  return { object: toStorage(target, fresh), warnings: fieldValidation === 'Warn' ? findings : [] };
}

function notAnObject(value: Json): string {
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  return `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
}

/** An apply says in full what it is about. */
function checkType(target: Target, intent: JsonObject): void {
  const spoken = spokenOf(target);
  const text = (name: string) => {
    const value = Object.hasOwn(intent, name) ? intent[name] : undefined;
    return typeof value === 'string' ? value : '';
  };
  const [apiVersion, kind] = [text('apiVersion'), text('kind')];
  if (apiVersion === spoken.apiVersion && kind === spoken.kind) return;
  const { group = '', version = '' } = parseGroupVersion(apiVersion) ?? {};
  if (kind === spoken.kind && group === spoken.group && version !== '') {
    const given = formatGroupVersion({ group, version });
    throw statusError.badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${given}, expected: ${spoken.apiVersion}`,
    );
  }
  throw statusError.badRequest(`invalid object type: ${group}/${version}, Kind=${kind}`);
}
