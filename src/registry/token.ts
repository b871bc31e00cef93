import { createHmac, timingSafeEqual } from 'node:crypto';
import { statusError } from '../meta/index.ts';

/** Where a list goes on. */
export interface Place {
  /** The revision of the list; 0: whatever is the latest. */
  readonly revision: number;
  /** The last key already told, without the prefix of the range. */
  readonly after: string;
}

/** How every token begins: what does not is none, under whatever key. */
const mark = Buffer.from('list');
const keyIdLength = 4;
const signatureLength = 16;
const keyIdEnd = mark.length + keyIdLength;
const headLength = keyIdEnd + signatureLength;

/** A text that only holders of `key` can make, good for the request that `scope` describes and no other. */
export function formatToken(key: string, scope: string, { revision, after }: Place): string {
  const payload = Buffer.from(JSON.stringify([revision, after]));
  return Buffer.concat([mark, keyId(key), sign(key, scope, payload), payload]).toString('base64url');
}

/**
 * @throws StatusError 400 when the text is no such token; 410 when it may be one under another key, such as that of the
 *   server before it was started anew: the list is to be begun again.
 */
export function readToken(key: string, scope: string, text: string): Place {
  const bytes = Buffer.from(text, 'base64url');
  const payload = bytes.subarray(headLength);
  if (payload.length === 0 || !bytes.subarray(0, mark.length).equals(mark)) throw invalid();
  if (!bytes.subarray(mark.length, keyIdEnd).equals(keyId(key))) {
    throw statusError.expired('The provided continue parameter is too old. Start a new list without it.');
  }
  if (!timingSafeEqual(bytes.subarray(keyIdEnd, headLength), sign(key, scope, payload))) throw invalid();
  const [revision, after] = JSON.parse(payload.toString()) as [number, string];
  return { revision, after };
}

const invalid = () => statusError.badRequest('invalid continue token: continue key is not valid');

/** Tells keys apart and says nothing about them. */
const keyId = (key: string): Buffer => createHmac('sha256', key).update('key').digest().subarray(0, keyIdLength);

function sign(key: string, scope: string, payload: Buffer): Buffer {
  const hash = createHmac('sha256', key).update(`place\0${scope}\0`).update(payload);
  return hash.digest().subarray(0, signatureLength);
}
