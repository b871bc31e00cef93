import {
  at,
  escapeHtml,
  isJsonObject,
  type Json,
  type JsonObject,
  type Names,
  readJsonTextInSteps,
  type Steps,
  setKey,
} from '../meta/index.ts';
import { compareInSteps } from './compare-steps.ts';
import { type FieldSet, type FieldSetDraft, isEmpty, itself, leaf, nodeAt, toNode } from './field-set.ts';
import { differenceInSteps } from './field-set-steps.ts';
import { fieldsOfInSteps } from './fields-of.ts';
import { type ManagedEntry, withFields } from './managed-fields.ts';
import { fieldElement, fieldPath, stableText } from './path.ts';
import type { StructShape } from './shape.ts';
import { validateApplyConfig } from './validate-apply.ts';

/** Client-side apply of kubectl stores the applied configuration in an annotation; server-side apply takes it over. */
export const kubectlManager = 'kubectl';
const clientSideManager = 'kubectl-client-side-apply';
const maxAnnotationBytes = 256 * 1024;

const annotationOf = (names: Names): string => `${kubectlManager}.${names.labels}/last-applied-configuration`;

/** The configuration of the last client-side apply to an object that now gets a server-side apply. */
export interface LastApplied {
  /** All fields of that configuration. */
  readonly fields: FieldSet;
  /** Those that still have the value of that configuration: no conflict arises over them. */
  readonly unchanged: FieldSet;
}

/** Undefined when no annotation holds a valid configuration of this version. For applies of kubectl only. */
export function* lastAppliedTo(
  live: JsonObject,
  shape: StructShape,
  apiVersion: string,
  names: Names,
): Steps<LastApplied | undefined> {
  const text = at(live, 'metadata', 'annotations', annotationOf(names));
  const applied = typeof text === 'string' ? yield* readJsonTextInSteps(text) : undefined;
  if (!isJsonObject(applied) || applied['apiVersion'] !== apiVersion) return undefined;
  yield;
  if ((yield* validateApplyConfig(shape, applied)).length > 0) return undefined;
  const fields = yield* fieldsOfInSteps(shape, applied);
  const { added, modified, removed } = yield* compareInSteps(shape, applied, live);
  let unchanged = fields;
  for (const changed of [modified, added, removed]) unchanged = yield* differenceInSteps(unchanged, changed);
  return { fields, unchanged };
}

/**
 * The managed fields entries after the move from client-side to server-side apply: the entry of client-side apply loses
 * the fields that the applier now owns, and the defaulted fields with them. It retains the annotation and the fields
 * that were applied then and are not applied now.
 */
export function* migrateLastApplied(
  entries: readonly ManagedEntry[],
  applier: ManagedEntry,
  last: LastApplied,
  names: Names,
): Steps<ManagedEntry[]> {
  const migrated: ManagedEntry[] = [];
  for (const entry of entries) {
    const { manager, operation, subresource, apiVersion } = entry;
    const isClientSide = manager === clientSideManager && operation === 'Update';
    if (!isClientSide || subresource !== applier.subresource || apiVersion !== applier.apiVersion) {
      migrated.push(entry);
      continue;
    }
    const annotations = fieldPath('metadata', 'annotations');
    const annotation = fieldElement(annotationOf(names));
    const path = [...annotations, annotation];
    const lastFields = nodeAt(entry.fields, path) === undefined ? last.fields : withAnnotation(last.fields, path);
    migrated.push(yield* withFields(entry, keptNode(entry.fields, applier.fields, lastFields) ?? {}));
  }
  return migrated;
}

const withAnnotation = (fields: FieldSet, [element = '', ...below]: readonly string[]): FieldSet => ({
  ...fields,
  [element]: below.length === 0 ? leaf : withAnnotation(fields[element] ?? {}, below),
});

/** Returns the part of a node that the client-side entry (`old`) retains: applied `then` and not applied `now`. */
function keptNode(old: FieldSet, now: FieldSet, then: FieldSet | undefined): FieldSet | undefined {
  if (isEmpty(old)) return undefined;
  if (isEmpty(now)) return old;
  const out: FieldSetDraft = {};
  let members = 0;
  for (const element in old) {
    if (element === itself) continue;
    const before = old[element] as FieldSet;
    const applied = now[element];
    const was = then?.[element];
    const node = applied !== undefined ? keptNode(before, applied, was) : was === undefined ? undefined : before;
    if (node === undefined) continue;
    out[element] = node;
    members++;
  }
  if (old[itself] !== undefined && now[itself] === undefined && members > 0) return { [itself]: leaf, ...out };
  return toNode(out, members);
}

/**
 * The object after an apply of kubectl, with the last-applied annotation updated, when it has one; without the annotation
 * when all annotations would exceed their limit. The object itself in all other cases.
 */
export function withLastApplied(object: JsonObject, applyConfig: JsonObject, names: Names): JsonObject {
  const annotation = annotationOf(names);
  const { metadata } = object;
  const annotations = isJsonObject(metadata) ? metadata['annotations'] : undefined;
  if (!isJsonObject(annotations) || !isJsonObject(metadata)) return object;
  const before = Object.hasOwn(annotations, annotation) ? annotations[annotation] : undefined;
  if (typeof before !== 'string' || before === '') return object;
  const text = encodeConfiguration(applyConfig, annotation);
  if (text === before) return object;
  const after: JsonObject = { ...annotations, [annotation]: text };
  if (bytesOfMembers(after) > maxAnnotationBytes) delete after[annotation];
  return { ...object, metadata: { ...metadata, annotations: after } };
}

function bytesOfMembers(annotations: JsonObject): number {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    bytes += Buffer.byteLength(key) + (typeof value === 'string' ? Buffer.byteLength(value) : 0);
  }
  return bytes;
}

/**
 * The applied configuration without the annotation, as kubectl encodes it: keys sorted, HTML escaped, a final newline.
 */
function encodeConfiguration(applyConfig: JsonObject, annotation: string): string {
  const { metadata } = applyConfig;
  const annotations = isJsonObject(metadata) ? metadata['annotations'] : undefined;
  let plain = applyConfig;
  if (isJsonObject(metadata) && isJsonObject(annotations) && Object.hasOwn(annotations, annotation)) {
    const others: JsonObject = {};
    for (const key in annotations) if (key !== annotation) setKey(others, key, annotations[key] as Json);
    plain = { ...applyConfig, metadata: { ...metadata, annotations: others } };
  }
  return `${escapeHtml(stableText(plain))}\n`;
}
