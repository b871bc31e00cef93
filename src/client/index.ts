/** The API client: verbs, typed kinds, transports, and the building blocks of controllers. */

export type { Client, ClientOptions } from './client.ts';
export {
  EventRecorder,
  type EventRecorderOptions,
  type EventSubject,
  type EventType,
} from './controller/event-recorder.ts';
export {
  jitterFactor,
  LeaderElection,
  type LeaderElectionOptions,
  type LeaderElectionSettings,
  whileHeld,
} from './controller/leader-election.ts';
export { type ObjectChange, type Predicate, predicates } from './controller/predicates.ts';
export {
  type ControllerLease,
  type ControllerOptions,
  type ReconcileContext,
  type ReconcileRequest,
  type ReconcileResult,
  type RunningController,
  startController,
  type WatchedKind,
} from './controller/start-controller.ts';
export {
  type QueueObserver,
  type QueueState,
  type Reconcile,
  WorkQueue,
  type WorkQueueOptions,
} from './controller/work-queue.ts';
export { createClient } from './create-client.ts';
export { type ChangeHandler, Index, Informer, type Selection } from './informers/informer.ts';
export { Informers, type InformersOptions } from './informers/informers.ts';
export { type ReflectorHandler, type ReflectorOptions, reflect } from './informers/reflector.ts';
export { changesOf, changesText, type FieldChange } from './inspect/changes.ts';
export { readinessOf } from './inspect/readiness.ts';
export { isSecret, maskedPair } from './inspect/secrets.ts';
export { type VersionEntry, versionEntries } from './inspect/version-entries.ts';
export {
  historyUnsupported,
  ownMetadata,
  type ReadFormer,
  readAt,
  readVersions,
  restorationOf,
  type Version,
  type Versions,
  versionOf,
} from './inspect/versions.ts';
export { type Writer, writerOf, writersOf } from './inspect/writers.ts';
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
} from './kinds/kind.ts';
export type {
  DeleteOptions,
  InNamespace,
  KindClient,
  ObjectObserver,
  Partially,
  Subresource,
  Unnamed,
} from './kinds/kind-client.ts';
export { metadataOnly } from './kinds/metadata-only.ts';
export { controllerReference, groupOf } from './kinds/owner-references.ts';
export { pagesOf } from './kinds/pages.ts';
export type { Place } from './kinds/place.ts';
export type {
  ApplyOptions,
  GetOptions,
  ItemOptions,
  ListOptions,
  ObjectList,
  PatchFormat,
  PlaceClient,
  WatchParameters,
} from './kinds/place-client.ts';
export { connect, type InClusterOptions, inClusterAddress, inClusterConnection } from './kubeconfig/connect.ts';
export {
  type Connection,
  type ConnectionOverrides,
  connectionOf,
  type Impersonation,
} from './kubeconfig/connection.ts';
export type { ExecEnvironment } from './kubeconfig/exec-plugin.ts';
export {
  documentOf,
  type Kubeconfig,
  type KubeconfigEntry,
  KubeconfigError,
  type KubeconfigSource,
  kubeconfigFiles,
  kubeconfigLists,
  parseKubeconfig,
  pathIn,
  readKubeconfig,
  textIn,
} from './kubeconfig/kubeconfig.ts';
export { type AsyncClosing, asyncDispose } from './runtime/async-closing.ts';
export { type Log, silentLog } from './runtime/log.ts';
export type { CommandOutput, RemoteCommand } from './streams/command.ts';
export type { ForwardedPort } from './streams/forwarded-port.ts';
export type { AttachOptions, ContainerLog, ExecOptions, LogOptions } from './streams/pods.ts';
export { base64url } from './transport/bytes.ts';
export type { Credential, Credentials } from './transport/credentials.ts';
export { type FetchOptions, fetchTransport } from './transport/fetch.ts';
export { type HttpsOptions, httpsTransport } from './transport/https.ts';
export { type InProcessHandler, type InProcessOptions, inProcessTransport } from './transport/in-process.ts';
export { type PatientOptions, patientTransport } from './transport/patient.ts';
export { proxyOfEnvironment } from './transport/proxy-environment.ts';
export { type RequestRate, rateLimited } from './transport/request-rate.ts';
export { readJson, readText, warningsOf } from './transport/response.ts';
export type { ClientRequest, ClientResponse, MessageSocket, SocketRequest, Transport } from './transport/transport.ts';
export { type ClientWatch, type ClientWatchEvent, watchFailure, watchLines } from './transport/watch.ts';
