/**
 * The Endpoints and EndpointSlices of the API service: the addresses of all servers whose leases have not expired. Slices
 * have one port and one address family each; the first one has the name of the service.
 */
import { isIPv4 } from 'node:net';
import type { Client } from '../../client/index.ts';
import { type ApiObject, at, isStatus, type JsonObject, jsonEqual, type Names } from '../../meta/index.ts';
import type { Store } from '../../store/index.ts';
import { type BootstrapObject, findObject, reconcileObject } from './bootstrap-objects.ts';
import { leasedEndpoints, portsOf, type ServerEndpoint } from './endpoint-leases.ts';

export interface ServiceEndpointsOptions {
  readonly client: Client;
  readonly names: Names;
  readonly store: Store;
}

/** Maximum number of attempts when other servers write the objects, or leases change: many servers may start at once. */
const maxRounds = 50;

/**
 * Reconciles the objects with the leases. Every write is conditional on the resourceVersion that was read before the leases,
 * so that no server overwrites newer data of another one.
 * @throws StatusError, also 409 when other servers keep writing; StoreError
 */
export async function publishEndpoints(options: ServiceEndpointsOptions): Promise<void> {
  let leased: readonly ServerEndpoint[] = await leasedEndpoints(options.store);
  for (let round = 1; ; round++) {
    try {
      const changed = await publish(options, leased);
      if (changed === undefined) return;
      leased = changed;
    } catch (error) {
      if (!isStatus(error, 409) || round === maxRounds) throw error;
    }
  }
}

/** Writes the objects of these endpoints. When the leases have changed, writes nothing and returns the new endpoints. */
async function publish(
  options: ServiceEndpointsOptions,
  leased: readonly ServerEndpoint[],
): Promise<readonly ServerEndpoint[] | undefined> {
  const { client, names } = options;
  const desired = [endpointsOf(names, leased), ...slicesOf(names, leased)];
  const [surplus, ...currentObjects] = await Promise.all([
    surplusSlices(options, desired),
    ...desired.map(({ object }) => findObject(client, object)),
  ]);
  const latest = await leasedEndpoints(options.store);
  if (!jsonEqual(asJson(latest), asJson(leased))) return latest;
  await Promise.all([
    ...surplus.map((slice) => remove(options, slice)),
    ...desired.map(async ({ object, initialFields }, index) => {
      const current = currentObjects[index];
      // The last server to end creates no objects.
      if (current === undefined && leased.length === 0) return;
      const { addressType } = initialFields;
      // The address type is immutable: the slice is created again.
      const other = addressType !== undefined && at(current, 'addressType') !== addressType;
      if (current !== undefined && other) await remove(options, current);
      await reconcileObject(client, object, other ? undefined : current, initialFields);
    }),
  ]);
  return undefined;
}

const asJson = (endpoints: readonly ServerEndpoint[]) => endpoints.map(({ ip, port }) => ({ ip, port }));

const namespace = 'default';
const sliceResource = (names: Names) => ({
  resource: 'endpointslices',
  apiVersion: `discovery.${names.domain}/v1`,
});

interface DesiredObject {
  readonly object: BootstrapObject;
  /** Fields that are set only on creation. */
  readonly initialFields: JsonObject;
}

function endpointsOf(names: Names, leased: readonly ServerEndpoint[]): DesiredObject {
  const subsets = groupsOf(leased, ({ port }) => String(port)).map(([{ port }, addresses]) => ({
    addresses: addresses.map((ip) => ({ ip })),
    ports: portsOf(port),
  }));
  const labels = { [`endpointslice.${names.labels}/skip-mirror`]: 'true' };
  const metadata = { name: names.product, namespace, labels };
  const object = { resource: 'endpoints', apiVersion: 'v1', kind: 'Endpoints', metadata, fields: { subsets } };
  return { object, initialFields: {} };
}

function slicesOf(names: Names, leased: readonly ServerEndpoint[]): DesiredObject[] {
  const groups = groupsOf(leased, ({ ip, port }) => `${port} ${familyOf(ip)}`);
  const slice = (name: string, labels: { [key: string]: string }, fields: JsonObject): BootstrapObject => ({
    ...sliceResource(names),
    kind: 'EndpointSlice',
    metadata: { name, namespace, labels: { [serviceLabel(names)]: names.product, ...labels } },
    fields,
  });
  if (groups.length === 0) return [{ object: slice(names.product, {}, { endpoints: [] }), initialFields: {} }];
  return groups.map(([{ ip, port }, addresses], index) => {
    const family = familyOf(ip);
    const endpoints = addresses.map((address) => ({ addresses: [address], conditions: { ready: true } }));
    const more = `${names.product}-${family.toLowerCase()}-${port}`;
    const object = slice(
      index === 0 ? names.product : more,
      index === 0 ? {} : { [managerLabel(names)]: names.server },
      { endpoints, ports: portsOf(port) },
    );
    return { object, initialFields: { addressType: family } };
  });
}

const serviceLabel = (names: Names) => `${names.labels}/service-name`;
const managerLabel = (names: Names) => `endpointslice.${names.labels}/managed-by`;
const familyOf = (ip: string) => (isIPv4(ip) ? 'IPv4' : 'IPv6');

/** The first endpoint and the sorted addresses of each group; lowest port first, IPv4 before IPv6. */
function groupsOf(
  leased: readonly ServerEndpoint[],
  groupOf: (endpoint: ServerEndpoint) => string,
): [ServerEndpoint, string[]][] {
  const groups = new Map<string, [ServerEndpoint, string[]]>();
  const rank = ({ ip, port }: ServerEndpoint) => `${String(port).padStart(5, '0')} ${familyOf(ip)} ${ip}`;
  for (const endpoint of leased.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))) {
    const group = groups.get(groupOf(endpoint));
    if (group === undefined) groups.set(groupOf(endpoint), [endpoint, [endpoint.ip]]);
    else group[1].push(endpoint.ip);
  }
  return [...groups.values()];
}

/** The additional slices that servers have created and that are no longer needed. */
async function surplusSlices({ client, names }: ServiceEndpointsOptions, desired: readonly DesiredObject[]) {
  const place = { ...sliceResource(names), namespace };
  const labelSelector = `${serviceLabel(names)}=${names.product},${managerLabel(names)}=${names.server}`;
  const { items } = await client.list<ApiObject>(place, { labelSelector }).catch((error: unknown) => {
    // The resource is not served.
    if (isStatus(error, 404)) return { items: [] };
    throw error;
  });
  return items.filter(({ metadata }) => desired.every(({ object }) => object.metadata.name !== metadata.name));
}

async function remove({ client, names }: ServiceEndpointsOptions, { metadata }: ApiObject): Promise<void> {
  const { name = '', uid = '', resourceVersion = '' } = metadata;
  const preconditions = { uid, resourceVersion };
  await client.delete({ ...sliceResource(names), namespace, name }, { preconditions }).catch((error: unknown) => {
    if (!isStatus(error, 404)) throw error;
  });
}
