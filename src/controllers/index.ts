/** The controllers: reconcile functions over informers and the client, and what runs them. */

export { componentName } from './component.ts';
export { allControllers } from './controllers.ts';
export {
  jitterFactor,
  LeaderElection,
  whileHeld,
} from './leader-election.ts';
export type { RunningControllers } from './manager.ts';
export { startControllers } from './manager.ts';
export { type ControllerSettings, defaultSettings } from './settings.ts';
export type { Controller } from './types.ts';
