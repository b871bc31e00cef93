/** The entry `orch/testing` of the package: a server for one test, with its clock, its users and its faults. */
export { VirtualClock } from '../../meta/index.ts';
export { type AdvancingClock, type EventuallyOptions, eventually } from './eventually.ts';
export type { Fault, FaultRule, FaultStatus, FaultVerb } from './fault-rule.ts';
export type { FaultHandle, Faults } from './faults.ts';
export type { TestServerOptions } from './options.ts';
export type {
  PlannedOperation,
  SimulatedFault,
  SimulatedFaultName,
  SimulationPlan,
} from './simulation/plan.ts';
export type { Choices } from './simulation/seeded-random.ts';
export { type ExploreOptions, explore, SimulationError, simulate, type WorldSource } from './simulation/simulate.ts';
export type {
  Invariant,
  RestInvariant,
  SimulatedContext,
  SimulatedOperation,
  SimulatedProcessStart,
  SimulatedWorld,
  SimulationFailure,
  SimulationRun,
} from './simulation/world.ts';
export type { WorldChange, WorldObject, WorldState } from './simulation/world-state.ts';
export type { Source } from './sources.ts';
export type { TestClock } from './test-clock.ts';
export { type TestServer, testServer } from './test-server.ts';
export type { TestUser, UserCredentials } from './users.ts';
export type { WebhookHandler, WebhookOptions, WebhookPlace, WebhookRequest } from './webhooks.ts';
