// Generated from `flags.ts` by `npx vitest run src/server/settings -u`.

/** The settings of an embedded server: the flags of `orch serve`, with names in camel case. */
export interface ServerOptions {
  /**
   * Address to listen on; 0.0.0.0 or :: for all addresses.
   *
   * An IP address. Default: `127.0.0.1`. Flag: `--bind-address`.
   */
  readonly bindAddress?: string | undefined;
  /**
   * Port for HTTPS; 0 picks a free port.
   *
   * A whole number from 0 to 65535. Default: `6443`. Flag: `--secure-port`.
   */
  readonly securePort?: number | string | undefined;
  /**
   * Serves HTTP/1.1 only: no client can use a flaw of HTTP/2 or of its implementation in Node.
   *
   * True or false. Default: `false`. Flag: `--disable-http2-serving`.
   */
  readonly disableHttp2Serving?: boolean | undefined;
  /**
   * Address at which others reach the server: the endpoint of the API service. If not set, it is `bindAddress`, or the
   * first address of the machine when that is a loopback address or means all addresses. A configured address is added
   * to the serving certificate.
   *
   * An IP address. No default. Flag: `--advertise-address`.
   */
  readonly advertiseAddress?: string | undefined;
  /**
   * How the endpoints of the API service are maintained: with `lease` each server adds its address while it runs; with
   * `none` they are left to others.
   *
   * One of these words. Default: `lease`. Flag: `--endpoint-reconciler-type`.
   */
  readonly endpointReconcilerType?: 'lease' | 'none' | undefined;
  /**
   * Serving certificate in PEM, followed by its intermediate certificates. If not set, the server generates a
   * certificate and its authority in the data directory.
   *
   * The path of a file. No default. Flag: `--tls-cert-file`.
   */
  readonly tlsCertFile?: string | undefined;
  /**
   * Private key of `tlsCertFile` in PEM. Others must not have access to the file.
   *
   * The path of a file. No default. Flag: `--tls-private-key-file`.
   */
  readonly tlsPrivateKeyFile?: string | undefined;
  /**
   * CA bundle in PEM for client certificates. A client with a certificate that one of them signed is authenticated as
   * the user of its common name, in the groups of its organizations. A changed file takes effect within a minute.
   *
   * The path of a file. No default. Flag: `--client-ca-file`.
   */
  readonly clientCaFile?: string | undefined;
  /**
   * CA bundle in PEM for the client certificates of authenticating proxies. A request over a connection with such a
   * certificate is authenticated as the user in its headers. A changed file takes effect within a minute.
   *
   * The path of a file. No default. Flag: `--requestheader-client-ca-file`.
   */
  readonly requestheaderClientCaFile?: string | undefined;
  /**
   * Allowed common names in the client certificates of authenticating proxies. If not set, every certificate of
   * `requestheaderClientCaFile` is accepted.
   *
   * A list of texts, or a text with commas between them. No default. Flag: `--requestheader-allowed-names`.
   */
  readonly requestheaderAllowedNames?: string | readonly string[] | undefined;
  /**
   * Headers with the user name; the first one that is not empty counts. `X-Remote-User` is common.
   *
   * A list of texts, or a text with commas between them. No default. Flag: `--requestheader-username-headers`.
   */
  readonly requestheaderUsernameHeaders?: string | readonly string[] | undefined;
  /**
   * Headers with the uid of the user; the first one that is not empty counts. Must include `X-Remote-Uid`. Requires the
   * feature `RemoteRequestHeaderUID`.
   *
   * A list of texts, or a text with commas between them. No default. Flag: `--requestheader-uid-headers`.
   */
  readonly requestheaderUidHeaders?: string | readonly string[] | undefined;
  /**
   * Headers with the groups of the user, one group per header. `X-Remote-Group` is common.
   *
   * A list of texts, or a text with commas between them. No default. Flag: `--requestheader-group-headers`.
   */
  readonly requestheaderGroupHeaders?: string | readonly string[] | undefined;
  /**
   * Prefixes of headers with extra attributes of the user; the percent-decoded rest of the header name is the key.
   * `X-Remote-Extra-` is common.
   *
   * A list of texts, or a text with commas between them. No default. Flag: `--requestheader-extra-headers-prefix`.
   */
  readonly requestheaderExtraHeadersPrefix?: string | readonly string[] | undefined;
  /**
   * CA bundle in PEM with which pods verify this server. It is published in every namespace and in the token secrets of
   * service accounts. If not set, it is the authority of the serving certificate, or the certificates of `tlsCertFile`.
   * A changed file takes effect within a minute.
   *
   * The path of a file. No default. Flag: `--root-ca-file`.
   */
  readonly rootCaFile?: string | undefined;
  /**
   * CA certificate in PEM that signs approved certificate signing requests. If not set, it is the authority of the data
   * directory, whose client certificates this server accepts. A changed file takes effect within a minute.
   *
   * The path of a file. No default. Flag: `--cluster-signing-cert-file`.
   */
  readonly clusterSigningCertFile?: string | undefined;
  /**
   * Private key of `clusterSigningCertFile` in PEM. Others must not have access to the file.
   *
   * The path of a file. No default. Flag: `--cluster-signing-key-file`.
   */
  readonly clusterSigningKeyFile?: string | undefined;
  /**
   * Maximum validity of the certificates signed for certificate signing requests; a request may ask for less.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. Default: `8760h`. Flag:
   * `--cluster-signing-duration`.
   */
  readonly clusterSigningDuration?: number | string | undefined;
  /**
   * How long an auto-generated service account token in a secret may be unused before it is marked as invalid; it is
   * deleted after the same time again.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. Default: `8760h`. Flag:
   * `--legacy-service-account-token-clean-up-period`.
   */
  readonly legacyServiceAccountTokenCleanUpPeriod?: number | string | undefined;
  /**
   * File of static bearer tokens in CSV: `token,user,uid,"group1,group2"`. Groups are optional and may be in several
   * columns.
   *
   * The path of a file. No default. Flag: `--token-auth-file`.
   */
  readonly tokenAuthFile?: string | undefined;
  /**
   * https URL of an OpenID Connect identity provider whose ID tokens are accepted as bearer tokens
   * ([access-providers.md](access-providers.md)). Requires `oidcClientId`.
   *
   * A text. No default. Flag: `--oidc-issuer-url`.
   */
  readonly oidcIssuerUrl?: string | undefined;
  /**
   * Client ID: the audience that a token of the provider must have.
   *
   * A text. No default. Flag: `--oidc-client-id`.
   */
  readonly oidcClientId?: string | undefined;
  /**
   * Claim with the name of the user; `sub` by default.
   *
   * A text. No default. Flag: `--oidc-username-claim`.
   */
  readonly oidcUsernameClaim?: string | undefined;
  /**
   * Prefix of user names; `-` means none. If not set, it is the URL of the provider and `#`, or none for the claim
   * `email`.
   *
   * A text. No default. Flag: `--oidc-username-prefix`.
   */
  readonly oidcUsernamePrefix?: string | undefined;
  /**
   * Claim with the groups of the user: a list of strings, or one string. If not set, the user is in no group of the
   * provider.
   *
   * A text. No default. Flag: `--oidc-groups-claim`.
   */
  readonly oidcGroupsClaim?: string | undefined;
  /**
   * Prefix of group names.
   *
   * A text. No default. Flag: `--oidc-groups-prefix`.
   */
  readonly oidcGroupsPrefix?: string | undefined;
  /**
   * Claims that a token must have with these values. May be repeated.
   *
   * A list of texts, or a text with commas between them. No default. Flag: `--oidc-required-claim`.
   */
  readonly oidcRequiredClaim?: string | readonly string[] | undefined;
  /**
   * CA bundle in PEM with which the certificate of the provider is verified. If not set, the authorities that Node
   * trusts are used.
   *
   * The path of a file. No default. Flag: `--oidc-ca-file`.
   */
  readonly oidcCaFile?: string | undefined;
  /**
   * Algorithms with which tokens may be signed, `RS256` by default: `RS256`, `RS384`, `RS512`, `ES256`, `ES384`,
   * `ES512`, `PS256`, `PS384`, `PS512`.
   *
   * A list of texts, or a text with commas between them. No default. Flag: `--oidc-signing-algs`.
   */
  readonly oidcSigningAlgs?: string | readonly string[] | undefined;
  /**
   * Kubeconfig whose current context is a webhook that authenticates bearer tokens unknown to the server (TokenReview).
   * Its server must be an https URL.
   *
   * The path of a file. No default. Flag: `--authentication-token-webhook-config-file`.
   */
  readonly authenticationTokenWebhookConfigFile?: string | undefined;
  /**
   * Kubeconfig of an API server that authenticates the bearer tokens unknown to this one (TokenReview), for an
   * extension API server ([aggregation.md](aggregation.md)). In place of a webhook. Without
   * `requestheaderClientCaFile`, the settings of authenticating proxies are those of this API server.
   *
   * The path of a file. No default. Flag: `--authentication-kubeconfig`.
   */
  readonly authenticationKubeconfig?: string | undefined;
  /**
   * Version of the TokenReview that the webhook receives and returns: `v1beta1` or `v1`.
   *
   * A text. Default: `v1beta1`. Flag: `--authentication-token-webhook-version`.
   */
  readonly authenticationTokenWebhookVersion?: string | undefined;
  /**
   * How long responses of the webhook are cached, except for errors. 0 disables the cache.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. Default: `2m`. Flag:
   * `--authentication-token-webhook-cache-ttl`.
   */
  readonly authenticationTokenWebhookCacheTtl?: number | string | undefined;
  /**
   * File that configures identity providers and the paths that are served without credentials
   * ([access-providers.md](access-providers.md)), in place of the flags `--oidc-*`. A changed file takes effect within
   * a minute or two; an invalid one does not.
   *
   * The path of a file. No default. Flag: `--authentication-config`.
   */
  readonly authenticationConfig?: string | undefined;
  /**
   * Whether requests without credentials are served, as the user `system:anonymous` in the group
   * `system:unauthenticated`; they are by default. Must not be combined with the field `anonymous` of the file of
   * `authenticationConfig`.
   *
   * True or false. No default. Flag: `--anonymous-auth`.
   */
  readonly anonymousAuth?: boolean | undefined;
  /**
   * Ordered list of authorizers: `AlwaysAllow`, `AlwaysDeny`, `ABAC`, `Webhook`, `RBAC`, `Node`, each at most once;
   * `RBAC` if not set. The first one that allows or denies a request decides; a request that none allows is denied.
   * `RBAC` grants the permissions of roles, `ABAC` those of the policies in `authorizationPolicyFile`. `Webhook` calls
   * the webhook of `authorizationWebhookConfigFile`. `Node` lets kubelets read and write the objects of their node and
   * its pods. Members of `system:masters` are always allowed. With `AlwaysAllow`, requests without credentials are
   * rejected.
   *
   * A list of names, or a text with commas between them. No default. Flag: `--authorization-mode`.
   */
  readonly authorizationMode?: string | readonly string[] | undefined;
  /**
   * File that configures the authorizers ([access-authorization.md](access-authorization.md)), in place of
   * `authorizationMode` and the webhook flags. A changed file takes effect within a minute; an invalid one does not.
   *
   * The path of a file. No default. Flag: `--authorization-config`.
   */
  readonly authorizationConfig?: string | undefined;
  /**
   * File with the policies of the authorization mode `ABAC`: one JSON object per line.
   *
   * The path of a file. No default. Flag: `--authorization-policy-file`.
   */
  readonly authorizationPolicyFile?: string | undefined;
  /**
   * Kubeconfig of the webhook of the authorization mode `Webhook` ([access-authorization.md](access-authorization.md)).
   *
   * The path of a file. No default. Flag: `--authorization-webhook-config-file`.
   */
  readonly authorizationWebhookConfigFile?: string | undefined;
  /**
   * Version of the SubjectAccessReview that the webhook receives and returns: `v1beta1` (the default) or `v1`.
   *
   * A text. No default. Flag: `--authorization-webhook-version`.
   */
  readonly authorizationWebhookVersion?: string | undefined;
  /**
   * How long a decision of the webhook to allow a request is cached; five minutes by default, 0 disables the cache.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. No default. Flag:
   * `--authorization-webhook-cache-authorized-ttl`.
   */
  readonly authorizationWebhookCacheAuthorizedTtl?: number | string | undefined;
  /**
   * Kubeconfig of an API server that authorizes the requests that no other authorizer allows or denies
   * (SubjectAccessReview), for an extension API server ([aggregation.md](aggregation.md)). Without `authorizationMode`
   * it authorizes all requests.
   *
   * The path of a file. No default. Flag: `--authorization-kubeconfig`.
   */
  readonly authorizationKubeconfig?: string | undefined;
  /**
   * How long a decision of the webhook not to allow a request is cached; 30 seconds by default, 0 disables the cache.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. No default. Flag:
   * `--authorization-webhook-cache-unauthorized-ttl`.
   */
  readonly authorizationWebhookCacheUnauthorizedTtl?: number | string | undefined;
  /**
   * Whether secrets of the bootstrap token type in the system namespace are accepted as bearer tokens.
   *
   * True or false. Default: `false`. Flag: `--enable-bootstrap-token-auth`.
   */
  readonly enableBootstrapTokenAuth?: boolean | undefined;
  /**
   * Files with RSA or ECDSA keys (public or private) or certificates in PEM that verify service account tokens, in
   * addition to the signing key. If not set, `tlsPrivateKeyFile` is used. Others must not have access to files with
   * private keys. A changed file takes effect at the next start.
   *
   * A list of texts, or a text with commas between them. No default. Flag: `--service-account-key-file`.
   */
  readonly serviceAccountKeyFile?: string | readonly string[] | undefined;
  /**
   * RSA or ECDSA private key in PEM that signs service account tokens. Others must not have access to the file. If not
   * set, a key is generated in the store and shared by all servers of the store. A changed file takes effect at the
   * next start.
   *
   * The path of a file. No default. Flag: `--service-account-signing-key-file`.
   */
  readonly serviceAccountSigningKeyFile?: string | undefined;
  /**
   * Issuers whose service account tokens are accepted; new tokens are issued by the first one. If not set, the issuer
   * is the URL of the API service in the cluster domain `cluster.local`.
   *
   * A list of texts, or a text with commas between them. No default. Flag: `--service-account-issuer`.
   */
  readonly serviceAccountIssuer?: string | readonly string[] | undefined;
  /**
   * Audiences of this server: a token must be issued for one of them. If not set, they are the issuers.
   *
   * A list of texts, or a text with commas between them. No default. Flag: `--api-audiences`.
   */
  readonly apiAudiences?: string | readonly string[] | undefined;
  /**
   * Whether a service account token from a secret is valid only while the secret exists.
   *
   * True or false. Default: `true`. Flag: `--service-account-lookup`.
   */
  readonly serviceAccountLookup?: boolean | undefined;
  /**
   * Maximum validity of requested service account tokens, at least 1h; a longer request is shortened. 0 means no limit.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. Default: `0s`. Flag:
   * `--service-account-max-token-expiration`.
   */
  readonly serviceAccountMaxTokenExpiration?: number | string | undefined;
  /**
   * Whether the tokens that kubelets mount into pods are valid for a year.
   *
   * True or false. Default: `true`. Flag: `--service-account-extend-token-expiration`.
   */
  readonly serviceAccountExtendTokenExpiration?: boolean | undefined;
  /**
   * URL of the keys of the issuer in its discovery document. If not set, it is that of this server.
   *
   * An https URL. No default. Flag: `--service-account-jwks-uri`.
   */
  readonly serviceAccountJwksUri?: string | undefined;
  /**
   * Domain of API groups, labels and annotations. Use `k8s.io` for kubectl and other existing clients.
   *
   * A text such as 'example.org'. Default: `orch.io`. Flag: `--api-domain`.
   */
  readonly apiDomain?: string | undefined;
  /**
   * Address block of cluster IPs, or one block per IP family; services use the first one by default. The serving
   * certificate contains its first address.
   *
   * A text such as '10.0.0.0/24', or a list of such texts. Default: `10.0.0.0/24`. Flag: `--service-cluster-ip-range`.
   */
  readonly serviceClusterIpRange?: string | readonly string[] | undefined;
  /**
   * Port range of node ports.
   *
   * A text such as '30000-32767'. Default: `30000-32767`. Flag: `--service-node-port-range`.
   */
  readonly serviceNodePortRange?: string | undefined;
  /**
   * Kinds to serve: `full`, or `generic` for a control plane of your own, without pods, nodes, services, workloads and
   * storage ([versions.md](versions.md#a-control-plane-without-workloads)).
   *
   * One of these words. Default: `full`. Flag: `--api-profile`.
   */
  readonly apiProfile?: 'full' | 'generic' | undefined;
  /**
   * API release to serve: its versions, fields, gates and defaults, from 1.31 to 1.33
   * ([versions.md](versions.md#an-earlier-release)). If not set, it is 1.33.
   *
   * A minor release. No default. Flag: `--emulated-version`.
   */
  readonly emulatedVersion?: string | undefined;
  /**
   * Oldest API release to which the control plane can be rolled back. Expressions that are written may use functions of
   * this release only; `/version` and the metrics show it. If not set, it is the release before `emulatedVersion`.
   *
   * A minor release. No default. Flag: `--min-compatibility-version`.
   */
  readonly minCompatibilityVersion?: string | undefined;
  /**
   * Features to enable or disable; see the table of features.
   *
   * True or false by name, or a text such as 'name=true,other=false'. No default. Flag: `--feature-gates`.
   */
  readonly featureGates?: { readonly [name: string]: boolean } | string | undefined;
  /**
   * API versions and resources to enable or disable: a version (`batch/v1`, `v1`), a resource of a version
   * (`apps/v1/deployments`), or `api/all`, `api/ga`, `api/beta`, `api/alpha`. The most specific key decides. By default
   * stable versions are enabled, alpha and beta versions disabled.
   *
   * True or false by name, or a text such as 'name=true,other=false'. No default. Flag: `--runtime-config`.
   */
  readonly runtimeConfig?: { readonly [name: string]: boolean } | string | undefined;
  /**
   * Whether a garbage collector runs in a separate controller manager. Jobs and replication controllers that are
   * deleted without a propagation policy then wait for it to orphan their dependents, as they do when
   * `garbage-collector-controller` is among the `controllers`.
   *
   * True or false. Default: `false`. Flag: `--enable-garbage-collector`.
   */
  readonly enableGarbageCollector?: boolean | undefined;
  /**
   * Whether containers may be privileged, or host processes on Windows nodes. If not set, they may be when there are
   * fake nodes, which run nothing.
   *
   * True or false. No default. Flag: `--allow-privileged`.
   */
  readonly allowPrivileged?: boolean | undefined;
  /**
   * Admission plugins to enable in addition to the default ones: `AlwaysAdmit`, `NamespaceAutoProvision`,
   * `NamespaceExists`, `LimitPodHardAntiAffinityTopology`, `NodeRestriction`, `AlwaysPullImages`, `ImagePolicyWebhook`,
   * `PodNodeSelector`, `PodTolerationRestriction`, `EventRateLimit`, `ExtendedResourceToleration`,
   * `OwnerReferencesPermissionEnforcement`, `DenyServiceExternalIPs`, `AlwaysDeny`.
   *
   * A list of names, or a text with commas between them. No default. Flag: `--enable-admission-plugins`.
   */
  readonly enableAdmissionPlugins?: string | readonly string[] | undefined;
  /**
   * Admission plugins to disable. Enabled by default: `NamespaceLifecycle`, `LimitRanger`, `ServiceAccount`,
   * `TaintNodesByCondition`, `PodSecurity`, `Priority`, `DefaultTolerationSeconds`, `DefaultStorageClass`,
   * `StorageObjectInUseProtection`, `PersistentVolumeClaimResize`, `RuntimeClass`, `CertificateApproval`,
   * `CertificateSigning`, `ClusterTrustBundleAttest`, `CertificateSubjectRestriction`, `DefaultIngressClass`,
   * `PodTopologyLabels`, `MutatingAdmissionPolicy`, `MutatingAdmissionWebhook`, `ValidatingAdmissionPolicy`,
   * `ValidatingAdmissionWebhook`, `ResourceQuota`.
   *
   * A list of names, or a text with commas between them. No default. Flag: `--disable-admission-plugins`.
   */
  readonly disableAdmissionPlugins?: string | readonly string[] | undefined;
  /**
   * File with the configurations of admission plugins ([admission.md](admission.md)).
   *
   * The path of a file. No default. Flag: `--admission-control-config-file`.
   */
  readonly admissionControlConfigFile?: string | undefined;
  /**
   * Toleration in seconds that pods get for nodes that are not ready, unless they set their own.
   *
   * A whole number of seconds from 0 to 1000000000. Default: `300`. Flag: `--default-not-ready-toleration-seconds`.
   */
  readonly defaultNotReadyTolerationSeconds?: number | string | undefined;
  /**
   * Toleration in seconds that pods get for unreachable nodes, unless they set their own.
   *
   * A whole number of seconds from 0 to 1000000000. Default: `300`. Flag: `--default-unreachable-toleration-seconds`.
   */
  readonly defaultUnreachableTolerationSeconds?: number | string | undefined;
  /**
   * CA bundle in PEM for the serving certificates of kubelets. If not set, the certificates of kubelets are not
   * verified.
   *
   * The path of a file. No default. Flag: `--kubelet-certificate-authority`.
   */
  readonly kubeletCertificateAuthority?: string | undefined;
  /**
   * Client certificate in PEM for connections to kubelets.
   *
   * The path of a file. No default. Flag: `--kubelet-client-certificate`.
   */
  readonly kubeletClientCertificate?: string | undefined;
  /**
   * Private key of `kubeletClientCertificate` in PEM. Others must not have access to the file.
   *
   * The path of a file. No default. Flag: `--kubelet-client-key`.
   */
  readonly kubeletClientKey?: string | undefined;
  /**
   * Types of node addresses in order of preference. The first one that a node has is used to connect to its kubelet.
   *
   * A list of names, or a text with commas between them. Default:
   * `Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP`. Flag: `--kubelet-preferred-address-types`.
   */
  readonly kubeletPreferredAddressTypes?: string | readonly string[] | undefined;
  /**
   * Timeout of connections to kubelets, and to pods and nodes through the proxy. 0 means no limit.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. Default: `5s`. Flag: `--kubelet-timeout`.
   */
  readonly kubeletTimeout?: number | string | undefined;
  /**
   * Client certificate in PEM by which aggregated API servers recognise this server ([aggregation.md](aggregation.md)).
   * A changed file takes effect within a minute.
   *
   * The path of a file. No default. Flag: `--proxy-client-cert-file`.
   */
  readonly proxyClientCertFile?: string | undefined;
  /**
   * Private key of `proxyClientCertFile` in PEM. Others must not have access to the file.
   *
   * The path of a file. No default. Flag: `--proxy-client-key-file`.
   */
  readonly proxyClientKeyFile?: string | undefined;
  /**
   * Whether requests to aggregated API servers go to an endpoint of their Service rather than to its cluster IP.
   *
   * True or false. Default: `false`. Flag: `--enable-aggregator-routing`.
   */
  readonly enableAggregatorRouting?: boolean | undefined;
  /**
   * Where objects are stored: `lmdb` durably in the data directory, `memory` until the process ends, `etcd` in the
   * cluster of `etcdServers`, which any number of servers may share.
   *
   * One of these words. Default: `memory`. Flag: `--store`.
   */
  readonly store?: 'lmdb' | 'memory' | 'etcd' | undefined;
  /**
   * Folder for objects (with `--store=lmdb`), certificates and the kubeconfig. If not set, it is `./orch-data/`
   * followed by the API domain or, with `--store=memory`, a temporary folder that is removed at the end. Only the owner
   * has access to its secret files. Servers must not share a folder.
   *
   * The path of a folder. No default. Flag: `--data-dir`.
   */
  readonly dataDir?: string | undefined;
  /**
   * URLs of all members of the etcd cluster, 3.5.8 or newer.
   *
   * A list of texts, or a text with commas between them. No default. Flag: `--etcd-servers`.
   */
  readonly etcdServers?: string | readonly string[] | undefined;
  /**
   * CA bundle in PEM for the certificates of etcd. If not set, the authorities of the system are trusted. A changed
   * file takes effect with the next connection.
   *
   * The path of a file. No default. Flag: `--etcd-cafile`.
   */
  readonly etcdCafile?: string | undefined;
  /**
   * Client certificate in PEM for connections to etcd. A changed file takes effect with the next connection.
   *
   * The path of a file. No default. Flag: `--etcd-certfile`.
   */
  readonly etcdCertfile?: string | undefined;
  /**
   * Private key of `etcdCertfile` in PEM. Others must not have access to the file.
   *
   * The path of a file. No default. Flag: `--etcd-keyfile`.
   */
  readonly etcdKeyfile?: string | undefined;
  /**
   * Prefix of the keys of all objects in etcd. Servers with the same prefix are replicas of each other.
   *
   * A text such as '/registry'. Default: `/registry`. Flag: `--etcd-prefix`.
   */
  readonly etcdPrefix?: string | undefined;
  /**
   * How long earlier resourceVersions can be listed and watched from, counted while a server runs. 0 keeps them for
   * ever, and leaves the compaction of etcd to others.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. Default: `5m`. Flag:
   * `--etcd-compaction-interval`.
   */
  readonly etcdCompactionInterval?: number | string | undefined;
  /**
   * Maximum size in bytes of the changes that are kept for `etcdCompactionInterval`: beyond it the oldest are compacted
   * earlier ([history.md](history.md)). 0 means no limit.
   *
   * A whole number from 0 to 9007199254740991. Default: `0`. Flag: `--history-max-size`.
   */
  readonly historyMaxSize?: number | string | undefined;
  /**
   * Whether a GET of an object with `resourceVersion=V&resourceVersionMatch=Exact` returns the object as it was at V
   * ([history.md](history.md)). The reference server ignores `resourceVersionMatch` there.
   *
   * True or false. Default: `false`. Flag: `--object-history`.
   */
  readonly objectHistory?: boolean | undefined;
  /**
   * File that configures which resources are encrypted in the store, and with which keys
   * ([encryption.md](encryption.md)). Others must not have access to the file.
   *
   * The path of a file. No default. Flag: `--encryption-provider-config`.
   */
  readonly encryptionProviderConfig?: string | undefined;
  /**
   * Whether a changed file of `encryptionProviderConfig` takes effect within a minute. An invalid file, or one with
   * unhealthy KMS plugins, does not.
   *
   * True or false. Default: `false`. Flag: `--encryption-provider-config-automatic-reload`.
   */
  readonly encryptionProviderConfigAutomaticReload?: boolean | undefined;
  /**
   * Controllers to run: `name` enables one, `-name` disables it, `*` enables those that are on by default, `-*`
   * disables all others. The first item that matches a controller decides. Controllers: `garbage-collector-controller`,
   * `namespace-controller`, `resourcequota-controller`, `serviceaccount-controller`,
   * `clusterrole-aggregation-controller`, `deployment-controller`, `replicaset-controller`,
   * `replicationcontroller-controller`, `statefulset-controller`, `daemonset-controller`, `job-controller`,
   * `cronjob-controller`, `horizontal-pod-autoscaler-controller`, `disruption-controller`, `endpoints-controller`,
   * `endpointslice-controller`, `endpointslice-mirroring-controller`, `service-cidr-controller`,
   * `pod-garbage-collector-controller`, `ttl-after-finished-controller`, `persistentvolume-binder-controller`,
   * `persistentvolumeclaim-protection-controller`, `persistentvolume-protection-controller`,
   * `ephemeral-volume-controller`, `node-lifecycle-controller`, `taint-eviction-controller`, `ttl-controller`,
   * `validatingadmissionpolicy-status-controller`, `storage-version-migrator-controller`,
   * `serviceaccount-token-controller`, `certificatesigningrequest-signing-controller`,
   * `certificatesigningrequest-approving-controller`, `certificatesigningrequest-cleaner-controller`,
   * `bootstrap-signer-controller`, `token-cleaner-controller`, `root-ca-certificate-publisher-controller`,
   * `legacy-serviceaccount-token-cleaner-controller`.
   *
   * A list of names, or a text with commas between them. Default: `*`. Flag: `--controllers`.
   */
  readonly controllers?: string | readonly string[] | undefined;
  /**
   * Maximum number of requests per second of each controller; 0 means no limit, which is the default of a server that
   * is embedded in a program. The garbage collector may send twice as many, the namespace controller twenty times as
   * many. Informers and the nodes of `fakeNodes` have no limit.
   *
   * A whole number from 0 to 1000000. Default: `0`. Flag: `--kube-api-qps`.
   */
  readonly kubeApiQps?: number | string | undefined;
  /**
   * Maximum burst of requests of a controller after a period without any.
   *
   * A whole number from 1 to 1000000. Default: `30`. Flag: `--kube-api-burst`.
   */
  readonly kubeApiBurst?: number | string | undefined;
  /**
   * Whether controllers run only while this process holds the lease `kube-system/kube-controller-manager`, so that one
   * of several processes runs them.
   *
   * True or false. Default: `true`. Flag: `--leader-elect`.
   */
  readonly leaderElect?: boolean | undefined;
  /**
   * How long other processes wait for the leader to renew the lease before they acquire it; at least 1s.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. Default: `15s`. Flag:
   * `--leader-elect-lease-duration`.
   */
  readonly leaderElectLeaseDuration?: number | string | undefined;
  /**
   * How long the leader retries to renew the lease before it gives up; shorter than `leaderElectLeaseDuration`.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. Default: `10s`. Flag:
   * `--leader-elect-renew-deadline`.
   */
  readonly leaderElectRenewDeadline?: number | string | undefined;
  /**
   * Time between attempts to acquire or renew the lease; 1.2 times this must be shorter than
   * `leaderElectRenewDeadline`.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. Default: `2s`. Flag:
   * `--leader-elect-retry-period`.
   */
  readonly leaderElectRetryPeriod?: number | string | undefined;
  /**
   * Whether controllers run in a separate thread, so that requests do not wait for them. By default the controllers of
   * an embedded server run in the thread of the program.
   *
   * True or false. Default: `false`. Flag: `--controllers-thread`.
   */
  readonly controllersThread?: boolean | undefined;
  /**
   * Number of fake nodes. Pods are bound to them, start, become ready and end
   * ([controllers.md](controllers.md#fake-nodes)), but nothing runs.
   *
   * A whole number from 0 to 1000. Default: `0`. Flag: `--fake-nodes`.
   */
  readonly fakeNodes?: number | string | undefined;
  /**
   * Whether to create example objects in the namespace `demo`: deployments, jobs, a custom resource, a quota. Without
   * `fakeNodes` there are three fake nodes. At the next start deleted objects are created again; modified fields stay
   * as they are.
   *
   * True or false. Default: `false`. Flag: `--demo`.
   */
  readonly demo?: boolean | undefined;
  /**
   * Whether the console is served at `/console/`, a page to look at the cluster in a browser
   * ([console.md](console.md)). If not set, it is served with `demo`.
   *
   * True or false. No default. Flag: `--console`.
   */
  readonly console?: boolean | undefined;
  /**
   * Scopes that the console requests from OpenID Connect providers in addition to `openid`: many providers issue a
   * refresh token for `offline_access` only, and some the groups of the user for `groups` only
   * ([console.md](console.md#openid-connect)).
   *
   * A list of texts, or a text with commas between them. Default: `profile,email`. Flag: `--console-oidc-scopes`.
   */
  readonly consoleOidcScopes?: string | readonly string[] | undefined;
  /**
   * Audit policy file: which requests are recorded, and in how much detail. If not set, the default policy of
   * [audit.md](audit.md) applies once a log or a webhook is configured.
   *
   * The path of a file. No default. Flag: `--audit-policy-file`.
   */
  readonly auditPolicyFile?: string | undefined;
  /**
   * File to which audit events are appended; `-` means standard output. If not set, there is no audit log.
   *
   * The path of a file. No default. Flag: `--audit-log-path`.
   */
  readonly auditLogPath?: string | undefined;
  /**
   * Format of the audit log: `json` writes each event as a line of JSON, `legacy` as a line of text with some of its
   * fields.
   *
   * One of these words. Default: `json`. Flag: `--audit-log-format`.
   */
  readonly auditLogFormat?: 'json' | 'legacy' | undefined;
  /**
   * Maximum size of the audit log in megabytes before it is rotated; 0 means 100.
   *
   * A whole number from 0 to 1000000. Default: `0`. Flag: `--audit-log-maxsize`.
   */
  readonly auditLogMaxsize?: number | string | undefined;
  /**
   * Maximum age in days of rotated audit logs; 0 means no limit.
   *
   * A whole number from 0 to 36500. Default: `0`. Flag: `--audit-log-maxage`.
   */
  readonly auditLogMaxage?: number | string | undefined;
  /**
   * Maximum number of rotated audit logs; 0 means no limit.
   *
   * A whole number from 0 to 1000000. Default: `0`. Flag: `--audit-log-maxbackup`.
   */
  readonly auditLogMaxbackup?: number | string | undefined;
  /**
   * Whether rotated audit logs are compressed with gzip.
   *
   * True or false. Default: `false`. Flag: `--audit-log-compress`.
   */
  readonly auditLogCompress?: boolean | undefined;
  /**
   * `batch`: requests do not wait for the audit log. `blocking`: a request waits until its events are written.
   * `blocking-strict`: a request is also rejected when its first event cannot be written.
   *
   * One of these words. Default: `batch`. Flag: `--audit-log-mode`.
   */
  readonly auditLogMode?: 'batch' | 'blocking' | 'blocking-strict' | undefined;
  /**
   * Maximum number of events that wait to be written. Further events are dropped, which a metric counts.
   *
   * A whole number from 1 to 1000000. Default: `10000`. Flag: `--audit-log-batch-buffer-size`.
   */
  readonly auditLogBatchBufferSize?: number | string | undefined;
  /**
   * Maximum number of events in one write to the audit log.
   *
   * A whole number from 1 to 1000000. Default: `10000`. Flag: `--audit-log-batch-max-size`.
   */
  readonly auditLogBatchMaxSize?: number | string | undefined;
  /**
   * How long events wait for a batch to fill before they are written, in the mode `batch`.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. Default: `0s`. Flag:
   * `--audit-log-batch-max-wait`.
   */
  readonly auditLogBatchMaxWait?: number | string | undefined;
  /**
   * Whether the rate of writes to the audit log is limited, in the mode `batch`.
   *
   * True or false. Default: `false`. Flag: `--audit-log-batch-throttle-enable`.
   */
  readonly auditLogBatchThrottleEnable?: boolean | undefined;
  /**
   * Average number of writes to the audit log per second.
   *
   * A whole number from 1 to 1000000. Default: `10`. Flag: `--audit-log-batch-throttle-qps`.
   */
  readonly auditLogBatchThrottleQps?: number | string | undefined;
  /**
   * Maximum burst of writes to the audit log after a period below the average.
   *
   * A whole number from 1 to 1000000. Default: `15`. Flag: `--audit-log-batch-throttle-burst`.
   */
  readonly auditLogBatchThrottleBurst?: number | string | undefined;
  /**
   * Whether events larger than the maximum size lose their request and response objects. Events that are still too
   * large are dropped.
   *
   * True or false. Default: `false`. Flag: `--audit-log-truncate-enabled`.
   */
  readonly auditLogTruncateEnabled?: boolean | undefined;
  /**
   * Maximum size in bytes of an event in the audit log, when truncation is enabled.
   *
   * A whole number from 1 to 1000000000. Default: `102400`. Flag: `--audit-log-truncate-max-event-size`.
   */
  readonly auditLogTruncateMaxEventSize?: number | string | undefined;
  /**
   * Maximum size in bytes of one write to the audit log, when truncation is enabled.
   *
   * A whole number from 1 to 1000000000. Default: `10485760`. Flag: `--audit-log-truncate-max-batch-size`.
   */
  readonly auditLogTruncateMaxBatchSize?: number | string | undefined;
  /**
   * Kubeconfig of the webhook to which audit events are sent. If not set, there is no audit webhook.
   *
   * The path of a file. No default. Flag: `--audit-webhook-config-file`.
   */
  readonly auditWebhookConfigFile?: string | undefined;
  /**
   * Delay before the first retry of a failed request to the audit webhook; each of the three further delays is 1.5
   * times as long as the one before.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. Default: `10s`. Flag:
   * `--audit-webhook-initial-backoff`.
   */
  readonly auditWebhookInitialBackoff?: number | string | undefined;
  /**
   * `batch`: requests do not wait for the audit webhook. `blocking`: a request waits until its events are written.
   * `blocking-strict`: a request is also rejected when its first event cannot be written.
   *
   * One of these words. Default: `batch`. Flag: `--audit-webhook-mode`.
   */
  readonly auditWebhookMode?: 'batch' | 'blocking' | 'blocking-strict' | undefined;
  /**
   * Maximum number of events that wait to be sent. Further events are dropped, which a metric counts.
   *
   * A whole number from 1 to 1000000. Default: `10000`. Flag: `--audit-webhook-batch-buffer-size`.
   */
  readonly auditWebhookBatchBufferSize?: number | string | undefined;
  /**
   * Maximum number of events in one request to the audit webhook.
   *
   * A whole number from 1 to 1000000. Default: `400`. Flag: `--audit-webhook-batch-max-size`.
   */
  readonly auditWebhookBatchMaxSize?: number | string | undefined;
  /**
   * How long events wait for a batch to fill before they are sent, in the mode `batch`.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. Default: `30s`. Flag:
   * `--audit-webhook-batch-max-wait`.
   */
  readonly auditWebhookBatchMaxWait?: number | string | undefined;
  /**
   * Whether the rate of requests to the audit webhook is limited, in the mode `batch`.
   *
   * True or false. Default: `true`. Flag: `--audit-webhook-batch-throttle-enable`.
   */
  readonly auditWebhookBatchThrottleEnable?: boolean | undefined;
  /**
   * Average number of requests to the audit webhook per second.
   *
   * A whole number from 1 to 1000000. Default: `10`. Flag: `--audit-webhook-batch-throttle-qps`.
   */
  readonly auditWebhookBatchThrottleQps?: number | string | undefined;
  /**
   * Maximum burst of requests to the audit webhook after a period below the average.
   *
   * A whole number from 1 to 1000000. Default: `15`. Flag: `--audit-webhook-batch-throttle-burst`.
   */
  readonly auditWebhookBatchThrottleBurst?: number | string | undefined;
  /**
   * Whether events larger than the maximum size lose their request and response objects. Events that are still too
   * large are dropped.
   *
   * True or false. Default: `false`. Flag: `--audit-webhook-truncate-enabled`.
   */
  readonly auditWebhookTruncateEnabled?: boolean | undefined;
  /**
   * Maximum size in bytes of an event that is sent, when truncation is enabled.
   *
   * A whole number from 1 to 1000000000. Default: `102400`. Flag: `--audit-webhook-truncate-max-event-size`.
   */
  readonly auditWebhookTruncateMaxEventSize?: number | string | undefined;
  /**
   * Maximum size in bytes of a request to the audit webhook, when truncation is enabled.
   *
   * A whole number from 1 to 1000000000. Default: `10485760`. Flag: `--audit-webhook-truncate-max-batch-size`.
   */
  readonly auditWebhookTruncateMaxBatchSize?: number | string | undefined;
  /**
   * Give each request a seat of its priority level, for which it waits in fair queues. The sum of
   * --max-requests-inflight and --max-mutating-requests-inflight is the number of seats. If false, these two flags are
   * limits of their own.
   *
   * True or false. Default: `true`. Flag: `--enable-priority-and-fairness`.
   */
  readonly enablePriorityAndFairness?: boolean | undefined;
  /**
   * With --enable-priority-and-fairness=false, the maximum number of concurrent read requests; further ones are
   * rejected with 429. One user may use at most as many as remain free for all others, and members of system:masters
   * are not limited. Watches do not count. 0 means no limit. Otherwise a part of the number of seats.
   *
   * A whole number from 0 to 1000000. Default: `400`. Flag: `--max-requests-inflight`.
   */
  readonly maxRequestsInflight?: number | string | undefined;
  /**
   * The same for write requests.
   *
   * A whole number from 0 to 1000000. Default: `200`. Flag: `--max-mutating-requests-inflight`.
   */
  readonly maxMutatingRequestsInflight?: number | string | undefined;
  /**
   * Minimum duration in seconds of a watch without a timeout. Each ends after a random time up to twice as long, so
   * that clients do not all reconnect at once.
   *
   * A whole number of seconds from 1 to 2000000. Default: `1800`. Flag: `--min-request-timeout`.
   */
  readonly minRequestTimeout?: number | string | undefined;
  /**
   * Period after the start in which `/livez` succeeds although a post-start hook is not finished.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. Default: `0s`. Flag: `--livez-grace-period`.
   */
  readonly livezGracePeriod?: number | string | undefined;
  /**
   * How long the server keeps serving after a termination signal, while `/readyz` already fails.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. Default: `0s`. Flag:
   * `--shutdown-delay-duration`.
   */
  readonly shutdownDelayDuration?: number | string | undefined;
  /**
   * How long requests in flight may then take to finish before their connections are closed.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. Default: `20s`. Flag:
   * `--shutdown-grace-period`.
   */
  readonly shutdownGracePeriod?: number | string | undefined;
  /**
   * Number of processes that serve requests, each with a core of its own at best. The first one has the store and runs
   * the controllers; connections are spread over all ([performance.md](performance.md#several-cores)).
   *
   * A whole number from 1 to 64. Default: `1`. Flag: `--workers`.
   */
  readonly workers?: number | string | undefined;
  /**
   * Minimum level that is logged on standard error: `error`, `warn`, `info` or `debug`, which logs every request. Parts
   * of the server may have other levels: `info,store=debug,http=warn`. `PUT /debug/flags/v` changes it while the server
   * runs.
   *
   * A text such as 'info' or 'info,store=debug'. No default. Flag: `--log-level`.
   */
  readonly logLevel?: string | undefined;
  /**
   * Format of the log: JSON, or text with the level, the time and the part of the server before the message. `auto`
   * writes readable text on a terminal, and JSON elsewhere.
   *
   * One of these words. Default: `auto`. Flag: `--log-format`.
   */
  readonly logFormat?: 'auto' | 'json' | 'text' | undefined;
  /**
   * File that configures where traces are sent, and how many requests are sampled
   * ([observability.md](observability.md#traces)).
   *
   * The path of a file. No default. Flag: `--tracing-config-file`.
   */
  readonly tracingConfigFile?: string | undefined;
  /**
   * Whether administrators can take CPU and memory profiles below `/debug/pprof/`.
   *
   * True or false. Default: `true`. Flag: `--profiling`.
   */
  readonly profiling?: boolean | undefined;
  /**
   * Also shows the metrics that are hidden since release 1.33. Must be the previous minor release
   * ([metrics.md](metrics.md#stability)).
   *
   * A minor release. No default. Flag: `--show-hidden-metrics-for-version`.
   */
  readonly showHiddenMetricsForVersion?: string | undefined;
  /**
   * Metrics that are not shown.
   *
   * A list of texts, or a text with commas between them. No default. Flag: `--disabled-metrics`.
   */
  readonly disabledMetrics?: string | readonly string[] | undefined;
  /**
   * Allowed values of labels of metrics: samples with another value are added up with the value `unexpected`. May be
   * repeated.
   *
   * Values by metric and label, or a text such as 'apiserver_request_total,verb=GET,LIST'. No default. Flag:
   * `--allow-metric-labels`.
   */
  readonly allowMetricLabels?: { readonly [metricAndLabel: string]: string } | string | undefined;
  /**
   * YAML file with a map of the same form: `apiserver_request_total,verb: "GET,LIST"`. `allowMetricLabels` takes
   * precedence.
   *
   * The path of a file. No default. Flag: `--allow-metric-labels-manifest`.
   */
  readonly allowMetricLabelsManifest?: string | undefined;
  /**
   * YAML file with settings: the names of flags without leading hyphens.
   *
   * The path of a file. No default. Flag: `--config`.
   */
  readonly config?: string | undefined;
}
