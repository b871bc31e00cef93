import { join } from 'node:path';
import { allowsAnonymous, modesOf } from '../settings/authorization-modes.ts';
import type { Settings } from '../settings/flags.ts';
import { shellWord } from './shell-word.ts';

/**
 * Lines for the operator about what to check when others can reach the server and its certificate or client CA is generated.
 * None when it listens on a loopback address, or both are configured.
 */
export function exposureNotice(settings: Settings & { readonly dataDir: string }): readonly string[] {
  const { bindAddress, tlsCertFile, clientCaFile, dataDir } = settings;
  if (isLoopback(bindAddress) || (tlsCertFile !== undefined && clientCaFile !== undefined)) return [];
  const [cert, key] = ['ca.crt', 'ca.key'].map((name) => shellWord(join(dataDir, name)));
  return [
    `others can reach ${bindAddress}. Check:`,
    ...(tlsCertFile === undefined
      ? [
          `- clients verify this server with ${cert}: give it to them, or set --tls-cert-file and --tls-private-key-file`,
        ]
      : []),
    `- whoever can read ${key} can be any user; client certificates of your own authority: --client-ca-file`,
    ...(allowsAnonymous(settings) ? [`- strangers can read /version and health checks: ${refusal(settings)}`] : []),
    ...(modesOf(settings).includes('AlwaysAllow')
      ? ['- every request with credentials is allowed: --authorization-mode=RBAC']
      : []),
  ];
}

const refusal = ({ authenticationConfig }: Settings): string =>
  authenticationConfig === undefined
    ? '--anonymous-auth=false refuses them'
    : 'the field anonymous in the file of --authentication-config may refuse them';

const isLoopback = (address: string): boolean => /^(?:127\.|::1$|::ffff:127\.)/i.test(address);
