import type { CertKeyPair } from '../../pki/index.ts';
import { readPrivate, writePrivate } from '../private-files.ts';

export interface KubeconfigOptions {
  /** The name of the cluster and of the context. */
  readonly cluster: string;
  /** URL such as `https://127.0.0.1:6443`. */
  readonly server: string;
  /** The CA bundle of the serving certificate, in PEM. */
  readonly authority: string;
  /** The name of the user, for display; the certificate decides. */
  readonly user: string;
  readonly certificate: CertKeyPair;
  /** The namespace of the context. */
  readonly namespace?: string | undefined;
}

/** Formats a kubeconfig with one cluster, one user and one context. */
export function kubeconfig(options: KubeconfigOptions): string {
  const { cluster, server, authority, user: name, certificate, namespace } = options;
  // Names such as `system:node:a` need quotes.
  const user = /^[A-Za-z][\w-]*$/.test(name) ? name : JSON.stringify(name);
  const data = (pem: string) => Buffer.from(pem).toString('base64');
  return `apiVersion: v1
kind: Config
clusters:
- name: ${cluster}
  cluster:
    server: ${server}
    certificate-authority-data: ${data(authority)}
users:
- name: ${user}
  user:
    client-certificate-data: ${data(certificate.cert)}
    client-key-data: ${data(certificate.key)}
contexts:
- name: ${cluster}
  context:
    cluster: ${cluster}
    user: ${user}${namespace === undefined ? '' : `\n    namespace: ${namespace}`}
current-context: ${cluster}
`;
}

/** Writes the kubeconfig with mode 0600 if it differs. */
export async function writeKubeconfig(path: string, text: string): Promise<void> {
  if ((await readPrivate(path)) !== text) await writePrivate(path, text);
}

/** The URL for local clients: the loopback address when the server listens on all addresses. */
export function urlOf(address: string, port: number): string {
  const host =
    address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '[::1]' : address.includes(':') ? `[${address}]` : address;
  return `https://${host}:${port}`;
}
