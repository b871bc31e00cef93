import { sign as signBytes, verify as verifyBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';
import type { Algorithm, SigningKey, VerificationKey } from './keys.ts';

/** A compact JWS (RFC 7515) with JSON claims. Nothing in it can be trusted before `isSignedBy`. */
export interface ParsedToken {
  readonly algorithm: string;
  /** Empty: the header names no key. */
  readonly keyId: string;
  readonly claims: JsonObject;
  /** The signed part. */
  readonly input: string;
  readonly signature: Buffer;
}

/** The maximum length of the token of a request in characters, and the maximum nesting of its header and claims. */
const maxTokenLength = 16 * 1024;
const maxDepth = 16;

/** That of a token whose signature is not base64url: no key verifies it. */
const noSignature = Buffer.alloc(0);

/**
 * Undefined for what is not a compact JWS: three parts, of which the first two are JSON objects without duplicate names in
 * canonical base64url, and at most `maxLength` characters together. A header with critical extensions (`crit`) is refused, because none is implemented.
 */
export function parseToken(token: string, maxLength = maxTokenLength): ParsedToken | undefined {
  if (token.length > maxLength) return undefined;
  const parts = token.split('.', 4);
  const [header, payload, signature = noSignature] = parts.map(decode);
  if (parts.length !== 3 || header === undefined || payload === undefined) return undefined;
  const { alg, kid = '', crit } = parseJsonObject(header) ?? {};
  const claims = parseJsonObject(payload);
  if (typeof alg !== 'string' || typeof kid !== 'string' || crit !== undefined || claims === undefined)
    return undefined;
  return { algorithm: alg, keyId: kid, claims, input: token.slice(0, token.lastIndexOf('.')), signature };
}

/** The bytes of base64url without padding (RFC 4648); undefined when it is not what an encoder writes. */
function decode(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseJsonObject(bytes: Buffer): JsonObject | undefined {
  try {
    const text = utf8.decode(bytes);
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) && countMembers(value, maxDepth) === countColons(text) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The number of members of all objects in a value. Throws when it nests too deep. */
function countMembers(value: Json, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth === 0) throw new RangeError('nests too deep');
  const members = Object.values(value);
  let count = Array.isArray(value) ? 0 : members.length;
  for (const member of members) count += countMembers(member, depth - 1);
  return count;
}

/** The number of members in valid JSON text. A parsed value has fewer where a name is duplicate. */
function countColons(text: string): number {
  let count = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|:/g)) if (token === ':') count += 1;
  return count;
}

const digests: { readonly [algorithm in Algorithm]: string } = {
  RS256: 'sha256',
  ES256: 'sha256',
  ES384: 'sha384',
  ES512: 'sha512',
};

/** Whether the key signed the token, with the one algorithm of the key; the header cannot choose another. */
export function isSignedBy({ algorithm, input, signature }: ParsedToken, { key, ...own }: VerificationKey): boolean {
  if (algorithm !== own.algorithm) return false;
  return verifyBytes(digests[own.algorithm], Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }, signature);
}

/** Signs claims as a compact JWS. */
export async function signToken({ id, algorithm, key }: SigningKey, claims: JsonObject): Promise<string> {
  const input = `${encode({ alg: algorithm, kid: id })}.${encode(claims)}`;
  const signature = await promisify(signBytes)(digests[algorithm], Buffer.from(input), {
    key,
    dsaEncoding: 'ieee-p1363',
  });
  return `${input}.${signature.toString('base64url')}`;
}

const encode = (value: JsonObject): string => Buffer.from(JSON.stringify(value)).toString('base64url');
