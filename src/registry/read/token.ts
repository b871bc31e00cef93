import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseJson } from '../../codec/index.ts';
import { isJsonObject, StatusError, statusError } from '../../meta/index.ts';

const signatureLength = 16;

/** Where a list continues. */
export interface Place {
  /** The revision of the list; 0: the latest. */
  readonly revision: number;
  /** The last key of the page before, without the prefix of its range. */
  readonly after: string;
  /** When the list began (milliseconds since 1970). */
  readonly began: number;
}

/** The JSON of a token: where the list continues, when it began, the id of the key, and the signature. */
interface TokenFields {
  readonly rv: number;
  readonly start: string;
  readonly began: number;
  readonly key: string;
  readonly mac: string;
}

/** A token signed with `key`, valid for the request that `scope` describes only. */
export function formatToken(key: string, scope: string, { revision: rv, after, began }: Place): string {
  const mac = sign(key, scope, [rv, after, began]).toString('base64url');
  const fields: TokenFields = { rv, start: after, began, key: keyId(key), mac };
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/**
 * @throws StatusError 400 for an invalid token; 410 for one signed with another key, such as that of the server before a
 *   restart.
 */
export function readToken(key: string, scope: string, text: string): Place {
  const { rv, start, began, key: id } = decodeToken(text);
  if (typeof rv !== 'number' || typeof start !== 'string' || typeof began !== 'number' || typeof id !== 'string') {
    throw invalid();
  }
  if (id !== keyId(key)) {
    throw statusError.expired('The provided continue parameter is too old. Start a new list without it.');
  }
  const place = { revision: rv, after: start, began };
  const [receivedToken, expectedToken] = [Buffer.from(text), Buffer.from(formatToken(key, scope, place))];
  if (receivedToken.length !== expectedToken.length || !timingSafeEqual(receivedToken, expectedToken)) throw invalid();
  return place;
}

function decodeToken(text: string): Partial<TokenFields> {
  const odd = text.search(/[^\w-]/);
  const end = odd >= 0 ? odd : text.length % 4 === 1 ? text.length - 1 : undefined;
  if (end !== undefined) throw invalid(`illegal base64 data at input byte ${end}`);
  try {
    const fields = parseJson(Buffer.from(text, 'base64url')).value;
    return isJsonObject(fields) ? (fields as Partial<TokenFields>) : {};
  } catch (error) {
    throw error instanceof StatusError ? invalid(error.message) : error;
  }
}

const invalid = (why?: string) =>
  statusError.badRequest(`invalid continue token: continue key is not valid${why === undefined ? '' : `: ${why}`}`);

/** Identifies a key without revealing it. */
const keyId = (key: string): string => createHmac('sha256', key).update('key').digest().toString('base64url', 0, 4);

function sign(key: string, scope: string, place: readonly [rv: number, start: string, began: number]): Buffer {
  const hash = createHmac('sha256', key).update(`place\0${scope}\0`).update(JSON.stringify(place));
  return hash.digest().subarray(0, signatureLength);
}
