/** The controllers: reconcile functions over informers and the client, and what runs them. */

export { componentName } from './component.ts';
export { allControllers } from './controllers.ts';

export { fakeNodeControllers } from './fake-nodes/fake-nodes.ts';
export { fakeNodeIndex, isFakeHost, maxFakeNodes } from './fake-nodes/node-object.ts';
export { garbageCollector } from './garbage-collector/garbage-collector.ts';
export { trackingMap } from './identity/legacy-tokens.ts';
export type { RunningControllers } from './manager.ts';
export { startControllers } from './manager.ts';
export { type ControllerSettings, defaultSettings, type SecretToken } from './settings.ts';
export { settle } from './settle.ts';
export type { Controller } from './types.ts';
export { bindUsers } from './user-bindings.ts';
