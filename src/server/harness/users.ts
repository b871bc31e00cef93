import {
  type Client,
  createClient,
  type HttpsOptions,
  type InProcessHandler,
  inProcessTransport,
} from '../../client/index.ts';
import type { Clock, Names } from '../../meta/index.ts';
import { issueClientCertificate } from '../certificates/certificates.ts';
import type { Tls } from '../certificates/tls.ts';
import { kubeconfig } from '../commands/kubeconfig.ts';
import type { Address } from '../listener.ts';

/** The credentials of a user over sockets: those that `httpsTransport` takes. */
export type UserCredentials = Required<Pick<HttpsOptions, 'server' | 'ca' | 'certificate'>>;

/** A client that acts as a user, in process, with the rights that roles grant. */
export interface TestUser extends Client {
  /** A client certificate of this user, valid for a day. @throws Error while the server does not listen */
  credentials(): UserCredentials;
  /** A kubeconfig with such a certificate. @throws Error while the server does not listen */
  kubeconfig(): string;
}

export interface UsersOptions {
  readonly handler: InProcessHandler;
  readonly names: Names;
  readonly clock: Clock;
  /** Undefined while the server does not listen. */
  readonly listening: () => { readonly tls: Tls; readonly url: Address['url'] } | undefined;
}

/** Makes users by name. */
export const createUsers =
  ({ handler, names, clock, listening }: UsersOptions) =>
  (name: string, groups: readonly string[] = []): TestUser => {
    const subject = { commonName: name, organizations: groups };
    const credentials = () => {
      const open = listening();
      if (open === undefined) throw new Error('credentials are for sockets: call listen() first');
      const { tls, url } = open;
      const certificate = issueClientCertificate(tls.clientAuthority, subject, clock.now());
      return { server: url, ca: tls.authority, certificate };
    };
    return {
      ...createClient({ transport: inProcessTransport(handler, { subject }) }),
      credentials,
      kubeconfig: () => {
        const { server, ca: authority, certificate } = credentials();
        return kubeconfig({ cluster: names.product, server, authority, user: name, certificate });
      },
    };
  };
