import { duration, integer, list, text, toggle, type ValuesOf } from './flag.ts';

/** The flags of every command. */
export const globalFlags = {
  as: text('', 'Username to impersonate for the operation. It may be a regular user or a service account.'),
  asGroup: list('Group to impersonate for the operation. The flag can be repeated.'),
  asUid: text('', 'UID to impersonate for the operation.'),
  cacheDir: text(
    '',
    'Folder of the discovery cache. If empty, it is `cache` below the folder of the kubeconfig of the user.',
  ),
  certificateAuthority: text('', 'Path to a file with the certificate of the authority.'),
  clientCertificate: text('', 'Path to a client certificate file for TLS.'),
  clientKey: text('', 'Path to a client key file for TLS.'),
  cluster: text('', 'The name of the kubeconfig cluster to use.'),
  context: text('', 'The name of the kubeconfig context to use.'),
  insecureSkipTlsVerify: toggle(
    false,
    "If true, the server's certificate is not verified. This makes your HTTPS connections insecure.",
  ),
  kubeconfig: text('', 'Path to the kubeconfig file to use for requests.'),
  namespace: text('', 'If present, the namespace scope of this request.', { short: 'n' }),
  password: text('', 'Password for basic authentication to the API server.'),
  requestTimeout: text(
    '0',
    'The length of time to wait before giving up on a single request. A value other than zero should contain a unit, such as 1s, 2m or 3h. Zero means no timeout.',
  ),
  server: text('', 'The address and port of the API server.', { short: 's' }),
  tlsServerName: text(
    '',
    'Server name to use for the verification of the server certificate. If empty, it is the hostname used to contact the server.',
  ),
  token: text('', 'Bearer token for authentication to the API server.'),
  user: text('', 'The name of the kubeconfig user to use.'),
  username: text('', 'Username for basic authentication to the API server.'),
  v: integer(0, 'Number for the log level verbosity: from 6, requests are logged on standard error.', { short: 'v' }),
  warningsAsErrors: toggle(false, 'Treat warnings of the server as errors, and exit with a status other than zero.'),
  help: toggle(false, 'Print the help of the command.', { short: 'h' }),
};

export type GlobalValues = ValuesOf<typeof globalFlags>;

/** The timeout of a request in milliseconds; 0 without one. A number without unit counts seconds. @throws Error */
export function parseRequestTimeout(value: string): number {
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : readDuration(value);
  if (Number.isFinite(ms)) return ms;
  throw new Error(
    `invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)`,
  );
}

function readDuration(value: string): number {
  try {
    return duration(0, '').type.parse(value, 0, true);
  } catch {
    return Number.NaN;
  }
}
