import { certificateApprover } from './certificates/approving.ts';
import { certificateCleaner } from './certificates/cleaner.ts';
import { certificateSigner } from './certificates/signing.ts';
import { clusterRoleAggregationController } from './cluster-role-aggregation.ts';
import { bootstrapSigner, tokenCleaner } from './identity/bootstrap-tokens.ts';
import { legacyTokenCleaner } from './identity/legacy-tokens.ts';
import { rootCertificatePublisher } from './identity/root-certificates.ts';
import { secretTokenController } from './identity/secret-tokens.ts';
import { serviceAccountController } from './service-accounts.ts';
import type { Controller } from './types.ts';

/** All controllers, in the order in which they start. */
export const allControllers: readonly Controller[] = [
  serviceAccountController,
  clusterRoleAggregationController,
  secretTokenController,
  certificateSigner,
  certificateApprover,
  certificateCleaner,
  bootstrapSigner,
  tokenCleaner,
  rootCertificatePublisher,
  legacyTokenCleaner,
];
