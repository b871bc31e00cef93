import { type CachedObject, largeBytes, type Representation, representObject, type Target } from '../registry/index.ts';
import type { Call } from './call.ts';
import type { Negotiated } from './media.ts';
import type { Chunk } from './types.ts';

/** The body of a response with one object: of a large one, it is made in turns. */
export function encodedObject(
  { audit, turns }: Pick<Call, 'audit' | 'turns'>,
  target: Target,
  object: CachedObject,
  view: Representation,
  { codec }: Pick<Negotiated, 'codec'>,
): Chunk | Promise<Chunk> {
  const encode = () => {
    const json = representObject(target, object, view);
    const encoded = () => codec.encodeObject(json, turns);
    return audit?.recordsResponse === true ? audit.responseObject(json, turns).then(encoded) : encoded();
  };
  return object.bytes.length >= largeBytes && turns.over ? turns.next().then(encode) : encode();
}
