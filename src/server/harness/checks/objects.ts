import { isDeepStrictEqual } from 'node:util';
import type { Item } from './history.ts';

export const versionOf = ({ metadata }: Item): number => Number(metadata.resourceVersion);

/** Whether two objects are equal but for their versions, and for `kind` and `apiVersion`, which lists leave out. */
export function sameObject(a: Item, b: Item): boolean {
  return isDeepStrictEqual(bare(a), bare(b));
}

function bare(object: Item): object {
  const { kind: _, apiVersion: __, metadata, ...rest } = object as Item & { kind?: string; apiVersion?: string };
  const { resourceVersion: ___, ...other } = metadata;
  return { ...rest, metadata: other };
}
