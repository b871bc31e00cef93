import type { Names } from '../meta/index.ts';
import { readPrivate, writePrivate } from './files.ts';
import type { Identity } from './x509.ts';

export interface KubeconfigOptions {
  readonly names: Names;
  /** Such as `https://127.0.0.1:6443`. */
  readonly server: string;
  /** PEM of what the serving certificate stems from. */
  readonly authority: string;
  readonly admin: Identity;
}

/** A client configuration with one cluster, one user and one context, all named after the product. */
export function kubeconfig({ names, server, authority, admin }: KubeconfigOptions): string {
  const cluster = names.product;
  const user = `${names.product}-admin`;
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
    client-certificate-data: ${data(admin.cert)}
    client-key-data: ${data(admin.key)}
contexts:
- name: ${cluster}
  context:
    cluster: ${cluster}
    user: ${user}
current-context: ${cluster}
`;
}

/** The file holds this text, readable for its owner alone; left as it is when it held it already. */
export async function writeKubeconfig(path: string, text: string): Promise<void> {
  if ((await readPrivate(path)) !== text) await writePrivate(path, text);
}

/** How clients of this machine reach a server that listens there: through the loopback when it listens everywhere. */
export function urlOf(address: string, port: number): string {
  const host =
    address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '[::1]' : address.includes(':') ? `[${address}]` : address;
  return `https://${host}:${port}`;
}
