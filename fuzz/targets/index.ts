import type { Target } from '../target.ts';
import { celTargets } from './cel.ts';
import { codecTargets } from './codec.ts';
import { configurationTargets } from './configurations.ts';
import { identityTargets } from './identity.ts';
import { kindTargets } from './kinds.ts';
import { mergeTargets } from './merge.ts';
import { metaTargets } from './meta.ts';
import { requestTargets } from './requests.ts';

/** All decoders and parsers of client input. */
export const targets: readonly Target[] = [
  ...codecTargets,
  ...metaTargets,
  ...celTargets,
  ...mergeTargets,
  ...requestTargets,
  ...identityTargets,
  ...configurationTargets,
  ...kindTargets,
];
