import { bodyScenarios } from './bodies.ts';
import { connectionScenarios } from './connections.ts';
import { controllerScenarios } from './controllers.ts';
import { definitionScenarios } from './definitions.ts';
import { objectScenarios } from './objects.ts';
import { otherScenarios } from './rest.ts';
import type { Scenario } from './scenario.ts';
import { selectorScenarios } from './selectors.ts';

/** All scenarios of attacks against a server. */
export const scenarios: readonly Scenario[] = [
  ...connectionScenarios,
  ...bodyScenarios,
  ...objectScenarios,
  ...definitionScenarios,
  ...otherScenarios,
  ...selectorScenarios,
  ...controllerScenarios,
];
