/** Validation of `data` and `immutable`, which config maps and secrets share. */
import { configMapKey, errorsOfEach, type FieldError, fieldError } from '../../meta/index.ts';
import { byRule, same } from '../shared/field-rules.ts';

/** Limit of the values of an object, in bytes. */
export const MAX_DATA_BYTES = 1024 * 1024;

interface Bag {
  readonly [key: string]: string;
}

export const validateKeys = (bag: Bag | undefined, path: string): FieldError[] =>
  errorsOfEach(Object.keys(bag ?? {}), (key) => byRule(`${path}[${key}]`, key, configMapKey));

export const textSize = (bag: Bag | undefined): number =>
  Object.values(bag ?? {}).reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** The decoded size of base64 values, in bytes. */
export const bytesSize = (bag: Bag | undefined): number =>
  Object.values(bag ?? {}).reduce((sum, text) => sum + Buffer.byteLength(text, 'base64'), 0);

interface ImmutableData {
  readonly immutable?: boolean;
  readonly data?: { [key: string]: string };
  readonly binaryData?: { [key: string]: string };
}

/** Rejects changes of `immutable` and of the fields once `immutable` is true. */
export function validateImmutable(
  object: ImmutableData,
  old: ImmutableData,
  fields: readonly ('data' | 'binaryData')[],
): FieldError[] {
  if (old.immutable !== true) return [];
  const changed: string[] = fields.filter((field) => !same(object[field], old[field]));
  if (object.immutable !== true) changed.unshift('immutable');
  return changed.map((field) => fieldError.forbidden(field, 'field is immutable when `immutable` is set'));
}
