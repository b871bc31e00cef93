import { at, isJsonObject, type Json, type JsonObject, type Names, readJsonText, setKey } from '../meta/index.ts';
import { compare } from './compare.ts';
import { difference, type FieldSet, type FieldSetDraft, finished, isEmpty, itself, leaf, nodeAt } from './field-set.ts';
import { fieldsOf } from './fields-of.ts';
import { type ManagedEntry, withFields } from './managed-fields.ts';
import { fieldElement, fieldPath, stableText } from './path.ts';
import type { StructShape } from './shape.ts';
import { validateApplyConfig } from './validate-apply.ts';

/** The client that can apply on its own side, keeping what it applied in an annotation, and as of late on the server's. */
const serverSideName = 'kubectl';
const clientSideName = 'kubectl-client-side-apply';
const maxAnnotationBytes = 256 * 1024;

const annotationOf = (names: Names): string => `${serverSideName}.${names.labels}/last-applied-configuration`;

/** What the client last applied on its own side to an object that it now applies to on the server's. */
export interface LastApplied {
  /** All fields that it applied. */
  readonly fields: FieldSet;
  /** Those that still have the value it gave them, which it may take without a conflict. */
  readonly unchanged: FieldSet;
}

/** Undefined for other managers, and where there is no annotation that makes sense in this version. */
export function lastAppliedTo(
  live: JsonObject,
  shape: StructShape,
  manager: string,
  apiVersion: string,
  names: Names,
): LastApplied | undefined {
  if (manager !== serverSideName) return undefined;
  const text = at(live, 'metadata', 'annotations', annotationOf(names));
  const applied = typeof text === 'string' ? readJsonText(text) : undefined;
  if (!isJsonObject(applied) || applied['apiVersion'] !== apiVersion) return undefined;
  if (validateApplyConfig(shape, applied).length > 0) return undefined;
  const fields = fieldsOf(shape, applied);
  const { added, modified, removed } = compare(shape, applied, live);
  return { fields, unchanged: difference(difference(difference(fields, modified), added), removed) };
}

/**
 * The owners after the client has moved: its old entry loses what the applier has taken over, and what was only there
 * as a default beside it. It keeps what was applied then and is not now, and the annotation.
 */
export function migrateLastApplied(
  entries: readonly ManagedEntry[],
  applier: ManagedEntry,
  last: LastApplied,
  names: Names,
): ManagedEntry[] {
  return entries.map((entry) => {
    const { manager, operation, subresource } = entry;
    if (manager !== clientSideName || operation !== 'Update') return entry;
    if (subresource !== applier.subresource || entry.apiVersion !== applier.apiVersion) return entry;
    const annotations = fieldPath('metadata', 'annotations');
    const annotation = fieldElement(annotationOf(names));
    const path = [...annotations, annotation];
    const kept = nodeAt(entry.fields, path) === undefined ? last.fields : withAnnotation(last.fields, path);
    return withFields(entry, keptNode(entry.fields, applier.fields, kept) ?? {});
  });
}

const withAnnotation = (fields: FieldSet, [element = '', ...below]: readonly string[]): FieldSet => ({
  ...fields,
  [element]: below.length === 0 ? leaf : withAnnotation(fields[element] ?? {}, below),
});

/** What stays of an old node beside what is applied now: what was applied then. */
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
    const kept = applied !== undefined ? keptNode(before, applied, was) : was === undefined ? undefined : before;
    if (kept === undefined) continue;
    out[element] = kept;
    members++;
  }
  if (old[itself] !== undefined && now[itself] === undefined && members > 0) return { [itself]: leaf, ...out };
  return finished(out, members);
}

/**
 * The object with the annotation brought up to date, when it has one and this manager is the client; without it when
 * the annotations would become too large. The object itself in all other cases.
 */
export function withLastApplied(
  object: JsonObject,
  applyConfig: JsonObject,
  manager: string,
  names: Names,
): JsonObject {
  const annotation = annotationOf(names);
  const { metadata } = object;
  const annotations = isJsonObject(metadata) ? metadata['annotations'] : undefined;
  if (manager !== serverSideName || !isJsonObject(annotations) || !isJsonObject(metadata)) return object;
  const before = Object.hasOwn(annotations, annotation) ? annotations[annotation] : undefined;
  if (typeof before !== 'string' || before === '') return object;
  const text = configuration(applyConfig, annotation);
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

/** The intent without the annotation, as the client writes it: keys sorted, safe inside HTML, a newline at the end. */
function configuration(applyConfig: JsonObject, annotation: string): string {
  const { metadata } = applyConfig;
  const annotations = isJsonObject(metadata) ? metadata['annotations'] : undefined;
  let plain = applyConfig;
  if (isJsonObject(metadata) && isJsonObject(annotations) && Object.hasOwn(annotations, annotation)) {
    const others: JsonObject = {};
    for (const key in annotations) if (key !== annotation) setKey(others, key, annotations[key] as Json);
    const { annotations: _, ...rest } = metadata;
    plain = { ...applyConfig, metadata: isEmpty(others as FieldSet) ? rest : { ...rest, annotations: others } };
  }
  const escaped = stableText(plain).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${escaped}\n`;
}
