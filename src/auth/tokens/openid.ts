import type { JsonObject } from '../../meta/index.ts';
import { jsonWebKeySet, type KeySet } from './keys.ts';

/** A document about an issuer, for any client. */
export interface OpenIdDocument {
  readonly contentType: string;
  readonly read: () => Promise<JsonObject>;
}

export interface OpenIdOptions {
  readonly issuer: string;
  readonly keys: () => Promise<KeySet>;
  /** The URL of the keys of the issuer. */
  readonly keysUri: () => string;
}

/** The path of the keys of the issuer. */
export const openIdKeysPath = '/openid/v1/jwks';

/**
 * The discovery document (OpenID Connect Discovery 1.0) and the keys of an issuer, by path. None where the issuer cannot
 * have one: it must be an https URL without query and fragment.
 */
export function openIdDocuments({ issuer, keys, keysUri }: OpenIdOptions): ReadonlyMap<string, OpenIdDocument> {
  if (!URL.canParse(issuer) || new URL(issuer).protocol !== 'https:' || /[?#]/.test(issuer)) return new Map();
  const readConfiguration = async () => {
    const { verification } = await keys();
    return {
      issuer,
      jwks_uri: keysUri(),
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [...new Set(verification.map(({ algorithm }) => algorithm))].sort(),
    };
  };
  const readKeys = async () => jsonWebKeySet((await keys()).verification);
  return new Map([
    ['/.well-known/openid-configuration', { contentType: 'application/json', read: readConfiguration }],
    [openIdKeysPath, { contentType: 'application/jwk-set+json', read: readKeys }],
  ]);
}
