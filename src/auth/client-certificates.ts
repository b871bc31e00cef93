import { type Clock, type Names, statusError, type User } from '../meta/index.ts';
import type { TrustPool, Validity } from '../pki/index.ts';
import { authenticatedGroups } from './groups.ts';
import type { Authenticator, ClientCertificate } from './types.ts';

export interface ClientCertificateOptions {
  /** The authorities that are trusted now; undefined: certificates of this kind are not asked for. */
  readonly pool: () => TrustPool | undefined;
  readonly clock: Pick<Clock, 'now'>;
}

/** Is told of each certificate that authenticates a request for how long it is still valid (seconds). */
export type ExpiryObserver = (secondsLeft: number) => void;

/** The verdict on the certificate of a connection, valid for one pool. */
interface Judgement {
  readonly pool: TrustPool;
  validities: readonly Validity[];
  /** Settles once the certificates that came with it have been looked at too; undefined: nothing has needed them. */
  whole: Promise<void> | undefined;
  complete: boolean;
}

/** The same for every certificate: an error with a stack for each request would cost more than all else. */
const untrusted = statusError.unauthorized();

function judge({ own, issuers }: ClientCertificate, pool: TrustPool): Judgement {
  const validities = own === undefined ? [] : pool.validate([own]);
  return { pool, validities, whole: undefined, complete: issuers === undefined };
}

async function complete(judgement: Judgement, { own, issuers }: ClientCertificate): Promise<void> {
  const others = (await issuers?.()) ?? [];
  if (own !== undefined && others.length > 0) judgement.validities = judgement.pool.validate([own, ...others]);
  judgement.complete = true;
}

/**
 * Until when a certificate that is trusted at this time is valid (ms). Undefined: there is no pool. Its path is validated
 * once for each connection and pool, its time at each request. A promise, where no authority of the pool has signed it:
 * the certificates that came with it are then looked at. @throws StatusError 401 when it is not trusted
 */
export function certificateCheck({ pool: current, clock }: ClientCertificateOptions) {
  const judged = new WeakMap<ClientCertificate, Judgement>();
  const untilOf = (certificate: ClientCertificate, judgement: Judgement): number | Promise<number> => {
    const now = clock.now();
    const valid = judgement.validities.find(({ from, until }) => from <= now && now <= until);
    if (valid !== undefined) return valid.until;
    if (judgement.complete) throw untrusted;
    judgement.whole ??= complete(judgement, certificate);
    return judgement.whole.then(() => untilOf(certificate, judgement));
  };
  return (certificate: ClientCertificate): number | Promise<number> | undefined => {
    const pool = current();
    if (pool === undefined) return undefined;
    let judgement = judged.get(certificate);
    if (judgement === undefined || judgement.pool !== pool) {
      judgement = judge(certificate, pool);
      judged.set(certificate, judgement);
    }
    return untilOf(certificate, judgement);
  };
}

/**
 * Authenticates a client certificate of the pool: the common name is the user name, the organizations are the groups, and
 * the extra `credential-id` is the digest of the certificate. A certificate without a common name is not recognised, one
 * that is not trusted is a 401.
 */
export function certificateAuthenticator(
  names: Names,
  options: ClientCertificateOptions & { readonly uids: boolean; readonly expiring?: ExpiryObserver },
): Authenticator {
  const credentialId = `authentication.${names.labels}/credential-id`;
  const trusted = certificateCheck(options);
  const users = new WeakMap<ClientCertificate, User>();
  const recognise = (certificate: ClientCertificate): User | undefined => {
    const { commonName: name, organizations, uids = [], sha256 } = certificate;
    if (name === '') return undefined;
    // The user of such a certificate would depend on who reads it.
    if (options.uids && (uids.length > 1 || uids[0] === '')) throw untrusted;
    const user: User = {
      name,
      groups: authenticatedGroups(name, organizations),
      ...(options.uids && uids[0] !== undefined ? { uid: uids[0] } : {}),
      ...(sha256 === undefined ? {} : { extra: { [credentialId]: [`X509SHA256=${sha256}`] } }),
    };
    users.set(certificate, user);
    return user;
  };
  const userUntil = (certificate: ClientCertificate, until: number): User | undefined => {
    options.expiring?.((until - options.clock.now()) / 1000);
    return users.get(certificate) ?? recognise(certificate);
  };
  return ({ certificate }) => {
    if (certificate === undefined) return undefined;
    if (certificate.own === undefined) return users.get(certificate) ?? recognise(certificate);
    const until = trusted(certificate);
    if (until === undefined) return undefined;
    if (until instanceof Promise) return until.then((late) => userUntil(certificate, late));
    return userUntil(certificate, until);
  };
}
