/**
 * The server as a service of its own cluster: the range that its services have addresses of, and in the namespace
 * `default` the service, endpoints and endpoint slice under which programs in the cluster find it.
 */
import { isIPv4 } from 'node:net';
import type { Client } from '../client/index.ts';
import { type ApiObject, at, firstAddress, formatTime, type JsonObject, jsonEqual, type Names } from '../meta/index.ts';
import { advertisedAddress, type Interfaces } from './advertised.ts';
import { type BootstrapObject, ensureObject, isStatus, ownManager } from './bootstrap-objects.ts';
import type { Dependencies } from './dependencies.ts';
import type { ServerSettings } from './flags.ts';

export interface DefaultServiceOptions {
  readonly client: Client;
  readonly names: Names;
  readonly settings: ServerSettings;
  readonly clock: Dependencies['clock'];
  readonly log: Dependencies['log'];
  /** Those of the machine, just now. */
  readonly interfaces: () => Interfaces;
  /** Where it listens; undefined while it does not. */
  readonly port: () => number | undefined;
}

const namespace = 'default';
const servicePort = 443;

/** Each call makes everything as it should be. Never rejects: what cannot be is logged. */
export function createDefaultService(options: DefaultServiceOptions): () => Promise<void> {
  const { log } = options;
  const told = new Set<string>();
  /** The same complaint is told once. */
  const warn = (text: string, fields: { readonly [name: string]: unknown }) => {
    if (!told.has(text)) log.warn(text, fields);
    told.add(text);
  };
  /** For which port the service has been corrected: at a start, and when it listens; later changes are someone's wish. */
  let corrected: number | undefined;
  const keep = async () => {
    try {
      const range = await ensureRange(options, warn);
      const target = targetOf(options);
      await Promise.all([
        range && ensureReady(options, range),
        ensureService(options, target !== corrected),
        ensureEndpoints(options, warn),
      ]);
      corrected = target;
    } catch (error) {
      // Another server may have been first: then it is right now, or will be the next time.
      if (!isStatus(error, 409)) warn('the service of this server cannot be kept', { error });
    }
  };
  let last = Promise.resolve();
  return () => {
    last = last.then(keep);
    return last;
  };
}

type Warn = Dependencies['log']['warn'];

/** The blocks of the settings as the object that services have addresses of. */
export function serviceRange(
  names: Names,
  { serviceClusterIpRange }: ServerSettings,
): BootstrapObject & { fields: Ranges } {
  return {
    apiVersion: `networking.${names.domain}/v1`,
    resource: 'servicecidrs',
    kind: 'ServiceCIDR',
    metadata: { name: names.product },
    fields: { spec: { cidrs: serviceClusterIpRange.map(({ address, prefix }) => `${address}/${prefix}`) } },
  };
}
interface Ranges extends JsonObject {
  spec: { cidrs: string[] };
}

/** An object that says otherwise than the settings is left alone, but for a second family. */
async function ensureRange(
  { client, names, settings }: DefaultServiceOptions,
  warn: Warn,
): Promise<ApiObject | undefined> {
  const { fields, ...object } = serviceRange(names, settings);
  const { cidrs } = fields.spec;
  const range = await ensureObject(client, object, fields);
  const held = at(range, 'spec', 'cidrs');
  if (range === undefined || jsonEqual(held, cidrs)) return range;
  if (Array.isArray(held) && held.length === 1 && held[0] === cidrs[0]) {
    return ensureObject(client, { ...object, fields });
  }
  warn('the range of services is not that of the settings; delete its object to have it made anew', { held, cidrs });
  return undefined;
}

async function ensureReady({ client, names, settings, clock }: DefaultServiceOptions, range: ApiObject): Promise<void> {
  if (isReady(range)) return;
  const product = names.product.charAt(0).toUpperCase() + names.product.slice(1);
  const condition = {
    type: 'Ready',
    status: 'True',
    lastTransitionTime: formatTime(clock.now()),
    reason: '',
    message: `${product} default Service CIDR is ready`,
  };
  const { apiVersion, resource, metadata } = serviceRange(names, settings);
  const place = { apiVersion, resource, name: metadata.name, subresource: 'status' };
  await client.patch(place, 'merge', { status: { conditions: [condition] } }, { fieldManager: ownManager });
}

/** Whether someone has said if it is ready; of one on its way out nobody needs to. */
function isReady({ metadata, status }: ApiObject): boolean {
  const conditions = at(status, 'conditions');
  const ready = (Array.isArray(conditions) ? conditions : []).some((condition) => at(condition, 'type') === 'Ready');
  return ready || metadata.deletionTimestamp !== undefined;
}

/** Where it listens, or is to listen; a port that is still to be chosen cannot be told. */
const targetOf = ({ settings, port }: DefaultServiceOptions): number => port() ?? (settings.securePort || servicePort);

/** With `correct` it says what it should; otherwise it is there, and what it says stays. */
async function ensureService(options: DefaultServiceOptions, correct: boolean): Promise<void> {
  const { client, names, settings } = options;
  const [range] = settings.serviceClusterIpRange;
  if (range === undefined) return;
  const ports = [{ name: 'https', protocol: 'TCP', port: servicePort, targetPort: targetOf(options) }];
  const spec = { type: 'ClusterIP', sessionAffinity: 'None', ports };
  const first = { clusterIP: firstAddress(range), ipFamilyPolicy: 'SingleStack' };
  const service = {
    resource: 'services',
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: names.product, namespace, labels: { component: 'apiserver', provider: names.product } },
  };
  if (correct) await ensureObject(client, { ...service, fields: { spec } }, { spec: first });
  else await ensureObject(client, service, { spec: { ...spec, ...first } });
}

async function ensureEndpoints(options: DefaultServiceOptions, warn: Warn): Promise<void> {
  const { client, names, settings } = options;
  const port = options.port();
  if (port === undefined) return;
  const ip = advertisedAddress(settings, options.interfaces());
  if (ip === undefined) {
    warn('no one else can reach this server: its service has no endpoints; --advertise-address gives it one', {});
    return;
  }
  const ports = [{ name: 'https', port, protocol: 'TCP' }];
  const metadata = { name: names.product, namespace };
  await Promise.all([
    ensureObject(client, {
      resource: 'endpoints',
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { ...metadata, labels: { [`endpointslice.${names.labels}/skip-mirror`]: 'true' } },
      fields: { subsets: [{ addresses: [{ ip }], ports }] },
    }),
    ensureObject(client, {
      resource: 'endpointslices',
      apiVersion: `discovery.${names.domain}/v1`,
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { [`${names.labels}/service-name`]: names.product } },
      fields: {
        addressType: isIPv4(ip) ? 'IPv4' : 'IPv6',
        endpoints: [{ addresses: [ip], conditions: { ready: true } }],
        ports,
      },
    }),
  ]);
}
