import type { ObjectKey, TypedKind, TypedObject, UntypedObject } from './kinds/kind.ts';
import type { KindClient, ObjectObserver } from './kinds/kind-client.ts';
import type { PlaceClient } from './kinds/place-client.ts';
import type { RemoteCommand } from './streams/command.ts';
import type { ForwardedPort } from './streams/forwarded-port.ts';
import type { AttachOptions, ContainerLog, ExecOptions, LogOptions } from './streams/pods.ts';
import type { Signal, Transport } from './transport/transport.ts';

export interface ClientOptions {
  readonly transport: Transport;
  /** Headers sent with every request; names in lower case. */
  readonly baseHeaders?: { readonly [name: string]: string };
  /**
   * The API domain of the server: the suffix of group names, as in `coordination.<domain>`. It differs from the default
   * only for servers started with `--api-domain`.
   */
  readonly apiDomain?: string;
}

/** An API client: typed kinds, verbs by path, and pod streams. It throws the errors of `PlaceClient`. */
export interface Client extends PlaceClient {
  /** Returns the client for a built-in or custom kind: `client.kind<Deployment>('apps/v1', 'Deployment')`. */
  kind<T extends TypedObject = UntypedObject>(apiVersion: string, kind: string): KindClient<NoInfer<T>>;
  /** The same for a kind reference that carries the type of its objects, such as a constant shared with informers. */
  kind<T extends TypedObject>(kind: TypedKind<T>): KindClient<T>;
  /** Reports every object that typed kinds of this client read or write from now on. The returned function ends that. */
  observe(observer: ObjectObserver): () => void;
  /** Reads the log of a container. */
  log(pod: ObjectKey, options?: LogOptions): Promise<ContainerLog>;
  /** Runs a command in a container. Requires a transport with WebSockets, such as `httpsTransport`. */
  exec(pod: ObjectKey, options: ExecOptions): Promise<RemoteCommand>;
  /** Attaches to the main process of a container. Requires a transport with WebSockets, such as `httpsTransport`. */
  attach(pod: ObjectKey, options?: AttachOptions): Promise<RemoteCommand>;
  /** Opens one connection to a TCP port of a pod. Requires a transport with WebSockets, such as `httpsTransport`. */
  portForward(pod: ObjectKey, port: number, options?: { readonly signal?: Signal }): Promise<ForwardedPort>;
}
