import { accessScenarios } from './access.ts';
import { aggregationScenarios } from './aggregation.ts';
import { backendScenarios } from './backends.ts';
import { bodyScenarios } from './bodies.ts';
import { connectionScenarios } from './connections.ts';
import { controllerScenarios } from './controllers.ts';
import { customScenarios } from './custom.ts';
import { definitionScenarios } from './definitions.ts';
import { documentScenarios } from './documents.ts';
import { encodingScenarios } from './encodings.ts';
import { floodOfUserScenarios } from './flood-of-user.ts';
import { floodScenarios } from './floods.ts';
import { largeObjectScenarios } from './large-objects.ts';
import { massScenarios } from './masses.ts';
import { objectScenarios } from './objects.ts';
import { policyScenarios } from './policies.ts';
import { relayScenarios } from './relays.ts';
import { otherScenarios } from './rest.ts';
import { roleScenarios } from './roles.ts';
import type { Scenario } from './scenario.ts';
import { selectorScenarios } from './selectors.ts';
import { storedScenarios } from './stored.ts';
import { tokenScenarios } from './tokens.ts';
import { writeScenarios } from './writes.ts';

/** All scenarios of attacks against a server. */
export const scenarios: readonly Scenario[] = [
  ...accessScenarios,
  ...connectionScenarios,
  ...floodScenarios,
  ...floodOfUserScenarios,
  ...bodyScenarios,
  ...objectScenarios,
  ...largeObjectScenarios,
  ...writeScenarios,
  ...definitionScenarios,
  ...customScenarios,
  ...otherScenarios,
  ...roleScenarios,
  ...selectorScenarios,
  ...encodingScenarios,
  ...storedScenarios,
  ...controllerScenarios,
  ...documentScenarios,
  ...relayScenarios,
  ...tokenScenarios,
  ...backendScenarios,
  ...aggregationScenarios,
  ...massScenarios,
  ...policyScenarios,
];
