import { X509Certificate } from 'node:crypto';
import { keyOf } from '../../client/index.ts';
import { formatTime, statusError } from '../../meta/index.ts';
import { type CertKeyPair, type RequestedCertificate, signRequest } from '../../pki/index.ts';
import { clientProblem, nodeClientProblem, nodeServingProblem } from '../../rules/index.ts';
import type { SignerName } from '../manager/settings.ts';
import * as kinds from '../shared/kinds.ts';
import type { Controller } from '../types.ts';
import { hasCondition, isIssued, requestedCertificate } from './requests.ts';
import { keyUsages } from './usages.ts';

/** Why a signer must not sign a request that has been approved; undefined: it signs. */
type Problem = (requested: RequestedCertificate, usages: readonly string[]) => string | undefined;

const signers: { readonly [signer in SignerName]: Problem } = {
  'kube-apiserver-client': clientProblem,
  'kube-apiserver-client-kubelet': nodeClientProblem,
  'kubelet-serving': nodeServingProblem,
};

/** Signs approved requests to the built-in signers, or says in a condition why it does not. */
export const certificateSigner: Controller = {
  name: 'certificatesigningrequest-signing-controller',
  needs: [kinds.certificateSigningRequests],
  account: 'certificate-controller',
  start({ client, informers, names, settings, clock, queue }) {
    const { signingAuthority, signingMs } = settings;
    const configuredSigners = (Object.keys(signers) as SignerName[]).filter(
      (signer) => signingAuthority(signer) !== undefined,
    );
    if (configuredSigners.length === 0) return;
    const bySigner = new Map(configuredSigners.map((signer) => [`${names.labels}/${signer}`, signer]));
    const requests = informers.of(kinds.certificateSigningRequests);
    const work = queue('certificate', async (key) => {
      const request = requests.getByKey(key);
      if (request === undefined || isIssued(request)) return;
      if (!hasCondition(request, 'Approved') || hasCondition(request, 'Denied') || hasCondition(request, 'Failed'))
        return;
      const { signerName = '', usages = [], expirationSeconds } = request.spec ?? {};
      const signer = bySigner.get(signerName);
      const authority = signer && signingAuthority(signer);
      if (signer === undefined || authority === undefined) return;
      const requested = requestedCertificate(request);
      const problem = signers[signer](requested, usages);
      const now = clock.now();
      if (problem !== undefined) {
        const failed = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message: problem };
        const conditions = [...(request.status?.conditions ?? []), { ...failed, lastUpdateTime: formatTime(now) }];
        const status = { ...request.status, conditions };
        await client
          .kind(kinds.certificateSigningRequests)
          .subresource('status')
          .update({ ...request, status });
        return;
      }
      const validity = validityOf(durationOf(expirationSeconds, signingMs), now, authority);
      const certificate = signRequest(requested, authority, { ...keyUsages(usages), ...validity });
      const status = { ...request.status, certificate: Buffer.from(certificate).toString('base64') };
      await client
        .kind(kinds.certificateSigningRequests)
        .subresource('status')
        .update({ ...request, status });
    });
    requests.onChange((request) => {
      if (request !== undefined) work.add(keyOf(request));
    });
  },
};

const minute = 60_000;
/** Certificates are valid from earlier on, because clocks differ (ms). */
const backdateMs = 5 * minute;
/** A requested duration is at least this long; below the other, backdating does not shorten it (ms). */
const shortestMs = 10 * minute;
const shortMs = 8 * 60 * minute;

function durationOf(expirationSeconds: number | null | undefined, longestMs: number): number {
  const requested = (expirationSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  return requested > longestMs ? longestMs : Math.max(requested, shortestMs);
}

/** The validity of a certificate, which does not outlive the authority. @throws StatusError when that has expired */
function validityOf(durationMs: number, now: number, authority: CertKeyPair) {
  const end = Date.parse(new X509Certificate(authority.cert).validTo);
  if (now >= end) throw statusError.internal(`the signer has expired: NotAfter=${formatTime(end)}`);
  const notAfter = now + (durationMs < shortMs ? durationMs : durationMs - backdateMs);
  return { notBefore: now - backdateMs, notAfter: Math.min(notAfter, end) };
}
