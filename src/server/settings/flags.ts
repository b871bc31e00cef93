import { admissionPlugins, pluginNames } from '../../admission/index.ts';
import { maxFakeNodes } from '../../controllers/index.ts';
import { compatibleDomain, defaultDomain } from '../../meta/index.ts';
import { apiFlags, apiProblems } from './api-flags.ts';
import { auditFlags } from './audit-flags.ts';
import { authorizationFlags } from './authorization-flags.ts';
import { certificateFlags } from './certificate-flags.ts';
import { consoleFlags } from './console-flags.ts';
import { controllerFlags, leaseProblems } from './controller-flags.ts';
import { defaultsOf, type FlagTable, flag, listOf, type SettingsOf } from './flag.ts';
import * as type from './flag-types.ts';
import { metricFlags } from './metric-flags.ts';
import { authenticationFlags, openIdFlags } from './openid-flags.ts';
import { processFlags } from './process-flags.ts';
import { requestHeaderFlags } from './request-header-flags.ts';
import { storeFlags, storeProblems } from './store-flags.ts';
import { tokenWebhookFlags } from './token-webhook-flags.ts';

const pluginsThatAre = (on: boolean): string[] => pluginNames.filter((name) => admissionPlugins[name].on === on);
const nodeAddressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];
const allPlugins = [...pluginsThatAre(true), ...pluginsThatAre(false)];
const code = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ');

const anyText = () => undefined;
const issuerProblem = (issuer: string) =>
  issuer.includes(':') && !URL.canParse(issuer) ? `must be a URL; ${JSON.stringify(issuer)} is not` : undefined;

/** All flags, in the order of the documentation. */
const flags = {
  bindAddress: flag('Address', type.ipAddress, '127.0.0.1', 'Address to listen on; 0.0.0.0 or :: for all addresses.'),
  securePort: flag('Address', type.port, 6443, 'Port for HTTPS; 0 picks a free port.'),
  disableHttp2Serving: flag(
    'Address',
    type.boolean,
    false,
    'Serves HTTP/1.1 only: no client can use a flaw of HTTP/2 or of its implementation in Node.',
  ),
  advertiseAddress: flag(
    'Address',
    type.optionalIpAddress,
    undefined,
    'Address at which others reach the server: the endpoint of the API service. If not set, it is `--bind-address`, or the first address of the machine when that is a loopback address or means all addresses. A configured address is added to the serving certificate.',
  ),
  endpointReconcilerType: flag(
    'Address',
    type.oneOf('lease', 'none'),
    'lease',
    'How the endpoints of the API service are maintained: with `lease` each server adds its address while it runs; with `none` they are left to others.',
  ),
  tlsCertFile: flag(
    'Address',
    type.file,
    undefined,
    'Serving certificate in PEM, followed by its intermediate certificates. If not set, the server generates a certificate and its authority in the data directory.',
  ),
  tlsPrivateKeyFile: flag(
    'Address',
    type.file,
    undefined,
    'Private key of `--tls-cert-file` in PEM. Others must not have access to the file.',
  ),

  clientCaFile: flag(
    'Identity',
    type.file,
    undefined,
    'CA bundle in PEM for client certificates. A client with a certificate that one of them signed is authenticated as the user of its common name, in the groups of its organizations. A changed file takes effect within a minute.',
  ),
  ...requestHeaderFlags,
  ...certificateFlags,
  tokenAuthFile: flag(
    'Identity',
    type.file,
    undefined,
    'File of static bearer tokens in CSV: `token,user,uid,"group1,group2"`. Groups are optional and may be in several columns.',
  ),
  ...openIdFlags,
  ...tokenWebhookFlags,
  ...authenticationFlags,
  ...authorizationFlags,

  enableBootstrapTokenAuth: flag(
    'Identity',
    type.boolean,
    false,
    'Whether secrets of the bootstrap token type in the system namespace are accepted as bearer tokens.',
  ),
  serviceAccountKeyFile: flag(
    'Identity',
    type.texts('file', anyText),
    [],
    'Files with RSA or ECDSA keys (public or private) or certificates in PEM that verify service account tokens, in addition to the signing key. If not set, `--tls-private-key-file` is used. Others must not have access to files with private keys. A changed file takes effect at the next start.',
  ),
  serviceAccountSigningKeyFile: flag(
    'Identity',
    type.file,
    undefined,
    'RSA or ECDSA private key in PEM that signs service account tokens. Others must not have access to the file. If not set, a key is generated in the store and shared by all servers of the store. A changed file takes effect at the next start.',
  ),
  serviceAccountIssuer: flag(
    'Identity',
    type.texts('issuer', issuerProblem),
    [],
    'Issuers whose service account tokens are accepted; new tokens are issued by the first one. If not set, the issuer is the URL of the API service in the cluster domain `cluster.local`.',
  ),
  apiAudiences: flag(
    'Identity',
    type.texts('audience', anyText),
    [],
    'Audiences of this server: a token must be issued for one of them. If not set, they are the issuers.',
  ),
  serviceAccountLookup: flag(
    'Identity',
    type.boolean,
    true,
    'Whether a service account token from a secret is valid only while the secret exists.',
  ),
  serviceAccountMaxTokenExpiration: flag(
    'Identity',
    type.duration,
    0,
    'Maximum validity of requested service account tokens, at least 1h; a longer request is shortened. 0 means no limit.',
  ),
  serviceAccountExtendTokenExpiration: flag(
    'Identity',
    type.boolean,
    true,
    'Whether the tokens that kubelets mount into pods are valid for a year.',
  ),
  serviceAccountJwksUri: flag(
    'Identity',
    type.secureUrl,
    undefined,
    'URL of the keys of the issuer in its discovery document. If not set, it is that of this server.',
  ),

  apiDomain: flag(
    'API',
    type.domain,
    defaultDomain,
    `Domain of API groups, labels and annotations. Use \`${compatibleDomain}\` for kubectl and other existing clients.`,
  ),
  serviceClusterIpRange: flag(
    'API',
    type.cidrs,
    [{ address: '10.0.0.0', prefix: 24 }],
    'Address block of cluster IPs, or one block per IP family; services use the first one by default. The serving certificate contains its first address.',
  ),
  serviceNodePortRange: flag('API', type.portRange, { from: 30_000, to: 32_767 }, 'Port range of node ports.'),
  ...apiFlags,

  enableGarbageCollector: flag(
    'API',
    type.boolean,
    false,
    'Whether a garbage collector runs in a separate controller manager. Jobs and replication controllers that are deleted without a propagation policy then wait for it to orphan their dependents, as they do when `garbage-collector-controller` is among the `--controllers`.',
  ),

  allowPrivileged: flag(
    'API',
    type.optionalBoolean,
    undefined,
    'Whether containers may be privileged, or host processes on Windows nodes. If not set, they may be when there are fake nodes, which run nothing.',
  ),
  enableAdmissionPlugins: flag(
    'API',
    type.someOf('admission plugin', allPlugins),
    [],
    `Admission plugins to enable in addition to the default ones: ${code(pluginsThatAre(false))}.`,
  ),
  disableAdmissionPlugins: flag(
    'API',
    type.someOf('admission plugin', allPlugins),
    [],
    `Admission plugins to disable. Enabled by default: ${code(pluginsThatAre(true))}.`,
  ),
  admissionControlConfigFile: flag(
    'API',
    type.file,
    undefined,
    'File with the configurations of admission plugins ([admission.md](admission.md)).',
  ),
  defaultNotReadyTolerationSeconds: flag(
    'API',
    type.integer(0, 1_000_000_000, 'seconds'),
    300,
    'Toleration in seconds that pods get for nodes that are not ready, unless they set their own.',
  ),
  defaultUnreachableTolerationSeconds: flag(
    'API',
    type.integer(0, 1_000_000_000, 'seconds'),
    300,
    'Toleration in seconds that pods get for unreachable nodes, unless they set their own.',
  ),

  kubeletCertificateAuthority: flag(
    'Nodes',
    type.file,
    undefined,
    'CA bundle in PEM for the serving certificates of kubelets. If not set, the certificates of kubelets are not verified.',
  ),
  kubeletClientCertificate: flag(
    'Nodes',
    type.file,
    undefined,
    'Client certificate in PEM for connections to kubelets.',
  ),
  kubeletClientKey: flag(
    'Nodes',
    type.file,
    undefined,
    'Private key of `--kubelet-client-certificate` in PEM. Others must not have access to the file.',
  ),
  kubeletPreferredAddressTypes: flag(
    'Nodes',
    type.someOf('type of address', nodeAddressTypes),
    nodeAddressTypes,
    'Types of node addresses in order of preference. The first one that a node has is used to connect to its kubelet.',
  ),
  kubeletTimeout: flag(
    'Nodes',
    type.duration,
    5_000,
    'Timeout of connections to kubelets, and to pods and nodes through the proxy. 0 means no limit.',
  ),

  proxyClientCertFile: flag(
    'API',
    type.file,
    undefined,
    'Client certificate in PEM by which aggregated API servers recognise this server ([aggregation.md](aggregation.md)). A changed file takes effect within a minute.',
  ),
  proxyClientKeyFile: flag(
    'API',
    type.file,
    undefined,
    'Private key of `--proxy-client-cert-file` in PEM. Others must not have access to the file.',
  ),
  enableAggregatorRouting: flag(
    'API',
    type.boolean,
    false,
    'Whether requests to aggregated API servers go to an endpoint of their Service rather than to its cluster IP.',
  ),

  ...storeFlags,

  encryptionProviderConfig: flag(
    'Store',
    type.file,
    undefined,
    'File that configures which resources are encrypted in the store, and with which keys ([encryption.md](encryption.md)). Others must not have access to the file.',
  ),
  encryptionProviderConfigAutomaticReload: flag(
    'Store',
    type.boolean,
    false,
    'Whether a changed file of `--encryption-provider-config` takes effect within a minute. An invalid file, or one with unhealthy KMS plugins, does not.',
  ),

  ...controllerFlags,
  controllersThread: flag(
    'Controllers',
    type.boolean,
    true,
    'Whether controllers run in a separate thread, so that requests do not wait for them. By default the controllers of an embedded server run in the thread of the program.',
  ),
  fakeNodes: flag(
    'Controllers',
    type.integer(0, maxFakeNodes),
    0,
    'Number of fake nodes. Pods are bound to them, start, become ready and end ([controllers.md](controllers.md#fake-nodes)), but nothing runs.',
  ),

  demo: flag(
    'Controllers',
    type.boolean,
    false,
    'Whether to create example objects in the namespace `demo`: deployments, jobs, a custom resource, a quota. Without `--fake-nodes` there are three fake nodes. At the next start deleted objects are created again; modified fields stay as they are.',
  ),

  ...consoleFlags,
  ...auditFlags,

  enablePriorityAndFairness: flag(
    'Limits',
    type.boolean,
    true,
    'Give each request a seat of its priority level, for which it waits in fair queues. The sum of --max-requests-inflight and --max-mutating-requests-inflight is the number of seats. If false, these two flags are limits of their own.',
  ),
  maxRequestsInflight: flag(
    'Limits',
    type.integer(0, 1_000_000),
    400,
    'With --enable-priority-and-fairness=false, the maximum number of concurrent read requests; further ones are rejected with 429. One user may use at most as many as remain free for all others, and members of system:masters are not limited. Watches do not count. 0 means no limit. Otherwise a part of the number of seats.',
  ),
  maxMutatingRequestsInflight: flag('Limits', type.integer(0, 1_000_000), 200, 'The same for write requests.'),
  minRequestTimeout: flag(
    'Limits',
    type.integer(1, 2_000_000, 'seconds'),
    1800,
    'Minimum duration in seconds of a watch without a timeout. Each ends after a random time up to twice as long, so that clients do not all reconnect at once.',
  ),
  livezGracePeriod: flag(
    'Limits',
    type.duration,
    0,
    'Period after the start in which `/livez` succeeds although a post-start hook is not finished.',
  ),
  shutdownDelayDuration: flag(
    'Limits',
    type.duration,
    0,
    'How long the server keeps serving after a termination signal, while `/readyz` already fails.',
  ),
  shutdownGracePeriod: flag(
    'Limits',
    type.duration,
    20_000,
    'How long requests in flight may then take to finish before their connections are closed.',
  ),

  workers: flag(
    'Process',
    type.integer(1, 64),
    1,
    'Number of processes that serve requests, each with a core of its own at best. The first one has the store and runs the controllers; connections are spread over all ([performance.md](performance.md#several-cores)).',
  ),
  logLevel: processFlags.logLevel,
  logFormat: processFlags.logFormat,
  tracingConfigFile: flag(
    'Process',
    type.file,
    undefined,
    'File that configures where traces are sent, and how many requests are sampled ([observability.md](observability.md#traces)).',
  ),
  profiling: flag(
    'Process',
    type.boolean,
    true,
    'Whether administrators can take CPU and memory profiles below `/debug/pprof/`.',
  ),
  ...metricFlags,
  config: processFlags.config,
};

/** The values of all flags. */
export type Settings = SettingsOf<typeof flags>;
export type FlagKey = keyof Settings;

/** The settings of a server. An embedded server may have no log. */
export type ServerSettings = Omit<Settings, 'logLevel'> & { readonly logLevel: Settings['logLevel'] | undefined };

/** The flags as a list. */
export const flagList = listOf(flags);

/** The defaults of a server process. */
export const defaultSettings = defaultsOf(flags);

/** The defaults of an embedded server: memory store, no log, controllers in the thread of the program without rate limit. */
export const programSettings: ServerSettings = {
  ...defaultSettings,
  store: 'memory',
  logLevel: undefined,
  controllersThread: false,
  kubeApiQps: 0,
};

/** Flags that must be set together. */
const pairs: readonly (readonly FlagKey[])[] = [
  ['tlsCertFile', 'tlsPrivateKeyFile'],
  ['kubeletClientCertificate', 'kubeletClientKey'],
  ['proxyClientCertFile', 'proxyClientKeyFile'],
  ['clusterSigningCertFile', 'clusterSigningKeyFile'],
  ['etcdCertfile', 'etcdKeyfile'],
];

function problemsOf(settings: ServerSettings, nameOf: (key: FlagKey) => string): string[] {
  const { enableAdmissionPlugins: on, disableAdmissionPlugins: off } = settings;
  const isSet = (key: FlagKey) => settings[key] !== undefined;
  return [
    ...pairs
      .filter((pair) => pair.some(isSet) && !pair.every(isSet))
      .map((pair) => `${pair.map(nameOf).join(' and ')} must be given together`),
    ...on
      .filter((word) => off.includes(word))
      .map((name) => `${nameOf('enableAdmissionPlugins')} and ${nameOf('disableAdmissionPlugins')} both name ${name}`),
    ...apiProblems(settings, nameOf),
    ...storeProblems(settings, nameOf),
    ...(settings.encryptionProviderConfigAutomaticReload && !isSet('encryptionProviderConfig')
      ? [`${nameOf('encryptionProviderConfigAutomaticReload')} needs ${nameOf('encryptionProviderConfig')}`]
      : []),
    ...leaseProblems(settings, nameOf),
  ];
}

/** The flags of `orch serve`, and the settings of an embedded server. */
export const serverTable: FlagTable<Settings> = { list: flagList, defaults: defaultSettings, problemsOf };
export const programTable: FlagTable<ServerSettings> = { list: flagList, defaults: programSettings, problemsOf };
