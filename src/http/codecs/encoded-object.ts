import { type ApiObject, inTurns } from '../../meta/index.ts';
import {
  type CachedObject,
  largeBytes,
  type Representation,
  readForRepresentation,
  representObject,
  type Target,
} from '../../registry/index.ts';
import type { Call } from '../call.ts';
import type { Chunk } from '../types.ts';
import type { Negotiated } from './media.ts';

/** The body of a response with one object: of a large one, it is made in turns. */
export function encodedObject(
  { audit, turns }: Pick<Call, 'audit' | 'turns'>,
  target: Target,
  object: CachedObject,
  view: Representation,
  { codec }: Pick<Negotiated, 'codec'>,
): Chunk | Promise<Chunk> {
  const encode = (read?: ApiObject) => {
    const json = representObject(target, object, view, read);
    const encoded = () => codec.encodeObject(json, turns);
    return audit?.recordsResponse === true ? audit.responseObject(json, turns).then(encoded) : encoded();
  };
  if (object.bytes.length < largeBytes) return encode();
  return inTurns(readForRepresentation(target, object, view), turns).then(encode);
}
