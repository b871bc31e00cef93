/** Fields of an older version that are annotations in the storage version. */
import { type ApiObject, annotationOf, isJsonObject, type Json, jsonCopy } from '../../meta/index.ts';

/** A field whose value is an integer, or follows from one: the annotation has that as a text. */
export interface AnnotatedField {
  /** The object that has the field, at the top of the whole. */
  readonly holder: string;
  readonly field: string;
  readonly annotation: string;
  readonly write: (value: Json) => Json;
  /** Undefined: the field is absent, and the annotation remains. */
  readonly read: (integer: number | bigint) => Json | undefined;
}

export const annotated = (
  holder: string,
  field: string,
  annotation: string,
  values: Pick<AnnotatedField, 'write' | 'read'>,
): AnnotatedField => ({ holder, field, annotation, ...values });

/** A copy of an object of the older version with annotations in place of its fields. */
export function fieldsToAnnotations(object: ApiObject, fields: readonly AnnotatedField[]): ApiObject {
  let copy = object;
  for (const { holder, field, annotation, write } of fields) {
    const content = copy[holder];
    if (!isJsonObject(content) || content[field] === undefined) continue;
    const { [field]: value = null, ...rest } = content;
    const annotations = { ...copy.metadata.annotations, [annotation]: textOf(write(value)) };
    copy = { ...copy, [holder]: rest, metadata: { ...copy.metadata, annotations } };
  }
  return copy;
}

/** A copy of an object with fields in place of the annotations of the storage version. */
export function annotationsToFields(object: ApiObject, fields: readonly AnnotatedField[]): ApiObject {
  let copy = object;
  for (const { holder, field, annotation, write, read } of fields) {
    const text = annotationOf(copy, annotation);
    const integer = text === undefined ? undefined : integerOf(text);
    const value = integer === undefined ? undefined : read(integer);
    if (value === undefined || textOf(write(value)) !== text) continue;
    const { [annotation]: _, ...annotations } = copy.metadata.annotations ?? {};
    const { annotations: __, ...metadata } = copy.metadata;
    const content = copy[holder];
    copy = {
      ...copy,
      [holder]: { ...(isJsonObject(content) ? jsonCopy(content) : {}), [field]: value },
      metadata: (Object.keys(annotations).length === 0
        ? metadata
        : { ...metadata, annotations }) as ApiObject['metadata'],
    };
  }
  return copy;
}

const textOf = (integer: Json): string =>
  typeof integer === 'number' || typeof integer === 'bigint' ? String(integer) : '';

const limit = 2n ** 63n;

/** The 64-bit integer that a text is. */
function integerOf(text: string): number | bigint | undefined {
  if (!/^-?\d{1,19}$/.test(text)) return undefined;
  const integer = BigInt(text);
  if (integer < -limit || integer >= limit) return undefined;
  return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
}
