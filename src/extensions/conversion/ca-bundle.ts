import { findBundleError } from '../../pki/index.ts';
import type { CustomResourceDefinitionSpec } from '../../types/apiextensions-v1.ts';

/** Why nothing vouches for the conversion webhook of a definition; undefined where it has no bundle, or a valid one. */
export function caBundleProblem({ conversion }: CustomResourceDefinitionSpec): string | undefined {
  const { caBundle = '' } = conversion?.webhook?.clientConfig ?? {};
  return caBundle === '' ? undefined : findBundleError(Buffer.from(caBundle, 'base64').toString());
}
