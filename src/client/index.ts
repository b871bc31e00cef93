/** The client of the API: verbs, typed kinds, transports, and what controllers are made of. */
export { type AsyncClosing, asyncDispose } from './async-closing.ts';
export type { Client, ClientOptions } from './client.ts';
export { silentLog } from './console-log.ts';
export { createClient } from './create-client.ts';
export { EventRecorder, type EventRecorderOptions, type EventSubject, type EventType } from './event-recorder.ts';
export { type HttpsOptions, httpsTransport } from './https.ts';
export { type InProcessHandler, type InProcessOptions, inProcessTransport } from './in-process.ts';
export { type ChangeHandler, Index, Informer, type Selection } from './informer.ts';
export { Informers, type InformersOptions } from './informers.ts';
export {
  type KindPlace,
  type KindReference,
  keyIn,
  keyOf,
  type ObjectKey,
  placeIn,
  splitKey,
  type TypedKind,
  type TypedObject,
  type UntypedObject,
} from './kind.ts';
export type {
  DeleteOptions,
  InNamespace,
  KindClient,
  ObjectObserver,
  Partially,
  Subresource,
  Unnamed,
} from './kind-client.ts';
export {
  jitterFactor,
  LeaderElection,
  type LeaderElectionOptions,
  type LeaderElectionSettings,
  whileHeld,
} from './leader-election.ts';
export type { Log } from './log.ts';
export { metadataOnly } from './metadata-only.ts';
export { controllerReference, groupOf } from './owner-references.ts';
export type { Place } from './place.ts';
export type {
  ApplyOptions,
  ItemOptions,
  ListOptions,
  ObjectList,
  PatchFormat,
  PlaceClient,
  WatchParameters,
} from './place-client.ts';
export type { AttachOptions, ContainerLog, ExecOptions, LogOptions } from './pods.ts';
export { type ObjectChange, type Predicate, predicates } from './predicates.ts';
export { type Reflected, type ReflectorOptions, reflect } from './reflector.ts';
export { type RequestRate, rateLimited } from './request-rate.ts';
export { readJson } from './response.ts';
export {
  type ControllerLease,
  type ControllerOptions,
  type ReconcileContext,
  type ReconcileRequest,
  type ReconcileResult,
  type RunningController,
  startController,
  type WatchedKind,
} from './start-controller.ts';
export type { CommandOutput, RemoteCommand } from './streams/command.ts';
export type { ForwardedPort } from './streams/forwarded-port.ts';
export { systemClock, systemRandom } from './system.ts';
export type { ClientRequest, ClientResponse, Transport, UpgradedConnection } from './transport.ts';
export type { ClientWatch, ClientWatchEvent } from './watch.ts';
export { type QueueObserver, type QueueState, type Reconcile, WorkQueue, type WorkQueueOptions } from './work-queue.ts';
