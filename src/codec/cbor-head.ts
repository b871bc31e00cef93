import type { Names } from '../meta/index.ts';
import { fieldsOf, type Resolved, resolve, type Schema } from '../schema/index.ts';

/** The major types of data items (RFC 8949, section 3.1). */
export const Major = {
  positive: 0,
  negative: 1,
  bytes: 2,
  text: 3,
  array: 4,
  map: 5,
  tag: 6,
  /** Simple values, floating-point numbers and the break code. */
  simple: 7,
} as const;

/** The simple values of JSON, as the argument of {@link Major.simple}. */
export const Simple = { false: 20, true: 21, null: 22 } as const;

/** Tags with a meaning in objects (RFC 8949, section 3.4). */
export const Tag = {
  time: 0,
  epoch: 1,
  positiveBignum: 2,
  negativeBignum: 3,
  base64url: 21,
  base64: 22,
  base16: 23,
  /** Marks data as CBOR and has no other meaning. */
  selfDescribed: 55_799,
} as const;

/** The schema of a part of a value: of an item of a list, or of the field of this name. Undefined: any value. */
export function partSchema(schema: Schema, key: string | number, names: Names): Resolved | undefined {
  const whole = resolve(schema);
  switch (whole.type) {
    case 'struct': {
      const field = fieldsOf(whole, names).get(key as string);
      return field && resolve(field.schema);
    }
    case 'list':
      return resolve(whole.element);
    case 'map':
      return resolve(whole.value);
    default:
      return undefined;
  }
}
