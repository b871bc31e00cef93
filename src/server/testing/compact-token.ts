import { createHmac, type KeyObject, sign } from 'node:crypto';

/** Makes the signature of a token from what is signed. */
export type Signer = (input: Buffer) => Uint8Array;

type Text = object | string;

/** Header or claims in base64url; a text stands for itself. */
export const encodePart = (part: Text): string =>
  Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');

/** A compact JWS (RFC 7515) of these parts, right or wrong. */
export function compactToken(header: Text, claims: Text, signer: Signer): string {
  const input = `${encodePart(header)}.${encodePart(claims)}`;
  return `${input}.${Buffer.from(signer(Buffer.from(input))).toString('base64url')}`;
}

/** Signers of the algorithms of RFC 7518, and of wrong ones. */
export const signers = {
  rsa:
    (key: KeyObject): Signer =>
    (input) =>
      sign('sha256', input, key),
  pss:
    (key: KeyObject): Signer =>
    (input) =>
      sign('sha256', input, { key, padding: 6, saltLength: 32 }),
  ecdsa:
    (key: KeyObject, digest = 'sha256'): Signer =>
    (input) =>
      sign(digest, input, { key, dsaEncoding: 'ieee-p1363' }),
  /** ECDSA with the signature in DER, as in certificates. */
  ecdsaDer:
    (key: KeyObject): Signer =>
    (input) =>
      sign('sha256', input, key),
  eddsa:
    (key: KeyObject): Signer =>
    (input) =>
      sign(null, input, key),
  hmac:
    (secret: string | Uint8Array): Signer =>
    (input) =>
      createHmac('sha256', secret).update(input).digest(),
  /** The same bytes, whatever is signed. */
  bytes:
    (signature: Uint8Array): Signer =>
    () =>
      signature,
};
