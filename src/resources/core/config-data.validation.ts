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

export const textSize = (bag: Bag | undefined): number => sizeOf(bag, 'utf8');

/** The decoded size of base64 values, in bytes. */
export const bytesSize = (bag: Bag | undefined): number => sizeOf(bag, 'base64');

function sizeOf(bag: Bag = {}, encoding: 'utf8' | 'base64'): number {
  let size = 0;
  for (const key in bag) size += Buffer.byteLength(bag[key] as string, encoding);
  return size;
}

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
