import type { Resolved } from '../schema/index.ts';
import { Tag } from './cbor-head.ts';

/** The names of major types in messages. */
export const majorNames = [
  'positive integer',
  'negative integer',
  'byte string',
  'text string',
  'array',
  'map',
  'tag',
  'primitives',
] as const;

/** The sort of an item, as messages name it. */
export type Sort = Exclude<(typeof majorNames)[number], 'primitives' | 'tag'> | 'bool' | 'float' | 'null';

export const integers: readonly Sort[] = ['negative integer', 'positive integer'];
export const strings: readonly Sort[] = ['byte string', 'text string'];

/** The sorts of items that a type accepts besides null. The other types accept any item. */
export const accepted: { readonly [type in Resolved['type']]?: readonly Sort[] } = {
  struct: ['map'],
  map: ['map'],
  list: ['array'],
  string: strings,
  bool: ['bool'],
  int32: integers,
  int64: integers,
  double: [...integers, 'float'],
  bytes: ['byte string'],
  time: strings,
  microTime: strings,
  duration: strings,
  quantity: strings,
  intOrString: [...integers, ...strings],
};

/** The types whose integers have 32 bits. */
export const narrow: readonly (Resolved['type'] | undefined)[] = ['int32', 'intOrString'];

/** How the bytes of a byte string become text, by the tag of it or of a list or map around it. */
export type Encoding = 'base64' | 'base64url' | 'hex' | undefined;
export const encodings: ReadonlyMap<number, Encoding> = new Map([
  [Tag.base64url, 'base64url'],
  [Tag.base64, 'base64'],
  [Tag.base16, 'hex'],
]);

/** The names of types in messages, where they differ. */
export const typeNames: ReadonlyMap<string, string> = new Map([
  ['list', 'array'],
  ['struct', 'map'],
]);
