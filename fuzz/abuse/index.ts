import { bodyScenarios } from './bodies.ts';
import { connectionScenarios } from './connections.ts';
import { definitionScenarios } from './definitions.ts';
import { objectScenarios } from './objects.ts';
import { otherScenarios } from './rest.ts';
import type { Scenario } from './scenario.ts';
import { writeScenarios } from './writes.ts';

/** All scenarios of attacks against a server. */
export const scenarios: readonly Scenario[] = [
  ...connectionScenarios,
  ...bodyScenarios,
  ...objectScenarios,
  ...writeScenarios,
  ...definitionScenarios,
  ...otherScenarios,
];
