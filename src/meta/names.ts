/** Every identifier with the name of the product or its domain. No other file contains one. */
export interface Names {
  /** API group suffix, such as `orch.io` in `networking.orch.io`. */
  readonly domain: string;
  /**
   * Prefix of labels and annotations, such as `orch.io` in `orch.io/metadata.name`; also the private claim in tokens.
   */
  readonly labels: string;
  /** The bare product word: name of the API service object in `default`, of the namespace finalizer. */
  readonly product: string;
  /** Prefix of schema extensions, such as `x-orch-` in `x-orch-list-type`. */
  readonly extension: string;
  /** Reversed domain, the prefix of OpenAPI names, such as `io.orch`. */
  readonly openApi: string;
  readonly protobufMediaType: string;
  readonly systemNamespace: string;
  readonly publicNamespace: string;
  readonly nodeLeaseNamespace: string;
  readonly execInfoVariable: string;
  readonly flowControlHeader: string;
  /** Prefix of the name of a pod's service account token volume. */
  readonly tokenVolume: string;
  /** The config map in each namespace with the CA bundle of the server. */
  readonly rootAuthorityMap: string;
  /** The field manager and user agent of the server's own writes. */
  readonly server: string;
  /** Name of the health check of the backing store. */
  readonly storeCheck: string;
}

/** The name of the product for people. */
export const productName = 'orch';

/** The metric of enabled feature gates, for every domain. */
export const featureMetric = 'kubernetes_feature_enabled';

/** The metric of the version, for every domain. */
export const buildMetric = 'kubernetes_build_info';

/** The name of a metric that only this server has, for every domain. */
export const ownMetric = (name: string): string => `orch_${name}`;

/** The metrics of health checks, for every domain. */
export const healthMetrics = { last: 'kubernetes_healthcheck', total: 'kubernetes_healthchecks_total' };

/** The WebSocket subprotocols of commands in containers and of forwarded ports, for every domain; the preferred first. */
export const streamProtocols = {
  command: ['v5.channel.k8s.io', 'v4.channel.k8s.io'],
  port: ['v4.channel.k8s.io'],
} as const;

/** The same over SPDY. */
export const spdyProtocols = {
  command: ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io'],
  port: ['portforward.k8s.io'],
} as const;

/** The prefix of the types that libraries add to the expression language, for every domain. */
export const expressionTypes = 'kubernetes';

/** The default API domain. */
export const defaultDomain = 'orch.io';
/** The domain under which existing clients work unchanged. */
export const compatibleDomain = 'k8s.io';

/** The names of an API domain. `k8s.io` gives the names of Kubernetes. */
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

/** Replaces `{domain}`, `{labels}` and `{product}` in declared data with the configured names. */
export function expandNames(text: string, names: Names): string {
  if (!text.includes('{')) return text;
  const { domain, labels, product } = names;
  return text.replaceAll('{domain}', domain).replaceAll('{labels}', labels).replaceAll('{product}', product);
}

/** A copy of declared data in which all texts, those of keys included, have the configured names. */
export function expandNamesIn<T>(value: T, names: Names): T {
  if (typeof value === 'string') return expandNames(value, names) as T;
  if (Array.isArray(value)) return value.map((item) => expandNamesIn(item, names)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const copy: { [key: string]: unknown } = {};
  for (const [key, item] of Object.entries(value)) copy[expandNames(key, names)] = expandNamesIn(item, names);
  return copy as T;
}
