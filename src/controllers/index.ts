/** The controllers: reconcile functions over informers and the client, and what runs them. */

export { allControllers } from './controllers.ts';
export { fakeNodeControllers } from './fake-nodes/fake-nodes.ts';
export { fakeNodeIndex, isFakeHost, maxFakeNodes } from './fake-nodes/node-object.ts';
export { garbageCollector } from './garbage-collector/garbage-collector.ts';
export { trackingMap } from './identity/legacy-tokens.ts';
export { listedControllers } from './listed.ts';
export { componentName } from './manager/component.ts';
export type { RunningControllers } from './manager/manager.ts';
export { startControllers } from './manager/manager.ts';
export { type ControllerSettings, defaultSettings, type SecretToken } from './manager/settings.ts';
export { settle } from './manager/settle.ts';
export { bindUsers } from './manager/user-bindings.ts';
export type { Controller } from './types.ts';
