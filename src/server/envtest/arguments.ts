/** The command lines with which envtest starts its programs. */

/**
 * Flags of kube-apiserver without a visible effect on controller tests: names, and prefixes that end in a dash.
 */
const inert: readonly string[] = [
  'aggregator-reject-forwarding-redirect',
  'allow-metric-labels',
  'allow-metric-labels-manifest',
  'alsologtostderr',
  'audit-log-version',
  'audit-webhook-version',
  'contention-profiling',
  'coordinated-leadership-',
  'debug-socket-path',
  'default-watch-cache-size',
  'delete-collection-workers',
  'disabled-metrics',
  'enable-aggregator-routing',
  'enable-logs-handler',
  'enable-priority-and-fairness',
  'etcd-',
  'event-ttl',
  'external-hostname',
  'goaway-chance',
  'http2-max-streams-per-connection',
  'insecure-bind-address',
  'insecure-port',
  'lease-reuse-duration-seconds',
  'log-',
  'logtostderr',
  'max-connection-bytes-per-sec',
  'peer-',
  'permit-address-sharing',
  'permit-port-sharing',
  'proxy-client-',
  'request-timeout',
  'shutdown-send-retry-after',
  'shutdown-watch-termination-grace-period',
  'stderrthreshold',
  'storage-',
  'strict-transport-security-directives',
  'tls-cipher-suites',
  'tls-curve-preferences',
  'tls-min-version',
  'v',
  'vmodule',
  'watch-cache',
  'watch-cache-sizes',
];

const nameOf = (argument: string): string => /^--?([^=]*)/.exec(argument)?.[1] ?? '';

const isInert = (name: string): boolean =>
  inert.some((one) => (one.endsWith('-') ? name.startsWith(one) : name === one));

/** The last value of a flag among arguments of the form `--name=value`. */
const lastOf = (args: readonly string[], name: string): string | undefined =>
  args.findLast((arg) => nameOf(arg) === name)?.replace(/^[^=]*=?/, '');

export interface ServerArguments {
  /** Those of `orch serve`. */
  readonly flags: readonly string[];
  /** The folder of `--cert-dir`. */
  readonly certificates: string | undefined;
  /** The names of the flags that have no effect. */
  readonly inert: readonly string[];
}

/** Converts arguments of kube-apiserver, each of the form `--name=value` or `--name`, for `orch serve`. */
export function serverArguments(args: readonly string[], serverFlags: ReadonlySet<string>): ServerArguments {
  // Flags of etcd have no effect either: objects stay in memory.
  const hasEffect = (name: string) =>
    name !== 'cert-dir' && !name.startsWith('etcd-') && (serverFlags.has(name) || !isInert(name));
  const ignored = args.map(nameOf).filter((name) => name !== 'cert-dir' && !hasEffect(name));
  return {
    flags: args.filter((arg) => hasEffect(nameOf(arg))),
    certificates: lastOf(args, 'cert-dir'),
    inert: [...new Set(ignored)],
  };
}

/** The URLs at which etcd is to serve clients. */
export const clientUrls = (args: readonly string[]): readonly string[] =>
  (lastOf(args, 'listen-client-urls') ?? 'http://localhost:2379').split(',');
