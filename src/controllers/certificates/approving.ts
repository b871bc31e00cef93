import { keyOf } from '../../client/index.ts';
import type { ApiObject } from '../../meta/index.ts';
import { nodeClientProblem } from '../../rules/index.ts';
import * as kinds from '../shared/kinds.ts';
import type { Controller, ControllerContext } from '../types.ts';
import { hasCondition, isIssued, requestedCertificate, type SigningRequest } from './requests.ts';

/** Requests that may be approved: for a node's own certificate, the node's right to ask for it is enough. */
const permissions = [
  {
    subresource: 'selfnodeclient',
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
  },
  { subresource: 'nodeclient', message: 'Auto approving kubelet client certificate after SubjectAccessReview.' },
];

/** Delays before a request that was not permitted is tried again (ms): its age, within these bounds. */
const firstRetryMs = 200;
const lastRetryMs = 1_000_000;

/** Approves requests for client certificates of nodes by users who may ask for them. */
export const certificateApprover: Controller = {
  name: 'certificatesigningrequest-approving-controller',
  needs: [kinds.certificateSigningRequests],
  account: 'certificate-controller',
  start(context) {
    const { client, informers, names, clock, queue } = context;
    const signer = `${names.labels}/kube-apiserver-client-kubelet`;
    const requests = informers.of(kinds.certificateSigningRequests);
    const work = queue('certificate_approving', async (key) => {
      const request = requests.getByKey(key);
      if (request === undefined || isIssued(request)) return {};
      if (hasCondition(request, 'Approved') || hasCondition(request, 'Denied')) return {};
      const requested = requestedCertificate(request);
      const { signerName, username, usages = [] } = request.spec ?? {};
      if (signerName !== signer || nodeClientProblem(requested, usages) !== undefined) return {};
      for (const { subresource, message } of permissions) {
        if (subresource === 'selfnodeclient' && username !== requested.commonName) continue;
        if (!(await mayAsk(context, request, subresource))) continue;
        const approved = { type: 'Approved', status: 'True', reason: 'AutoApproved', message };
        const status = { ...request.status, conditions: [...(request.status?.conditions ?? []), approved] };
        await client
          .kind(kinds.certificateSigningRequests)
          .subresource('approval')
          .update({ ...request, status });
        return {};
      }
      const age = clock.now() - Date.parse(request.metadata.creationTimestamp ?? '');
      return { requeueAfterMs: Math.min(Math.max(age, firstRetryMs), lastRetryMs) };
    });
    requests.onChange((request) => {
      if (request !== undefined) work.add(keyOf(request));
    });
  },
};

/** Whether the requesting user may create certificate signing requests of this kind. */
async function mayAsk({ client, names }: ControllerContext, { spec }: SigningRequest, subresource: string) {
  const { username: user = '', uid = '', groups = [], extra = {} } = spec ?? {};
  const group = `certificates.${names.domain}`;
  const attributes = { group, version: '*', resource: 'certificatesigningrequests', subresource, verb: 'create' };
  const review = {
    apiVersion: `authorization.${names.domain}/v1`,
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: { user, uid, groups, extra, resourceAttributes: attributes },
  };
  const place = { apiVersion: review.apiVersion, resource: 'subjectaccessreviews' };
  const { status } = await client.create<ApiObject & { status?: { allowed?: boolean } }>(place, review);
  return status?.allowed === true;
}
