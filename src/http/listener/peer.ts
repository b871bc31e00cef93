/** The client of a connection: its address, its network and its certificate. */
import { hash, X509Certificate } from 'node:crypto';
import type { DetailedPeerCertificate, PeerCertificate, TLSSocket } from 'node:tls';
import { clientNetwork, scheduler, socketAddress, type Turns } from '../../meta/index.ts';
import type { Peer } from '../types.ts';

/** An attribute of a subject with the user's uid. */
const uidAttribute = '1.3.6.1.4.1.57683.2';

/** How many certificates that came with a client's are looked at: Node makes a chain circular at a self-signed one. */
const maxIssuers = 9;

/** Address and certificate of the client; authenticators verify the certificate. */
export function peerOf(socket: TLSSocket): Peer {
  const address = socketAddress(socket);
  const network = clientNetwork(address);
  // `getPeerX509Certificate` copies all that came with it, and in some versions takes them out of the connection.
  const { raw, subject }: Partial<PeerCertificate> = socket.getPeerCertificate(false) ?? {};
  if (raw === undefined) return { address, network, certificate: undefined };
  const attributes = (subject ?? {}) as { readonly [name: string]: string | string[] | undefined };
  let issuers: Promise<readonly X509Certificate[]> | undefined;
  return {
    address,
    network,
    certificate: {
      commonName: allOf(attributes['CN']).at(-1) ?? '',
      organizations: allOf(attributes['O']),
      uids: allOf(attributes[uidAttribute]),
      sha256: hash('sha256', raw, 'hex'),
      own: new X509Certificate(raw),
      issuers: () => {
        issuers ??= issuersOf(socket, scheduler.turns(network));
        return issuers;
      },
    },
  };
}

/** The certificates that came with that of the client, each followed by its issuer. Node reads all in one step. */
async function issuersOf(socket: TLSSocket, turns: Turns): Promise<readonly X509Certificate[]> {
  if (turns.over) await turns.next();
  const own: Partial<DetailedPeerCertificate> = socket.getPeerCertificate(true) ?? {};
  const found: X509Certificate[] = [];
  const seen = new Set<object>([own]);
  let next = own.issuerCertificate;
  while (next?.raw !== undefined && !seen.has(next) && found.length < maxIssuers) {
    found.push(new X509Certificate(next.raw));
    seen.add(next);
    next = next.issuerCertificate;
  }
  return found;
}

const allOf = (value: string | readonly string[] | undefined): readonly string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : value;
