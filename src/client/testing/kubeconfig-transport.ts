import { parse } from 'yaml';
import { httpsTransport } from '../transport/https.ts';

/** A transport with the server and the credentials of a kubeconfig. */
export function kubeconfigTransport(kubeconfig: string): ReturnType<typeof httpsTransport> {
  const config = parse(kubeconfig) as {
    clusters: [{ cluster: { [key: string]: string } }];
    users: [{ user: { [key: string]: string } }];
  };
  const pem = (data: string | undefined) => Buffer.from(data ?? '', 'base64').toString();
  const { cluster } = config.clusters[0];
  const { user } = config.users[0];
  return httpsTransport({
    server: cluster['server'] ?? '',
    ca: pem(cluster['certificate-authority-data']),
    certificate: { cert: pem(user['client-certificate-data']), key: pem(user['client-key-data']) },
  });
}
