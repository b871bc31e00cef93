import { TrustPool } from '../../pki/index.ts';
import type { Tls } from './tls.ts';

type Bundles = Pick<Tls, 'clientCa' | 'requestHeaderCa'>;

/** The certificate authorities of clients and authenticating proxies; none before the server listens. */
export class TrustedAuthorities {
  #bundles: Bundles | undefined;
  #clients: TrustPool | undefined;
  #proxies: TrustPool | undefined;

  /** In PEM; undefined before the server listens. */
  get bundles(): Bundles | undefined {
    return this.#bundles;
  }

  readonly clients = (): TrustPool | undefined => this.#clients;
  readonly proxies = (): TrustPool | undefined => this.#proxies;

  /** Replaces the trusted bundles, also for open connections. An unchanged bundle keeps its pool. */
  replace(bundles: Bundles): void {
    const { clientCa, requestHeaderCa } = bundles;
    if (clientCa !== this.#bundles?.clientCa) this.#clients = new TrustPool(clientCa);
    if (requestHeaderCa !== this.#bundles?.requestHeaderCa) {
      this.#proxies = requestHeaderCa === undefined ? undefined : new TrustPool(requestHeaderCa);
    }
    this.#bundles = bundles;
  }
}
