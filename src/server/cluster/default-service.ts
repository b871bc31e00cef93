/**
 * The service reconciler: maintains the default ServiceCIDR, the service of the API server in the namespace `default`, and
 * the endpoint of this server.
 */
import type { Client } from '../../client/index.ts';
import {
  type ApiObject,
  at,
  firstAddress,
  formatCidr,
  formatTime,
  isStatus,
  type JsonObject,
  jsonEqual,
  type Names,
} from '../../meta/index.ts';
import type { Registry } from '../../registry/index.ts';
import type { Store } from '../../store/index.ts';
import type { Dependencies } from '../dependencies.ts';
import type { ServerSettings } from '../settings/flags.ts';
import { advertisedAddress, type Interfaces } from './advertise-address.ts';
import { type BootstrapObject, ensureObject, ownManager } from './bootstrap-objects.ts';
import { removeLease, renewLease, type ServerEndpoint } from './endpoint-leases.ts';
import { publishEndpoints } from './service-endpoints.ts';

export interface ServiceReconcilerOptions {
  readonly registry: Pick<Registry, 'find'>;
  readonly client: Client;
  readonly store: Store;
  readonly names: Names;
  readonly settings: ServerSettings;
  readonly clock: Dependencies['clock'];
  readonly log: Dependencies['log'];
  /** The current network interfaces of the host. */
  readonly interfaces: () => Interfaces;
  /** The port of the listener; undefined while the server does not listen. */
  readonly port: () => number | undefined;
}

const namespace = 'default';
const servicePort = 443;

/** The tasks of the service reconciler. They never reject: errors are logged. */
export interface ServiceReconciler {
  /** Reconciles all objects, and renews the lease of the endpoint of this server. */
  readonly reconcile: () => Promise<void>;
  /** Removes the endpoint of this server; later calls of `reconcile` do nothing. */
  readonly withdraw: () => Promise<void>;
}

const nothing = async (): Promise<void> => undefined;
/** Of a server without Services. */
const noService: ServiceReconciler = { reconcile: nothing, withdraw: nothing };

export function createServiceReconciler(options: ServiceReconcilerOptions): ServiceReconciler {
  if (options.registry.find('', 'v1', 'services') === undefined) return noService;
  const { log, store } = options;
  const logged = new Set<string>();
  /** Logs each message once. */
  const warn = (text: string, fields: { readonly [name: string]: unknown }) => {
    if (!logged.has(text)) log.warn(text, fields);
    logged.add(text);
  };
  /** Whether the last call was rejected as invalid. */
  let refused = false;
  /** The target port of the last correction: at startup and on listen. Later changes by users stay. */
  let corrected: number | undefined;
  /** The leased endpoint of this server. */
  let leased: ServerEndpoint | undefined;
  let withdrawn = false;
  const renewEndpoint = async () => {
    const endpoint = endpointOf(options, warn);
    if (endpoint === undefined) return;
    if (leased !== undefined && leased.ip !== endpoint.ip) await removeLease(store, leased);
    await renewLease(store, endpoint);
    leased = endpoint;
    await publishEndpoints(options);
  };
  const reconcile = async () => {
    if (withdrawn) return;
    const reconcileService = async () => {
      const range = await ensureServiceCidr(options, warn);
      const target = targetOf(options);
      await Promise.all([range && ensureReadyCondition(options, range), ensureService(options, target !== corrected)]);
      corrected = target;
    };
    try {
      // A conflict about the service, as with another server that starts, does not leave out the endpoint.
      const results = await Promise.allSettled([renewEndpoint(), reconcileService()]);
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    } catch (error) {
      // On a conflict another server has reconciled the object, or the next call will. Another server that starts at the
      // same time may have taken the address: a refusal is logged when it repeats.
      const isRace = isStatus(error, 409) || (isStatus(error, 422) && !refused);
      refused = isStatus(error, 422);
      if (!isRace) warn('failed to reconcile the service of the API server', { error });
    }
  };
  const withdraw = async () => {
    withdrawn = true;
    if (leased === undefined) return;
    try {
      await removeLease(store, leased);
      await publishEndpoints(options);
    } catch (error) {
      // The lease expires.
      warn('failed to remove the endpoint of this server', { error });
    }
  };
  let last = Promise.resolve();
  const after = (task: () => Promise<void>) => () => {
    last = last.then(task);
    return last;
  };
  return { reconcile: after(reconcile), withdraw: after(withdraw) };
}

type Warn = Dependencies['log']['warn'];

/** The default ServiceCIDR, from the settings. */
export function defaultServiceCidr(
  names: Names,
  { serviceClusterIpRange }: ServerSettings,
): BootstrapObject & { fields: Ranges } {
  return {
    apiVersion: `networking.${names.domain}/v1`,
    resource: 'servicecidrs',
    kind: 'ServiceCIDR',
    metadata: { name: names.product },
    fields: { spec: { cidrs: serviceClusterIpRange.map(formatCidr) } },
  };
}
interface Ranges extends JsonObject {
  spec: { cidrs: string[] };
}

/** An existing ServiceCIDR that differs from the settings is not changed, except to add a second IP family. */
async function ensureServiceCidr(
  { client, names, settings }: ServiceReconcilerOptions,
  warn: Warn,
): Promise<ApiObject | undefined> {
  const { fields, ...object } = defaultServiceCidr(names, settings);
  const { cidrs } = fields.spec;
  const range = await ensureObject(client, object, fields);
  const currentCidrs = at(range, 'spec', 'cidrs');
  if (range === undefined || jsonEqual(currentCidrs, cidrs)) return range;
  if (Array.isArray(currentCidrs) && currentCidrs.length === 1 && currentCidrs[0] === cidrs[0]) {
    return ensureObject(client, { ...object, fields });
  }
  warn('the default ServiceCIDR differs from --service-cluster-ip-range; delete it to have it created again', {
    currentCidrs,
    cidrs,
  });
  return undefined;
}

async function ensureReadyCondition(
  { client, names, settings, clock }: ServiceReconcilerOptions,
  range: ApiObject,
): Promise<void> {
  if (hasReadyCondition(range)) return;
  const product = names.product.charAt(0).toUpperCase() + names.product.slice(1);
  const condition = {
    type: 'Ready',
    status: 'True',
    lastTransitionTime: formatTime(clock.now()),
    reason: '',
    message: `${product} default Service CIDR is ready`,
  };
  const { apiVersion, resource, metadata } = defaultServiceCidr(names, settings);
  const place = { apiVersion, resource, name: metadata.name, subresource: 'status' };
  await client.patch(place, 'merge', { status: { conditions: [condition] } }, { fieldManager: ownManager });
}

/** Whether it has a Ready condition or is being deleted. */
function hasReadyCondition({ metadata, status }: ApiObject): boolean {
  const conditions = at(status, 'conditions');
  const ready = (Array.isArray(conditions) ? conditions : []).some((condition) => at(condition, 'type') === 'Ready');
  return ready || metadata.deletionTimestamp !== undefined;
}

/** The port of the listener, else the configured one, else 443. */
const targetOf = ({ settings, port }: ServiceReconcilerOptions): number =>
  port() ?? (settings.securePort || servicePort);

/** Creates the service; with `correct` its ports and labels are also corrected. */
async function ensureService(options: ServiceReconcilerOptions, correct: boolean): Promise<void> {
  const { client, names, settings } = options;
  const [range] = settings.serviceClusterIpRange;
  if (range === undefined) return;
  const ports = [{ name: 'https', protocol: 'TCP', port: servicePort, targetPort: targetOf(options) }];
  const spec = { type: 'ClusterIP', sessionAffinity: 'None', ports };
  const initialSpec = { clusterIP: firstAddress(range), ipFamilyPolicy: 'SingleStack' };
  const service = {
    resource: 'services',
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: names.product, namespace, labels: { component: 'apiserver', provider: names.product } },
  };
  if (correct) await ensureObject(client, { ...service, fields: { spec } }, { spec: initialSpec });
  else await ensureObject(client, service, { spec: { ...spec, ...initialSpec } });
}

/** The endpoint of this server; undefined while it does not listen, or when others cannot reach it, which is logged. */
function endpointOf({ settings, interfaces, port: portNow }: ServiceReconcilerOptions, warn: Warn) {
  const port = portNow();
  if (port === undefined || settings.endpointReconcilerType === 'none') return undefined;
  const ip = advertisedAddress(settings, interfaces());
  if (ip !== undefined) return { ip, port };
  warn(
    'the service of the API server has no endpoints, so that no other machine can reach it: set --advertise-address',
    {},
  );
  return undefined;
}
