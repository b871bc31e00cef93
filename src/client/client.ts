import type { ObjectKey, TypedKind, TypedObject, UntypedObject } from './kinds/kind.ts';
import type { KindClient, ObjectObserver } from './kinds/kind-client.ts';
import type { PlaceClient } from './kinds/place-client.ts';
import type { RemoteCommand } from './streams/command.ts';
import type { ForwardedPort } from './streams/forwarded-port.ts';
import type { AttachOptions, ContainerLog, ExecOptions, LogOptions } from './streams/pods.ts';
import type { Signal, Transport } from './transport/transport.ts';

export interface ClientOptions {
  readonly transport: Transport;
  /** Sent with every request; names in lower case. */
  readonly baseHeaders?: { readonly [name: string]: string };
  /** The API domain of the server: what follows the name of a group, as in `coordination.<domain>`. Only servers with
   * `--api-domain` have another than the default. */
  readonly apiDomain?: string;
}

/** A client of the API: typed kinds, the verbs by path, and streams of pods. Errors are those of `PlaceClient`. */
export interface Client extends PlaceClient {
  /** The objects of a kind, built-in or custom: `client.kind<Deployment>('apps/v1', 'Deployment')`. */
  kind<T extends TypedObject = UntypedObject>(apiVersion: string, kind: string): KindClient<NoInfer<T>>;
  /** The same for a kind that carries the type of its objects, such as a constant that several informers share. */
  kind<T extends TypedObject>(kind: TypedKind<T>): KindClient<T>;
  /** Tells of all objects that kinds of this client read and write from now on. The result ends that. */
  observe(observer: ObjectObserver): () => void;
  log(pod: ObjectKey, options?: LogOptions): Promise<ContainerLog>;
  /** Runs a command in a container. Needs connections: `httpsTransport`. */
  exec(pod: ObjectKey, options: ExecOptions): Promise<RemoteCommand>;
  /** Attaches to the main process of a container. Needs connections: `httpsTransport`. */
  attach(pod: ObjectKey, options?: AttachOptions): Promise<RemoteCommand>;
  /** One connection to a TCP port of a pod. Needs connections: `httpsTransport`. */
  portForward(pod: ObjectKey, port: number, options?: { readonly signal?: Signal }): Promise<ForwardedPort>;
}
