// Made from `flags.ts`; a test keeps it so (`npx vitest run src/server -u` writes it anew).

/** The settings of a server inside a program: those of the flags of `orch serve`, their names in camel case. */
export interface ServerOptions {
  /**
   * Address to listen on; 0.0.0.0 or :: for all.
   *
   * An IP address. `127.0.0.1` by default. The flag `--bind-address`.
   */
  readonly bindAddress?: string | undefined;
  /**
   * Port for HTTPS; 0 picks a free one.
   *
   * A whole number from 0 to 65535. `6443` by default. The flag `--secure-port`.
   */
  readonly securePort?: number | string | undefined;
  /**
   * Address under which others reach the server: the endpoint of its own service. Without one it is `bindAddress`, or
   * the first address of the machine when that is a loopback address or stands for all. The serving certificate names
   * it when it is given.
   *
   * An IP address. Nothing by default. The flag `--advertise-address`.
   */
  readonly advertiseAddress?: string | undefined;
  /**
   * How the service of the API server gets its endpoints: with `lease` each server adds its address while it lives;
   * with `none` somebody else writes them.
   *
   * One of these words. `lease` by default. The flag `--endpoint-reconciler-type`.
   */
  readonly endpointReconcilerType?: 'lease' | 'none' | undefined;
  /**
   * Serving certificate in PEM, followed by those that signed it. Without one, a certificate and its authority are kept
   * in the data directory.
   *
   * The path of a file. Nothing by default. The flag `--tls-cert-file`.
   */
  readonly tlsCertFile?: string | undefined;
  /**
   * Private key of `tlsCertFile`, in PEM, closed to others.
   *
   * The path of a file. Nothing by default. The flag `--tls-private-key-file`.
   */
  readonly tlsPrivateKeyFile?: string | undefined;
  /**
   * Certificate authorities in PEM. Whoever shows a certificate that one of them signed is the user of its common name,
   * in the groups of its organizations. A changed file takes effect within a minute.
   *
   * The path of a file. Nothing by default. The flag `--client-ca-file`.
   */
  readonly clientCaFile?: string | undefined;
  /**
   * Certificate authorities in PEM of authenticating proxies. A request over a connection with a client certificate
   * that one of them signed is made by the user whom its headers name. A changed file takes effect within a minute.
   *
   * The path of a file. Nothing by default. The flag `--requestheader-client-ca-file`.
   */
  readonly requestheaderClientCaFile?: string | undefined;
  /**
   * Common names of the client certificates of authenticating proxies. Without any, every certificate of
   * `requestheaderClientCaFile` is that of a proxy.
   *
   * A list of texts, or a text with commas between them. Nothing by default. The flag `--requestheader-allowed-names`.
   */
  readonly requestheaderAllowedNames?: string | readonly string[] | undefined;
  /**
   * Headers in which an authenticating proxy names the user: the first one that is not empty. `X-Remote-User` is usual.
   *
   * A list of texts, or a text with commas between them. Nothing by default. The flag
   * `--requestheader-username-headers`.
   */
  readonly requestheaderUsernameHeaders?: string | readonly string[] | undefined;
  /**
   * Headers with the uid of that user: the first one that is not empty. When given, `X-Remote-Uid` must be among them.
   * Needs the feature `RemoteRequestHeaderUID`.
   *
   * A list of texts, or a text with commas between them. Nothing by default. The flag `--requestheader-uid-headers`.
   */
  readonly requestheaderUidHeaders?: string | readonly string[] | undefined;
  /**
   * Headers with the groups of that user, one in each: all of them count. `X-Remote-Group` is usual.
   *
   * A list of texts, or a text with commas between them. Nothing by default. The flag `--requestheader-group-headers`.
   */
  readonly requestheaderGroupHeaders?: string | readonly string[] | undefined;
  /**
   * Prefixes of headers with extra attributes of that user: the rest of the name, percent-decoded, is the key.
   * `X-Remote-Extra-` is usual.
   *
   * A list of texts, or a text with commas between them. Nothing by default. The flag
   * `--requestheader-extra-headers-prefix`.
   */
  readonly requestheaderExtraHeadersPrefix?: string | readonly string[] | undefined;
  /**
   * Certificate authorities in PEM by which pods verify this server. They are published in every namespace and with the
   * tokens of service accounts. Without them, they are the authority of the serving certificate, or the certificates of
   * `tlsCertFile`. A changed file takes effect within a minute.
   *
   * The path of a file. Nothing by default. The flag `--root-ca-file`.
   */
  readonly rootCaFile?: string | undefined;
  /**
   * Certificate in PEM of the authority that signs approved certificate signing requests. Without one it is the
   * authority of the data directory, whose client certificates this server accepts. A changed file takes effect within
   * a minute.
   *
   * The path of a file. Nothing by default. The flag `--cluster-signing-cert-file`.
   */
  readonly clusterSigningCertFile?: string | undefined;
  /**
   * Private key of `clusterSigningCertFile`, in PEM, closed to others.
   *
   * The path of a file. Nothing by default. The flag `--cluster-signing-key-file`.
   */
  readonly clusterSigningKeyFile?: string | undefined;
  /**
   * How long certificates are valid that are signed for certificate signing requests, unless the request asks for less.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. `8760h` by default. The flag
   * `--cluster-signing-duration`.
   */
  readonly clusterSigningDuration?: number | string | undefined;
  /**
   * How long a generated token of a service account in a secret may be unused before it is marked as invalid, and how
   * long it is then kept.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. `8760h` by default. The flag
   * `--legacy-service-account-token-clean-up-period`.
   */
  readonly legacyServiceAccountTokenCleanUpPeriod?: number | string | undefined;
  /**
   * Bearer tokens in CSV: `token,user,uid,"group1,group2"`; the groups may be left out, or be in several columns.
   *
   * The path of a file. Nothing by default. The flag `--token-auth-file`.
   */
  readonly tokenAuthFile?: string | undefined;
  /**
   * The URL, with https, of an identity provider (OpenID Connect) whose ID tokens are accepted as bearer tokens:
   * [access-providers.md](access-providers.md). Needs `oidcClientId`.
   *
   * A text. Nothing by default. The flag `--oidc-issuer-url`.
   */
  readonly oidcIssuerUrl?: string | undefined;
  /**
   * The audience that a token of the provider must have.
   *
   * A text. Nothing by default. The flag `--oidc-client-id`.
   */
  readonly oidcClientId?: string | undefined;
  /**
   * The claim with the name of the user; `sub` by default.
   *
   * A text. Nothing by default. The flag `--oidc-username-claim`.
   */
  readonly oidcUsernameClaim?: string | undefined;
  /**
   * What names of users begin with. Without it they begin with the URL of the provider and `#`, except for the claim
   * `email`, which has no prefix; `-` is none.
   *
   * A text. Nothing by default. The flag `--oidc-username-prefix`.
   */
  readonly oidcUsernamePrefix?: string | undefined;
  /**
   * The claim with the groups of the user: a list of texts, or one text. Without it the user is in none.
   *
   * A text. Nothing by default. The flag `--oidc-groups-claim`.
   */
  readonly oidcGroupsClaim?: string | undefined;
  /**
   * What names of groups begin with.
   *
   * A text. Nothing by default. The flag `--oidc-groups-prefix`.
   */
  readonly oidcGroupsPrefix?: string | undefined;
  /**
   * Claims that a token must have with these values. Can be given more than once.
   *
   * A list of texts, or a text with commas between them. Nothing by default. The flag `--oidc-required-claim`.
   */
  readonly oidcRequiredClaim?: string | readonly string[] | undefined;
  /**
   * Certificate authorities in PEM, by which the certificate of the provider is verified; otherwise those that Node
   * trusts.
   *
   * The path of a file. Nothing by default. The flag `--oidc-ca-file`.
   */
  readonly oidcCaFile?: string | undefined;
  /**
   * Algorithms that may sign a token, `RS256` by default: `RS256`, `RS384`, `RS512`, `ES256`, `ES384`, `ES512`,
   * `PS256`, `PS384`, `PS512`.
   *
   * A list of texts, or a text with commas between them. Nothing by default. The flag `--oidc-signing-algs`.
   */
  readonly oidcSigningAlgs?: string | readonly string[] | undefined;
  /**
   * A kubeconfig whose current context leads to a webhook, which is asked about bearer tokens that the server does not
   * know (TokenReview). Its server is a URL with https.
   *
   * The path of a file. Nothing by default. The flag `--authentication-token-webhook-config-file`.
   */
  readonly authenticationTokenWebhookConfigFile?: string | undefined;
  /**
   * The version of the reviews that the webhook is sent, `v1beta1` or `v1`. It must respond with the same.
   *
   * A text. `v1beta1` by default. The flag `--authentication-token-webhook-version`.
   */
  readonly authenticationTokenWebhookVersion?: string | undefined;
  /**
   * How long the webhook is not asked again about a token that it has accepted, or refused without an error. 0: it is
   * asked each time.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. `2m` by default. The flag
   * `--authentication-token-webhook-cache-ttl`.
   */
  readonly authenticationTokenWebhookCacheTtl?: number | string | undefined;
  /**
   * Identity providers, and the paths at which requests without credentials are served, in a file as in
   * [access-providers.md](access-providers.md), in place of the flags `--oidc-*`. A changed file takes effect within a
   * minute or two; one that is invalid does not.
   *
   * The path of a file. Nothing by default. The flag `--authentication-config`.
   */
  readonly authenticationConfig?: string | undefined;
  /**
   * Requests without credentials are made by the user `system:anonymous` of the group `system:unauthenticated`, which
   * is the default; with `false` they are refused. Not together with the field `anonymous` of the file of
   * `authenticationConfig`.
   *
   * True or false. Nothing by default. The flag `--anonymous-auth`.
   */
  readonly anonymousAuth?: boolean | undefined;
  /**
   * Authorizers, asked in this order until one allows or denies: `AlwaysAllow`, `AlwaysDeny`, `ABAC`, `Webhook`,
   * `RBAC`, `Node`, each at most once. Without any it is `RBAC`. What none of them allows is denied. `RBAC` allows what
   * roles grant, `ABAC` what the policies of `authorizationPolicyFile` grant. `Webhook` asks the webhook of
   * `authorizationWebhookConfigFile`. `Node` lets kubelets read and write what belongs to their node and its pods.
   * Members of `system:masters` are always allowed. With `AlwaysAllow` requests without credentials are refused.
   *
   * A list of names, or a text with commas between them. Nothing by default. The flag `--authorization-mode`.
   */
  readonly authorizationMode?: string | readonly string[] | undefined;
  /**
   * The authorizers in a file, as in [access-authorization.md](access-authorization.md), in place of
   * `authorizationMode` and the flags of the webhook. A changed file takes effect within a minute; one that is invalid
   * does not.
   *
   * The path of a file. Nothing by default. The flag `--authorization-config`.
   */
  readonly authorizationConfig?: string | undefined;
  /**
   * The policies of the authorization mode `ABAC`, one JSON object a line.
   *
   * The path of a file. Nothing by default. The flag `--authorization-policy-file`.
   */
  readonly authorizationPolicyFile?: string | undefined;
  /**
   * A kubeconfig that leads to the webhook of the authorization mode `Webhook`, as in
   * [access-authorization.md](access-authorization.md).
   *
   * The path of a file. Nothing by default. The flag `--authorization-webhook-config-file`.
   */
  readonly authorizationWebhookConfigFile?: string | undefined;
  /**
   * The version of the SubjectAccessReview that this webhook is sent and answers: `v1beta1`, which is the default, or
   * `v1`.
   *
   * A text. Nothing by default. The flag `--authorization-webhook-version`.
   */
  readonly authorizationWebhookVersion?: string | undefined;
  /**
   * How long the webhook is not asked again what it has allowed; five minutes by default. 0: it is asked each time.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. Nothing by default. The flag
   * `--authorization-webhook-cache-authorized-ttl`.
   */
  readonly authorizationWebhookCacheAuthorizedTtl?: number | string | undefined;
  /**
   * How long the webhook is not asked again what it has not allowed; 30 seconds by default. 0: it is asked each time.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. Nothing by default. The flag
   * `--authorization-webhook-cache-unauthorized-ttl`.
   */
  readonly authorizationWebhookCacheUnauthorizedTtl?: number | string | undefined;
  /**
   * Secrets of the type for bootstrap tokens in the system namespace are bearer tokens.
   *
   * True or false. `false` by default. The flag `--enable-bootstrap-token-auth`.
   */
  readonly enableBootstrapTokenAuth?: boolean | undefined;
  /**
   * Files with RSA or ECDSA keys in PEM, public or private, or certificates, which verify tokens of service accounts
   * beside the signing key. Without one, `tlsPrivateKeyFile` is used. Files with private keys must be closed to others.
   * A changed file takes effect at the next start.
   *
   * A list of texts, or a text with commas between them. Nothing by default. The flag `--service-account-key-file`.
   */
  readonly serviceAccountKeyFile?: string | readonly string[] | undefined;
  /**
   * RSA or ECDSA private key in PEM, closed to others, which signs tokens of service accounts. Without one, a key is
   * generated and kept in the store, where all servers of the store share it. A changed file takes effect at the next
   * start.
   *
   * The path of a file. Nothing by default. The flag `--service-account-signing-key-file`.
   */
  readonly serviceAccountSigningKeyFile?: string | undefined;
  /**
   * Issuers whose tokens of service accounts are accepted; the first one issues. Without one it is the URL of the API
   * service in the cluster domain `cluster.local`.
   *
   * A list of texts, or a text with commas between them. Nothing by default. The flag `--service-account-issuer`.
   */
  readonly serviceAccountIssuer?: string | readonly string[] | undefined;
  /**
   * Audiences of this server: a token must be for one of them. Without any, they are the issuers.
   *
   * A list of texts, or a text with commas between them. Nothing by default. The flag `--api-audiences`.
   */
  readonly apiAudiences?: string | readonly string[] | undefined;
  /**
   * A token of a service account that is kept in a secret is valid only while the secret exists.
   *
   * True or false. `true` by default. The flag `--service-account-lookup`.
   */
  readonly serviceAccountLookup?: boolean | undefined;
  /**
   * The longest time for which a requested token of a service account is valid, at least 1h; a longer request is
   * shortened. 0 is no limit.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. `0s` by default. The flag
   * `--service-account-max-token-expiration`.
   */
  readonly serviceAccountMaxTokenExpiration?: number | string | undefined;
  /**
   * Tokens that kubelets mount into pods are valid for a year.
   *
   * True or false. `true` by default. The flag `--service-account-extend-token-expiration`.
   */
  readonly serviceAccountExtendTokenExpiration?: boolean | undefined;
  /**
   * URL of the keys of the issuer in its discovery document. Without one it is that of this server.
   *
   * An https URL. Nothing by default. The flag `--service-account-jwks-uri`.
   */
  readonly serviceAccountJwksUri?: string | undefined;
  /**
   * Domain of API groups, labels and annotations. `k8s.io` serves kubectl and other existing clients.
   *
   * A text such as 'example.org'. `orch.io` by default. The flag `--api-domain`.
   */
  readonly apiDomain?: string | undefined;
  /**
   * Address block of services, or one of each family: the first one is that of services that ask for no family. The
   * serving certificate names its first address.
   *
   * A text such as '10.0.0.0/24', or a list of such texts. `10.0.0.0/24` by default. The flag
   * `--service-cluster-ip-range`.
   */
  readonly serviceClusterIpRange?: string | readonly string[] | undefined;
  /**
   * Ports that services may have on every node.
   *
   * A text such as '30000-32767'. `30000-32767` by default. The flag `--service-node-port-range`.
   */
  readonly serviceNodePortRange?: string | undefined;
  /**
   * Features to switch on or off: those of the table of features.
   *
   * True or false by name, or a text such as 'name=true,other=false'. Nothing by default. The flag `--feature-gates`.
   */
  readonly featureGates?: { readonly [name: string]: boolean } | string | undefined;
  /**
   * Parts of the API to switch on or off: a version (`batch/v1`, `v1`), a resource of a version
   * (`apps/v1/deployments`), or `api/all`, `api/ga`, `api/beta`, `api/alpha`. The narrower key is the stronger one;
   * without any, released versions are on, alpha and beta versions off.
   *
   * True or false by name, or a text such as 'name=true,other=false'. Nothing by default. The flag `--runtime-config`.
   */
  readonly runtimeConfig?: { readonly [name: string]: boolean } | string | undefined;
  /**
   * A garbage collector runs elsewhere, in a controller manager. Jobs and replication controllers that are deleted
   * without a propagation policy wait for it to orphan their dependents, as they do where
   * `garbage-collector-controller` is among the `controllers`.
   *
   * True or false. `false` by default. The flag `--enable-garbage-collector`.
   */
  readonly enableGarbageCollector?: boolean | undefined;
  /**
   * Containers may be privileged, and processes of the host on Windows nodes. Unless it is set they may where there are
   * fake nodes, which run nothing.
   *
   * True or false. Nothing by default. The flag `--allow-privileged`.
   */
  readonly allowPrivileged?: boolean | undefined;
  /**
   * Admission plugins to switch on beside those that are on anyway: `AlwaysAdmit`, `NamespaceAutoProvision`,
   * `NamespaceExists`, `LimitPodHardAntiAffinityTopology`, `NodeRestriction`, `AlwaysPullImages`, `ImagePolicyWebhook`,
   * `PodNodeSelector`, `PodTolerationRestriction`, `EventRateLimit`, `ExtendedResourceToleration`,
   * `OwnerReferencesPermissionEnforcement`, `DenyServiceExternalIPs`, `AlwaysDeny`.
   *
   * A list of names, or a text with commas between them. Nothing by default. The flag `--enable-admission-plugins`.
   */
  readonly enableAdmissionPlugins?: string | readonly string[] | undefined;
  /**
   * Admission plugins to switch off, of those that are on: `NamespaceLifecycle`, `LimitRanger`, `ServiceAccount`,
   * `TaintNodesByCondition`, `PodSecurity`, `Priority`, `DefaultTolerationSeconds`, `DefaultStorageClass`,
   * `StorageObjectInUseProtection`, `PersistentVolumeClaimResize`, `RuntimeClass`, `CertificateApproval`,
   * `CertificateSigning`, `ClusterTrustBundleAttest`, `CertificateSubjectRestriction`, `DefaultIngressClass`,
   * `PodTopologyLabels`, `MutatingAdmissionPolicy`, `MutatingAdmissionWebhook`, `ValidatingAdmissionPolicy`,
   * `ValidatingAdmissionWebhook`, `ResourceQuota`.
   *
   * A list of names, or a text with commas between them. Nothing by default. The flag `--disable-admission-plugins`.
   */
  readonly disableAdmissionPlugins?: string | readonly string[] | undefined;
  /**
   * Configurations of admission plugins, as in [admission.md](admission.md).
   *
   * The path of a file. Nothing by default. The flag `--admission-control-config-file`.
   */
  readonly admissionControlConfigFile?: string | undefined;
  /**
   * How long pods stay on a node that is no longer ready, when they do not say so themselves.
   *
   * A whole number of seconds from 0 to 1000000000. `300` by default. The flag
   * `--default-not-ready-toleration-seconds`.
   */
  readonly defaultNotReadyTolerationSeconds?: number | string | undefined;
  /**
   * How long pods stay on a node that cannot be reached any more, when they do not say so themselves.
   *
   * A whole number of seconds from 0 to 1000000000. `300` by default. The flag
   * `--default-unreachable-toleration-seconds`.
   */
  readonly defaultUnreachableTolerationSeconds?: number | string | undefined;
  /**
   * Certificate authorities in PEM for the serving certificates of kubelets. Without them the certificate of a kubelet
   * is not verified.
   *
   * The path of a file. Nothing by default. The flag `--kubelet-certificate-authority`.
   */
  readonly kubeletCertificateAuthority?: string | undefined;
  /**
   * Client certificate in PEM for connections to kubelets.
   *
   * The path of a file. Nothing by default. The flag `--kubelet-client-certificate`.
   */
  readonly kubeletClientCertificate?: string | undefined;
  /**
   * Private key of `kubeletClientCertificate`, in PEM, closed to others.
   *
   * The path of a file. Nothing by default. The flag `--kubelet-client-key`.
   */
  readonly kubeletClientKey?: string | undefined;
  /**
   * Types of node addresses in order of preference; a kubelet is reached under the first one that its node has.
   *
   * A list of names, or a text with commas between them. `Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP` by
   * default. The flag `--kubelet-preferred-address-types`.
   */
  readonly kubeletPreferredAddressTypes?: string | readonly string[] | undefined;
  /**
   * Timeout for connecting to a kubelet, or to what runs on a node. 0 is no limit.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. `5s` by default. The flag
   * `--kubelet-timeout`.
   */
  readonly kubeletTimeout?: number | string | undefined;
  /**
   * `lmdb` keeps objects durably in the data directory, `memory` until the process ends, `etcd` in the cluster of
   * `etcdServers`, which any number of servers may share.
   *
   * One of these words. `memory` by default. The flag `--store`.
   */
  readonly store?: 'lmdb' | 'memory' | 'etcd' | undefined;
  /**
   * Folder for objects (with `--store=lmdb`), certificates and the kubeconfig. Without one it is `./orch-data/` and the
   * API domain or, with `--store=memory`, a temporary folder that is removed at the end. Secret files in it are for
   * their owner alone. No two servers can share one.
   *
   * The path of a folder. Nothing by default. The flag `--data-dir`.
   */
  readonly dataDir?: string | undefined;
  /**
   * URLs of the members of etcd, 3.5.8 or newer: all of them, so that any may fail.
   *
   * A list of texts, or a text with commas between them. Nothing by default. The flag `--etcd-servers`.
   */
  readonly etcdServers?: string | readonly string[] | undefined;
  /**
   * Certificate authorities in PEM for the certificates of the members. Without them, those of the system are trusted.
   * A changed file takes effect with the next connection.
   *
   * The path of a file. Nothing by default. The flag `--etcd-cafile`.
   */
  readonly etcdCafile?: string | undefined;
  /**
   * Client certificate in PEM for connections to etcd. A changed file takes effect with the next connection.
   *
   * The path of a file. Nothing by default. The flag `--etcd-certfile`.
   */
  readonly etcdCertfile?: string | undefined;
  /**
   * Private key of `etcdCertfile`, in PEM, closed to others.
   *
   * The path of a file. Nothing by default. The flag `--etcd-keyfile`.
   */
  readonly etcdKeyfile?: string | undefined;
  /**
   * What the keys of all objects begin with in etcd. Servers with the same prefix are replicas of one.
   *
   * A text such as '/registry'. `/registry` by default. The flag `--etcd-prefix`.
   */
  readonly etcdPrefix?: string | undefined;
  /**
   * For how long old versions of objects can be read and watched from, counted while a server runs; 0 keeps them for
   * ever, and leaves compaction of etcd to others.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. `5m` by default. The flag
   * `--etcd-compaction-interval`.
   */
  readonly etcdCompactionInterval?: number | string | undefined;
  /**
   * Which resources are encrypted in the store, and with which keys, as in [encryption.md](encryption.md). The file
   * must be closed to others.
   *
   * The path of a file. Nothing by default. The flag `--encryption-provider-config`.
   */
  readonly encryptionProviderConfig?: string | undefined;
  /**
   * A changed file of `encryptionProviderConfig` takes effect within a minute; one that is invalid, or whose KMS
   * plugins are not healthy, does not.
   *
   * True or false. `false` by default. The flag `--encryption-provider-config-automatic-reload`.
   */
  readonly encryptionProviderConfigAutomaticReload?: boolean | undefined;
  /**
   * Controllers that run: names, `-name` for all but one, `*` for all that are on by default, `-*` for none; what is
   * named first counts. They are `garbage-collector-controller`, `namespace-controller`, `resourcequota-controller`,
   * `serviceaccount-controller`, `clusterrole-aggregation-controller`, `deployment-controller`,
   * `replicaset-controller`, `replicationcontroller-controller`, `statefulset-controller`, `daemonset-controller`,
   * `job-controller`, `cronjob-controller`, `horizontal-pod-autoscaler-controller`, `disruption-controller`,
   * `endpoints-controller`, `endpointslice-controller`, `endpointslice-mirroring-controller`,
   * `service-cidr-controller`, `pod-garbage-collector-controller`, `ttl-after-finished-controller`,
   * `persistentvolume-binder-controller`, `persistentvolumeclaim-protection-controller`,
   * `persistentvolume-protection-controller`, `ephemeral-volume-controller`, `node-lifecycle-controller`,
   * `taint-eviction-controller`, `ttl-controller`, `validatingadmissionpolicy-status-controller`,
   * `serviceaccount-token-controller`, `certificatesigningrequest-signing-controller`,
   * `certificatesigningrequest-approving-controller`, `certificatesigningrequest-cleaner-controller`,
   * `bootstrap-signer-controller`, `token-cleaner-controller`, `root-ca-certificate-publisher-controller`,
   * `legacy-serviceaccount-token-cleaner-controller`.
   *
   * A list of names, or a text with commas between them. `*` by default. The flag `--controllers`.
   */
  readonly controllers?: string | readonly string[] | undefined;
  /**
   * Requests that each controller sends in a second at most; 0: no limit. Those of a server that is embedded in a
   * program have no limit unless this is set. The garbage collector may send twice as many, the namespace controller
   * twenty times as many. Informers, and the nodes of `fakeNodes`, have no limit.
   *
   * A whole number from 0 to 1000000. `0` by default. The flag `--kube-api-qps`.
   */
  readonly kubeApiQps?: number | string | undefined;
  /**
   * Requests that a controller may send at once after a time without any.
   *
   * A whole number from 1 to 1000000. `30` by default. The flag `--kube-api-burst`.
   */
  readonly kubeApiBurst?: number | string | undefined;
  /**
   * Controllers run while the lease `kube-system/kube-controller-manager` is held, so that of several processes one
   * runs them.
   *
   * True or false. `true` by default. The flag `--leader-elect`.
   */
  readonly leaderElect?: boolean | undefined;
  /**
   * How long others wait for the leader to renew the lease before they take it; at least 1s.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. `15s` by default. The flag
   * `--leader-elect-lease-duration`.
   */
  readonly leaderElectLeaseDuration?: number | string | undefined;
  /**
   * How long the leader goes on without having renewed the lease; shorter than `leaderElectLeaseDuration`.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. `10s` by default. The flag
   * `--leader-elect-renew-deadline`.
   */
  readonly leaderElectRenewDeadline?: number | string | undefined;
  /**
   * Time between two attempts to acquire or renew the lease; 1.2 of it are shorter than `leaderElectRenewDeadline`.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. `2s` by default. The flag
   * `--leader-elect-retry-period`.
   */
  readonly leaderElectRetryPeriod?: number | string | undefined;
  /**
   * Controllers run in a thread of their own, so that requests do not wait for them. Those of a server that is embedded
   * in a program run in its thread unless this is set.
   *
   * True or false. `false` by default. The flag `--controllers-thread`.
   */
  readonly controllersThread?: boolean | undefined;
  /**
   * How many fake nodes there are: pods are bound to them, start, become ready and end there as
   * [controllers.md](controllers.md#fake-nodes) describes, and nothing is run.
   *
   * A whole number from 0 to 1000. `0` by default. The flag `--fake-nodes`.
   */
  readonly fakeNodes?: number | string | undefined;
  /**
   * Fills the namespace `demo` with a few objects to look at: deployments, jobs, a custom type, a quota. Without
   * `fakeNodes` there are three. What somebody has changed stays as it is at the next start; what was deleted is made
   * again.
   *
   * True or false. `false` by default. The flag `--demo`.
   */
  readonly demo?: boolean | undefined;
  /**
   * Audit policy: which requests are recorded, and how much of them. Without one, the default policy of
   * [audit.md](audit.md) applies where a log or a webhook is given.
   *
   * The path of a file. Nothing by default. The flag `--audit-policy-file`.
   */
  readonly auditPolicyFile?: string | undefined;
  /**
   * File to which audit events are appended; `-` is standard output. Without one there is no audit log.
   *
   * The path of a file. Nothing by default. The flag `--audit-log-path`.
   */
  readonly auditLogPath?: string | undefined;
  /**
   * `json` writes each event as a line of JSON, `legacy` as a line of text with some of its fields.
   *
   * One of these words. `json` by default. The flag `--audit-log-format`.
   */
  readonly auditLogFormat?: 'json' | 'legacy' | undefined;
  /**
   * Size at which the audit log is rotated, in megabytes; 0 stands for 100.
   *
   * A whole number from 0 to 1000000. `0` by default. The flag `--audit-log-maxsize`.
   */
  readonly auditLogMaxsize?: number | string | undefined;
  /**
   * Days for which rotated audit logs are kept; 0 is no limit.
   *
   * A whole number from 0 to 36500. `0` by default. The flag `--audit-log-maxage`.
   */
  readonly auditLogMaxage?: number | string | undefined;
  /**
   * How many rotated audit logs are kept; 0 is no limit.
   *
   * A whole number from 0 to 1000000. `0` by default. The flag `--audit-log-maxbackup`.
   */
  readonly auditLogMaxbackup?: number | string | undefined;
  /**
   * Rotated audit logs are compressed with gzip.
   *
   * True or false. `false` by default. The flag `--audit-log-compress`.
   */
  readonly auditLogCompress?: boolean | undefined;
  /**
   * `batch`: no request waits for the audit log. `blocking`: a request waits until its events are written.
   * `blocking-strict`: it is also refused if its first event cannot be written.
   *
   * One of these words. `batch` by default. The flag `--audit-log-mode`.
   */
  readonly auditLogMode?: 'batch' | 'blocking' | 'blocking-strict' | undefined;
  /**
   * The most events that wait to be written; further ones are lost, which a metric counts.
   *
   * A whole number from 1 to 1000000. `10000` by default. The flag `--audit-log-batch-buffer-size`.
   */
  readonly auditLogBatchBufferSize?: number | string | undefined;
  /**
   * The most events of one write to the audit log.
   *
   * A whole number from 1 to 1000000. `10000` by default. The flag `--audit-log-batch-max-size`.
   */
  readonly auditLogBatchMaxSize?: number | string | undefined;
  /**
   * How long events wait for others before they are written, in the mode `batch`.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. `0s` by default. The flag
   * `--audit-log-batch-max-wait`.
   */
  readonly auditLogBatchMaxWait?: number | string | undefined;
  /**
   * Writes to the audit log are limited in number, in the mode `batch`.
   *
   * True or false. `false` by default. The flag `--audit-log-batch-throttle-enable`.
   */
  readonly auditLogBatchThrottleEnable?: boolean | undefined;
  /**
   * Writes to the audit log for each second on average.
   *
   * A whole number from 1 to 1000000. `10` by default. The flag `--audit-log-batch-throttle-qps`.
   */
  readonly auditLogBatchThrottleQps?: number | string | undefined;
  /**
   * Writes to the audit log at once, when there were fewer than the average before.
   *
   * A whole number from 1 to 1000000. `15` by default. The flag `--audit-log-batch-throttle-burst`.
   */
  readonly auditLogBatchThrottleBurst?: number | string | undefined;
  /**
   * Events larger than the size below are recorded without their request and response objects, and lost if they are
   * still too large.
   *
   * True or false. `false` by default. The flag `--audit-log-truncate-enabled`.
   */
  readonly auditLogTruncateEnabled?: boolean | undefined;
  /**
   * The largest event in the audit log, when they are truncated.
   *
   * A whole number from 1 to 1000000000. `102400` by default. The flag `--audit-log-truncate-max-event-size`.
   */
  readonly auditLogTruncateMaxEventSize?: number | string | undefined;
  /**
   * The most that is written at once, when events are truncated.
   *
   * A whole number from 1 to 1000000000. `10485760` by default. The flag `--audit-log-truncate-max-batch-size`.
   */
  readonly auditLogTruncateMaxBatchSize?: number | string | undefined;
  /**
   * Kubeconfig of the webhook to which audit events are sent. Without one there is no audit webhook.
   *
   * The path of a file. Nothing by default. The flag `--audit-webhook-config-file`.
   */
  readonly auditWebhookConfigFile?: string | undefined;
  /**
   * The time before a failed request to the audit webhook is repeated; each of the three times after it is half as long
   * again.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. `10s` by default. The flag
   * `--audit-webhook-initial-backoff`.
   */
  readonly auditWebhookInitialBackoff?: number | string | undefined;
  /**
   * `batch`: no request waits for the audit webhook. `blocking`: a request waits until its events are written.
   * `blocking-strict`: it is also refused if its first event cannot be written.
   *
   * One of these words. `batch` by default. The flag `--audit-webhook-mode`.
   */
  readonly auditWebhookMode?: 'batch' | 'blocking' | 'blocking-strict' | undefined;
  /**
   * The most events that wait to be sent; further ones are lost, which a metric counts.
   *
   * A whole number from 1 to 1000000. `10000` by default. The flag `--audit-webhook-batch-buffer-size`.
   */
  readonly auditWebhookBatchBufferSize?: number | string | undefined;
  /**
   * The most events of one request to the audit webhook.
   *
   * A whole number from 1 to 1000000. `400` by default. The flag `--audit-webhook-batch-max-size`.
   */
  readonly auditWebhookBatchMaxSize?: number | string | undefined;
  /**
   * How long events wait for others before they are sent, in the mode `batch`.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. `30s` by default. The flag
   * `--audit-webhook-batch-max-wait`.
   */
  readonly auditWebhookBatchMaxWait?: number | string | undefined;
  /**
   * Requests to the audit webhook are limited in number, in the mode `batch`.
   *
   * True or false. `true` by default. The flag `--audit-webhook-batch-throttle-enable`.
   */
  readonly auditWebhookBatchThrottleEnable?: boolean | undefined;
  /**
   * Requests to the audit webhook for each second on average.
   *
   * A whole number from 1 to 1000000. `10` by default. The flag `--audit-webhook-batch-throttle-qps`.
   */
  readonly auditWebhookBatchThrottleQps?: number | string | undefined;
  /**
   * Requests to the audit webhook at once, when there were fewer than the average before.
   *
   * A whole number from 1 to 1000000. `15` by default. The flag `--audit-webhook-batch-throttle-burst`.
   */
  readonly auditWebhookBatchThrottleBurst?: number | string | undefined;
  /**
   * Events larger than the size below are recorded without their request and response objects, and lost if they are
   * still too large.
   *
   * True or false. `false` by default. The flag `--audit-webhook-truncate-enabled`.
   */
  readonly auditWebhookTruncateEnabled?: boolean | undefined;
  /**
   * The largest event that is sent, when they are truncated.
   *
   * A whole number from 1 to 1000000000. `102400` by default. The flag `--audit-webhook-truncate-max-event-size`.
   */
  readonly auditWebhookTruncateMaxEventSize?: number | string | undefined;
  /**
   * The largest request to the audit webhook, when events are truncated.
   *
   * A whole number from 1 to 1000000000. `10485760` by default. The flag `--audit-webhook-truncate-max-batch-size`.
   */
  readonly auditWebhookTruncateMaxBatchSize?: number | string | undefined;
  /**
   * Reading requests served at one time; more are told to come back later. A user may have as many of them as are left
   * free for all others. Watches do not count. 0 is no limit.
   *
   * A whole number from 0 to 1000000. `400` by default. The flag `--max-requests-inflight`.
   */
  readonly maxRequestsInflight?: number | string | undefined;
  /**
   * Writing requests served at one time; more are told to come back later. A user may have as many of them as are left
   * free for all others. 0 is no limit.
   *
   * A whole number from 0 to 1000000. `200` by default. The flag `--max-mutating-requests-inflight`.
   */
  readonly maxMutatingRequestsInflight?: number | string | undefined;
  /**
   * Seconds after which a watch without a time of its own ends at the earliest; some end up to twice as late, so that
   * clients do not all return at once.
   *
   * A whole number of seconds from 1 to 2000000. `1800` by default. The flag `--min-request-timeout`.
   */
  readonly minRequestTimeout?: number | string | undefined;
  /**
   * How long after its start `/livez` passes although something that the server does once at its start is not finished.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. `0s` by default. The flag
   * `--livez-grace-period`.
   */
  readonly livezGracePeriod?: number | string | undefined;
  /**
   * How long the server goes on serving after a signal to end, while `/readyz` already fails.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. `0s` by default. The flag
   * `--shutdown-delay-duration`.
   */
  readonly shutdownDelayDuration?: number | string | undefined;
  /**
   * How long requests under way may take to finish after that; then connections are cut.
   *
   * A number of milliseconds, or a text such as '30s', '500ms' or '1h30m'. `20s` by default. The flag
   * `--shutdown-grace-period`.
   */
  readonly shutdownGracePeriod?: number | string | undefined;
  /**
   * The least level that is logged on standard error: `error`, `warn`, `info` or `debug`, which logs every request;
   * others for parts of the server, such as `info,store=debug,http=warn`. `PUT /debug/flags/v` changes it while the
   * server runs.
   *
   * A text such as 'info' or 'info,store=debug'. Nothing by default. The flag `--log-level`.
   */
  readonly logLevel?: string | undefined;
  /**
   * How each line of the log is written: as JSON, or as text with the level, the time and the part of the server before
   * the message. `auto` is text for people on a terminal, and JSON elsewhere.
   *
   * One of these words. `auto` by default. The flag `--log-format`.
   */
  readonly logFormat?: 'auto' | 'json' | 'text' | undefined;
  /**
   * Where traces of requests are sent, and how many requests are sampled, as in
   * [observability.md](observability.md#traces).
   *
   * The path of a file. Nothing by default. The flag `--tracing-config-file`.
   */
  readonly tracingConfigFile?: string | undefined;
  /**
   * Administrators can take profiles of processor time and memory below `/debug/pprof/`.
   *
   * True or false. `true` by default. The flag `--profiling`.
   */
  readonly profiling?: boolean | undefined;
  /**
   * Also shows the metrics that are hidden since this release, which must be the one before: none is at present.
   *
   * A minor release. Nothing by default. The flag `--show-hidden-metrics-for-version`.
   */
  readonly showHiddenMetricsForVersion?: string | undefined;
  /**
   * YAML file with settings: the names of flags without the hyphens before them.
   *
   * The path of a file. Nothing by default. The flag `--config`.
   */
  readonly config?: string | undefined;
}
