import { TrustPool } from '../../pki/index.ts';
import type { Tls } from './tls.ts';

type Bundles = Pick<Tls, 'clientCa' | 'requestHeaderCa'>;

/** The CA bundles in PEM that a server in front adds. */
export interface FrontAuthorities {
  readonly clientCa: string;
  /** Those of authenticating proxies; undefined: none. */
  readonly requestHeaderCa: string | undefined;
}

/** The certificate authorities of clients and authenticating proxies; none before the server listens. */
export class TrustedAuthorities {
  #bundles: Bundles | undefined;
  #front: FrontAuthorities = { clientCa: '', requestHeaderCa: undefined };
  #clients: TrustPool | undefined;
  #proxies: TrustPool | undefined;
  /** The files from which the pools were built. */
  #made: Bundles | undefined;
  #changed: () => void = () => {};

  /** The server's own bundles in PEM; undefined before the server listens. */
  get bundles(): Bundles | undefined {
    return this.#bundles;
  }

  readonly clients = (): TrustPool | undefined => this.#clients;
  readonly proxies = (): TrustPool | undefined => this.#proxies;

  /** All authorities in PEM: a handshake names them. */
  get all(): string {
    const { clientCa = '', requestHeaderCa = '' } = this.#made ?? {};
    return clientCa + requestHeaderCa;
  }

  /** Replaces the server's own bundles, also for open connections. An unchanged bundle keeps its pool. */
  replace(bundles: Bundles): void {
    this.#bundles = bundles;
    this.#make();
  }

  /** Replaces the bundles that a server in front adds, and calls the listener of `onFrontChange`. */
  replaceFront(front: FrontAuthorities): void {
    this.#front = front;
    this.#make();
    this.#changed();
  }

  onFrontChange(listener: () => void): void {
    this.#changed = listener;
  }

  #make(): void {
    if (this.#bundles === undefined) return;
    const clientCa = this.#bundles.clientCa + this.#front.clientCa;
    const requestHeaderCa = this.#bundles.requestHeaderCa ?? this.#front.requestHeaderCa;
    if (clientCa !== this.#made?.clientCa) this.#clients = new TrustPool(clientCa);
    if (requestHeaderCa !== this.#made?.requestHeaderCa) {
      this.#proxies = requestHeaderCa === undefined ? undefined : new TrustPool(requestHeaderCa);
    }
    this.#made = { clientCa, requestHeaderCa };
  }
}
