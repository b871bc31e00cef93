/** Every identifier that carries a product's or a domain's name. No other file spells one. */
export interface Names {
  /** API group suffix, such as `orch.io` in `networking.orch.io`. */
  readonly domain: string;
  /** Prefix of labels and annotations, such as `orch.io` in `orch.io/metadata.name`; also the private claim in tokens. */
  readonly labels: string;
  /** The bare product word: name of the API service object in `default`, of the namespace finalizer. */
  readonly product: string;
  /** Prefix of schema extensions, such as `x-orch-` in `x-orch-list-type`. */
  readonly extension: string;
  /** Reversed domain that OpenAPI names start with, such as `io.orch`. */
  readonly openApi: string;
  readonly protobufMediaType: string;
  readonly systemNamespace: string;
  readonly publicNamespace: string;
  readonly nodeLeaseNamespace: string;
  readonly execInfoVariable: string;
  readonly flowControlHeader: string;
  /** What the name of the volume begins with in which a pod finds its token. */
  readonly tokenVolume: string;
  /** The config map in each namespace with the authority that signed the server's certificate. */
  readonly rootAuthorityMap: string;
  /** Who the server is where it writes on its own account. */
  readonly server: string;
  /** Name of the health check of the backing store. */
  readonly storeCheck: string;
}

/** The metric that tells which features are on, under every domain. */
export const featureMetric = 'kubernetes_feature_enabled';

/** The metrics that tell how health checks end, under every domain. */
export const healthMetrics = { last: 'kubernetes_healthcheck', total: 'kubernetes_healthchecks_total' };

/** The domain that a server speaks for when it is told no other. */
export const defaultDomain = 'orch.io';
/** The domain under which existing clients work unchanged. */
export const compatibleDomain = 'k8s.io';

/** The names under an API domain. `k8s.io` selects the Kubernetes spelling; any other domain speaks for itself. */
export function namesFor(domain: string): Names {
  const kubernetes = domain === compatibleDomain;
  const product = kubernetes ? 'kubernetes' : (domain.split('.')[0] ?? domain);
  const short = kubernetes ? 'kube' : product;
  return {
    domain,
    labels: kubernetes ? 'kubernetes.io' : domain,
    product,
    extension: `x-${product}-`,
    openApi: domain.split('.').reverse().join('.'),
    protobufMediaType: `application/vnd.${product}.protobuf`,
    systemNamespace: 'kube-system',
    publicNamespace: `${short}-public`,
    nodeLeaseNamespace: `${short}-node-lease`,
    execInfoVariable: `${product.toUpperCase().replaceAll('-', '_')}_EXEC_INFO`,
    flowControlHeader: `X-${product.charAt(0).toUpperCase()}${product.slice(1)}-PF-`,
    tokenVolume: `${short}-api-access`,
    rootAuthorityMap: `${short}-root-ca.crt`,
    server: kubernetes ? 'kube-apiserver' : product,
    storeCheck: kubernetes ? 'etcd' : 'store',
  };
}

/** Replaces `{domain}`, `{labels}` and `{product}` in declared data by the names in force. */
export function expandNames(text: string, names: Names): string {
  return text.replace(/\{(domain|labels|product)\}/g, (_, key: 'domain' | 'labels' | 'product') => names[key]);
}
