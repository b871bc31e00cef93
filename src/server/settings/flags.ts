import { admissionPlugins } from '../../admission/index.ts';
import { maxFakeNodes } from '../../controllers/index.ts';
import { apiRelease, compatibleDomain, defaultDomain } from '../../meta/index.ts';
import { auditFlags } from './audit-flags.ts';
import { authorizationFlags } from './authorization-flags.ts';
import { certificateFlags } from './certificate-flags.ts';
import { controllerFlags, leaseProblems } from './controller-flags.ts';
import { checkGate } from './feature-gates.ts';
import { defaultsOf, type FlagTable, flag, listOf, type SettingsOf } from './flag.ts';
import * as type from './flag-types.ts';
import { authenticationFlags, openIdFlags } from './openid-flags.ts';
import { processFlags } from './process-flags.ts';
import { requestHeaderFlags } from './request-header-flags.ts';
import { checkRuntimeKey } from './runtime-config.ts';
import { storeFlags, storeProblems } from './store-flags.ts';
import { tokenWebhookFlags } from './token-webhook-flags.ts';

const pluginNames = (on: boolean): string[] =>
  admissionPlugins.filter((plugin) => plugin.on === on).map(({ name }) => name);
const nodeAddressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];
const allPlugins = [...pluginNames(true), ...pluginNames(false)];
const code = (words: readonly string[]): string => words.map((word) => `\`${word}\``).join(', ');

const anyText = () => undefined;
const issuerProblem = (issuer: string) =>
  issuer.includes(':') && !URL.canParse(issuer) ? `must be a URL; ${JSON.stringify(issuer)} is not` : undefined;

/** All flags, in the order of the documentation. */
const flags = {
  bindAddress: flag('Address', type.ipAddress, '127.0.0.1', 'Address to listen on; 0.0.0.0 or :: for all.'),
  securePort: flag('Address', type.port, 6443, 'Port for HTTPS; 0 picks a free one.'),
  advertiseAddress: flag(
    'Address',
    type.optionalIpAddress,
    undefined,
    'Address under which others reach the server: the endpoint of its own service. Without one it is `--bind-address`, or the first address of the machine when that is a loopback address or stands for all. The serving certificate names it when it is given.',
  ),
  endpointReconcilerType: flag(
    'Address',
    type.oneOf('lease', 'none'),
    'lease',
    'How the service of the API server gets its endpoints: with `lease` each server adds its address while it lives; with `none` somebody else writes them.',
  ),
  tlsCertFile: flag(
    'Address',
    type.file,
    undefined,
    'Serving certificate in PEM, followed by those that signed it. Without one, a certificate and its authority are kept in the data directory.',
  ),
  tlsPrivateKeyFile: flag(
    'Address',
    type.file,
    undefined,
    'Private key of `--tls-cert-file`, in PEM, closed to others.',
  ),

  clientCaFile: flag(
    'Identity',
    type.file,
    undefined,
    'Certificate authorities in PEM. Whoever shows a certificate that one of them signed is the user of its common name, in the groups of its organizations. A changed file takes effect within a minute.',
  ),
  ...requestHeaderFlags,
  ...certificateFlags,
  tokenAuthFile: flag(
    'Identity',
    type.file,
    undefined,
    'Bearer tokens in CSV: `token,user,uid,"group1,group2"`; the groups may be left out, or be in several columns.',
  ),
  ...openIdFlags,
  ...tokenWebhookFlags,
  ...authenticationFlags,
  ...authorizationFlags,

  enableBootstrapTokenAuth: flag(
    'Identity',
    type.boolean,
    false,
    'Secrets of the type for bootstrap tokens in the system namespace are bearer tokens.',
  ),
  serviceAccountKeyFile: flag(
    'Identity',
    type.texts('file', anyText),
    [],
    'Files with RSA or ECDSA keys in PEM, public or private, or certificates, which verify tokens of service accounts beside the signing key. Without one, `--tls-private-key-file` is used. Files with private keys must be closed to others. A changed file takes effect at the next start.',
  ),
  serviceAccountSigningKeyFile: flag(
    'Identity',
    type.file,
    undefined,
    'RSA or ECDSA private key in PEM, closed to others, which signs tokens of service accounts. Without one, a key is generated and kept in the store, where all servers of the store share it. A changed file takes effect at the next start.',
  ),
  serviceAccountIssuer: flag(
    'Identity',
    type.texts('issuer', issuerProblem),
    [],
    'Issuers whose tokens of service accounts are accepted; the first one issues. Without one it is the URL of the API service in the cluster domain `cluster.local`.',
  ),
  apiAudiences: flag(
    'Identity',
    type.texts('audience', anyText),
    [],
    'Audiences of this server: a token must be for one of them. Without any, they are the issuers.',
  ),
  serviceAccountLookup: flag(
    'Identity',
    type.boolean,
    true,
    'A token of a service account that is kept in a secret is valid only while the secret exists.',
  ),
  serviceAccountMaxTokenExpiration: flag(
    'Identity',
    type.duration,
    0,
    'The longest time for which a requested token of a service account is valid, at least 1h; a longer request is shortened. 0 is no limit.',
  ),
  serviceAccountExtendTokenExpiration: flag(
    'Identity',
    type.boolean,
    true,
    'Tokens that kubelets mount into pods are valid for a year.',
  ),
  serviceAccountJwksUri: flag(
    'Identity',
    type.secureUrl,
    undefined,
    'URL of the keys of the issuer in its discovery document. Without one it is that of this server.',
  ),

  apiDomain: flag(
    'API',
    type.domain,
    defaultDomain,
    `Domain of API groups, labels and annotations. \`${compatibleDomain}\` serves kubectl and other existing clients.`,
  ),
  serviceClusterIpRange: flag(
    'API',
    type.cidrs,
    [{ address: '10.0.0.0', prefix: 24 }],
    'Address block of services, or one of each family: the first one is that of services that ask for no family. The serving certificate names its first address.',
  ),
  serviceNodePortRange: flag(
    'API',
    type.portRange,
    { from: 30_000, to: 32_767 },
    'Ports that services may have on every node.',
  ),
  featureGates: flag(
    'API',
    type.switches(checkGate),
    new Map(),
    'Features to switch on or off: those of the table of features.',
  ),
  runtimeConfig: flag(
    'API',
    type.switches(checkRuntimeKey, true),
    new Map(),
    'Parts of the API to switch on or off: a version (`batch/v1`, `v1`), a resource of a version (`apps/v1/deployments`), or `api/all`, `api/ga`, `api/beta`, `api/alpha`. The narrower key is the stronger one; without any, released versions are on, alpha and beta versions off.',
  ),

  enableGarbageCollector: flag(
    'API',
    type.boolean,
    false,
    'A garbage collector runs elsewhere, in a controller manager. Jobs and replication controllers that are deleted without a propagation policy wait for it to orphan their dependents, as they do where `garbage-collector-controller` is among the `--controllers`.',
  ),

  allowPrivileged: flag(
    'API',
    type.optionalBoolean,
    undefined,
    'Containers may be privileged, and processes of the host on Windows nodes. Unless it is set they may where there are fake nodes, which run nothing.',
  ),
  enableAdmissionPlugins: flag(
    'API',
    type.someOf('admission plugin', allPlugins),
    [],
    `Admission plugins to switch on beside those that are on anyway: ${code(pluginNames(false))}.`,
  ),
  disableAdmissionPlugins: flag(
    'API',
    type.someOf('admission plugin', allPlugins),
    [],
    `Admission plugins to switch off, of those that are on: ${code(pluginNames(true))}.`,
  ),
  admissionControlConfigFile: flag(
    'API',
    type.file,
    undefined,
    'Configurations of admission plugins, as in [admission.md](admission.md).',
  ),
  defaultNotReadyTolerationSeconds: flag(
    'API',
    type.integer(0, 1_000_000_000, 'seconds'),
    300,
    'How long pods stay on a node that is no longer ready, when they do not say so themselves.',
  ),
  defaultUnreachableTolerationSeconds: flag(
    'API',
    type.integer(0, 1_000_000_000, 'seconds'),
    300,
    'How long pods stay on a node that cannot be reached any more, when they do not say so themselves.',
  ),

  kubeletCertificateAuthority: flag(
    'Nodes',
    type.file,
    undefined,
    'Certificate authorities in PEM for the serving certificates of kubelets. Without them the certificate of a kubelet is not verified.',
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
    'Private key of `--kubelet-client-certificate`, in PEM, closed to others.',
  ),
  kubeletPreferredAddressTypes: flag(
    'Nodes',
    type.someOf('type of address', nodeAddressTypes),
    nodeAddressTypes,
    'Types of node addresses in order of preference; a kubelet is reached under the first one that its node has.',
  ),
  kubeletTimeout: flag(
    'Nodes',
    type.duration,
    5_000,
    'Timeout for connecting to a kubelet, or to what runs on a node. 0 is no limit.',
  ),

  ...storeFlags,

  encryptionProviderConfig: flag(
    'Store',
    type.file,
    undefined,
    'Which resources are encrypted in the store, and with which keys, as in [encryption.md](encryption.md). The file must be closed to others.',
  ),
  encryptionProviderConfigAutomaticReload: flag(
    'Store',
    type.boolean,
    false,
    'A changed file of `--encryption-provider-config` takes effect within a minute; one that is invalid, or whose KMS plugins are not healthy, does not.',
  ),

  ...controllerFlags,
  controllersThread: flag(
    'Controllers',
    type.boolean,
    true,
    'Controllers run in a thread of their own, so that requests do not wait for them. Those of a server that is embedded in a program run in its thread unless this is set.',
  ),
  fakeNodes: flag(
    'Controllers',
    type.integer(0, maxFakeNodes),
    0,
    'How many fake nodes there are: pods are bound to them, start, become ready and end there as [controllers.md](controllers.md#fake-nodes) describes, and nothing is run.',
  ),

  demo: flag(
    'Controllers',
    type.boolean,
    false,
    'Fills the namespace `demo` with a few objects to look at: deployments, jobs, a custom type, a quota. Without `--fake-nodes` there are three. What somebody has changed stays as it is at the next start; what was deleted is made again.',
  ),

  ...auditFlags,

  maxRequestsInflight: flag(
    'Limits',
    type.integer(0, 1_000_000),
    400,
    'Reading requests served at one time; more are told to come back later. A user may have as many of them as are left free for all others. Watches do not count. 0 is no limit.',
  ),
  maxMutatingRequestsInflight: flag(
    'Limits',
    type.integer(0, 1_000_000),
    200,
    'Writing requests served at one time; more are told to come back later. A user may have as many of them as are left free for all others. 0 is no limit.',
  ),
  minRequestTimeout: flag(
    'Limits',
    type.integer(1, 2_000_000, 'seconds'),
    1800,
    'Seconds after which a watch without a time of its own ends at the earliest; some end up to twice as late, so that clients do not all return at once.',
  ),
  livezGracePeriod: flag(
    'Limits',
    type.duration,
    0,
    'How long after its start `/livez` passes although something that the server does once at its start is not finished.',
  ),
  shutdownDelayDuration: flag(
    'Limits',
    type.duration,
    0,
    'How long the server goes on serving after a signal to end, while `/readyz` already fails.',
  ),
  shutdownGracePeriod: flag(
    'Limits',
    type.duration,
    20_000,
    'How long requests under way may take to finish after that; then connections are cut.',
  ),

  logLevel: processFlags.logLevel,
  logFormat: processFlags.logFormat,
  tracingConfigFile: flag(
    'Process',
    type.file,
    undefined,
    'Where traces of requests are sent, and how many requests are sampled, as in [observability.md](observability.md#traces).',
  ),
  profiling: flag(
    'Process',
    type.boolean,
    true,
    'Administrators can take profiles of processor time and memory below `/debug/pprof/`.',
  ),
  showHiddenMetricsForVersion: flag(
    'Process',
    type.releaseBefore(apiRelease),
    undefined,
    'Also shows the metrics that are hidden since this release, which must be the one before: none is at present.',
  ),
  config: processFlags.config,
};

/** The values of all flags. */
export type Settings = SettingsOf<typeof flags>;
export type FlagKey = keyof Settings;

/** The settings of a server; an embedded server may have no log. */
export type ServerSettings = Omit<Settings, 'logLevel'> & { readonly logLevel: Settings['logLevel'] | undefined };

/** The flags as a list. */
export const flagList = listOf(flags);

/** The defaults of a server process. */
export const defaultSettings = defaultsOf(flags);

/** The defaults of an embedded server: memory store, no log; controllers in its thread, whose requests have no limit. */
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
