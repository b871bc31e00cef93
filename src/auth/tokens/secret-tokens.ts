import type { Names } from '../../meta/index.ts';
import { type LegacyClaims, writeLegacyClaims } from './claims.ts';
import { signToken } from './jws.ts';
import type { SigningKey } from './keys.ts';

/** The token of a service account to be kept in a secret, which never expires. */
export const signSecretToken = (key: SigningKey, claims: LegacyClaims, names: Names): Promise<string> =>
  signToken(key, writeLegacyClaims(claims, names));
