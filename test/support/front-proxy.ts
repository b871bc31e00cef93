import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CertKeyPair, issueCertificate } from '../../src/pki/index.ts';

const validity = () => ({ notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 24 * 3_600_000 });

/** Writes a serving certificate for a name such as `metrics.default.svc`, and returns it with its authority as `cert`. */
export function servingCertificate(folder: string, file: string, host: string): CertKeyPair {
  const authority = issueCertificate({ commonName: `${file}-ca`, usage: 'authority', ...validity() });
  const issuer = { ...authority, name: `${file}-ca` };
  const pair = issueCertificate(
    { commonName: host, usage: 'server', hosts: [host, 'localhost'], ...validity() },
    issuer,
  );
  writeFileSync(join(folder, `${file}.crt`), pair.cert + authority.cert);
  writeFileSync(join(folder, `${file}.key`), pair.key, { mode: 0o600 });
  return { cert: authority.cert, key: pair.key };
}

/** Writes the certificate by which extension API servers recognise the server in front, and returns the flags of the latter. */
export function frontProxyFlags(folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  const authority = issueCertificate({ commonName: 'front-ca', usage: 'authority', ...validity() });
  const issuer = { ...authority, name: 'front-ca' };
  const client = issueCertificate({ commonName: 'front-proxy-client', usage: 'client', ...validity() }, issuer);
  writeFileSync(join(folder, 'front-ca.crt'), authority.cert);
  writeFileSync(join(folder, 'front.crt'), client.cert);
  writeFileSync(join(folder, 'front.key'), client.key, { mode: 0o600 });
  return [
    `--proxy-client-cert-file=${join(folder, 'front.crt')}`,
    `--proxy-client-key-file=${join(folder, 'front.key')}`,
  ];
}

/** An APIService of a group version that a server on this machine serves at a port, and its Service. */
export function registration(group: string, version: string, service: string, port: number, authority: string) {
  const namespace = 'default';
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: service, namespace },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `${version}.${group}` },
      spec: {
        group,
        version,
        service: { namespace, name: service, port },
        caBundle: Buffer.from(authority).toString('base64'),
        groupPriorityMinimum: 100,
        versionPriority: 100,
      },
    },
  ];
}
