import { describe, expect, it } from 'vitest';
import { readCertificateRequest } from '../pki/index.ts';
import { certificateRequest, commonName, organization, type TestRequest } from '../pki/testing/certificate-request.ts';
import { clientProblem, nodeClientProblem, nodeServingProblem } from './certificate-usages.ts';

const node = [organization('system:nodes'), commonName('system:node:a')];
const mike = [organization('system:nodes'), commonName('mike')];
const client = ['client auth', 'digital signature', 'key encipherment'];
const serving = ['server auth', 'digital signature', 'key encipherment'];
const [address, dns, emails, uris] = [['10.0.0.1'], ['a.example'], ['a@example.com'], ['https://example.com']];

function parsed(request: TestRequest) {
  const requested = readCertificateRequest(certificateRequest(request));
  if (requested === undefined) throw new Error('the request cannot be parsed');
  return requested;
}

describe('a request for a client certificate', () => {
  it.each([
    [client, undefined],
    [['client auth'], undefined],
    [['client auth', 'server auth'], 'invalid usage for client certificate: server auth'],
    [['digital signature'], 'missing required usage for client certificate: client auth'],
  ])('with the usages %j', (usages, problem) => {
    expect(clientProblem(parsed({}), usages)).toBe(problem);
  });
});

const organizationProblem = 'subject organization is not system:nodes';
const nameProblem = 'subject common name does not begin with system:node:';

describe('a request for the client certificate of a node', () => {
  const usageProblem = 'usages did not match [client auth digital signature key encipherment]';
  it.each<[string, TestRequest, readonly string[], string | undefined]>([
    ['all that is required', { subject: node }, client, undefined],
    ['no key encipherment', { subject: node }, client.slice(0, 2), undefined],
    ['no organization', { subject: node.slice(1) }, client, organizationProblem],
    [
      'another organization',
      { subject: [organization('system:masters'), ...node.slice(1)] },
      client,
      organizationProblem,
    ],
    ['two organizations', { subject: [...node, organization('more')] }, client, organizationProblem],
    ['a DNS name', { subject: node, dns }, client, 'DNS subjectAltNames are not allowed'],
    ['an email address', { subject: node, emails }, client, 'Email subjectAltNames are not allowed'],
    ['an IP address', { subject: node, ips: address }, client, 'IP subjectAltNames are not allowed'],
    ['a URI', { subject: node, uris }, client, 'URI subjectAltNames are not allowed'],
    ['another common name', { subject: mike }, client, nameProblem],
    ['another usage', { subject: node }, [...client, 'server auth'], usageProblem],
    ['a usage instead of another', { subject: node }, ['client auth', 'signing'], usageProblem],
    ['usages of a server', { subject: node }, serving, usageProblem],
    ['no usage', { subject: node }, [], usageProblem],
  ])('with %s', (_, request, usages, problem) => {
    expect(nodeClientProblem(parsed(request), usages)).toBe(problem);
  });
});

describe('a request for the serving certificate of a node', () => {
  const usageProblem = 'usages did not match [digital signature key encipherment server auth]';
  it.each<[string, TestRequest, readonly string[], string | undefined]>([
    ['an IP address', { subject: node, ips: address }, serving, undefined],
    ['a DNS name and no key encipherment', { subject: node, dns }, serving.slice(0, 2), undefined],
    ['no organization', { subject: node.slice(1), dns }, serving, organizationProblem],
    ['no name', { subject: node }, serving, 'DNS or IP subjectAltName is required'],
    ['an email address', { subject: node, dns, emails }, serving, 'Email subjectAltNames are not allowed'],
    ['a URI', { subject: node, dns, uris }, serving, 'URI subjectAltNames are not allowed'],
    ['usages of a client', { subject: mike, dns }, client, usageProblem],
    ['another common name', { subject: mike, dns }, serving, nameProblem],
  ])('with %s', (_, request, usages, problem) => {
    expect(nodeServingProblem(parsed(request), usages)).toBe(problem);
  });
});
