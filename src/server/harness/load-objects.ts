import { type Client, type Place, readJson } from '../../client/index.ts';
import { type ApiObject, isJsonObject, type Names, StatusError } from '../../meta/index.ts';
import { StartError } from '../start-error.ts';
import { allOf, readSources, type Source, type SourcedObject } from './sources.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message?: string;
}

/** Creates custom resource definitions, and waits until they are established. @throws StartError that names the files */
export async function loadDefinitions(client: Client, names: Names, source: Source | readonly Source[]): Promise<void> {
  const kind = 'CustomResourceDefinition';
  const place = { apiVersion: `apiextensions.${names.domain}/v1`, resource: 'customresourcedefinitions' };
  const sourced = await readSources('definitions', source, (object) => object['kind'] === kind);
  const loaded = sourced.map(async ({ object, where }) => {
    if (object.kind !== kind) throw new StartError(`${where}: kind must be ${kind}; it is ${object.kind}`);
    if (object.apiVersion !== place.apiVersion) {
      throw new StartError(`${where}: apiVersion must be ${place.apiVersion}; it is ${object.apiVersion}`);
    }
    const created = await withSource(where, client.create(place, object));
    await waitForEstablished(client, place, created, where);
  });
  allOf(await Promise.allSettled(loaded));
}

/** Waits until a definition is established. @throws StartError when its names conflict */
async function waitForEstablished(client: Client, place: Place, created: ApiObject, where: string): Promise<void> {
  const { name = '' } = created.metadata;
  const watch = await client.watch<ApiObject>(place, { fieldSelector: `metadata.name=${name}` });
  for await (const { object } of watch) {
    // A definition that no controller has seen has the conditions null.
    const { conditions } = (object['status'] ?? {}) as { readonly conditions?: readonly Condition[] | null };
    const of = (type: string) => conditions?.find((condition) => condition.type === type);
    if (of('Established')?.status === 'True') return;
    const naming = of('NamesAccepted');
    if (naming?.status === 'False') throw new StartError(`${where}: ${name} is not established: ${naming.message}`);
  }
  throw new StartError(`${where}: ${name} is not established`);
}

const configurationKinds = {
  MutatingWebhookConfiguration: 'mutatingwebhookconfigurations',
  ValidatingWebhookConfiguration: 'validatingwebhookconfigurations',
};

/** Creates webhook configurations. @throws StartError that names the files */
export async function loadConfigurations(
  client: Client,
  names: Names,
  source: Source | readonly Source[],
): Promise<void> {
  const resourceOf = (kind: unknown) => Object.entries(configurationKinds).find(([name]) => name === kind)?.[1];
  const apiVersion = `admissionregistration.${names.domain}/v1`;
  const isSelected = (object: { readonly [field: string]: unknown }) => resourceOf(object['kind']) !== undefined;
  const sourced = await readSources('webhooks.configurations', source, isSelected);
  const created = sourced.map(async ({ object, where }) => {
    const resource = resourceOf(object.kind);
    if (resource === undefined) {
      throw new StartError(
        `${where}: kind must be ${Object.keys(configurationKinds).join(' or ')}; it is ${object.kind}`,
      );
    }
    await withSource(where, client.create({ apiVersion, resource }, object));
  });
  allOf(await Promise.allSettled(created));
}

interface Served {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/**
 * Creates objects in order, namespaces and service accounts first, in the namespace `default` unless they name another one.
 * Writes their status where the kind has one. `prepared` resolves once the namespaces accept the remaining objects.
 * @throws StartError that names the file or the object
 */
export async function loadObjects(
  client: Client,
  source: Source | readonly Source[],
  prepared: (namespaces: readonly string[]) => Promise<void>,
): Promise<void> {
  const sourced = await readSources('objects', source);
  const of = (kindName: string) =>
    sourced.filter(({ object: { apiVersion, kind } }) => apiVersion === 'v1' && kind === kindName);
  const [namespaces, accounts] = [of('Namespace'), of('ServiceAccount')];
  const first = new Set([...namespaces, ...accounts]);
  await createObjects(client, first);
  await prepared(namespaces.map(({ object }) => object.metadata.name ?? ''));
  await createObjects(
    client,
    sourced.filter((one) => !first.has(one)),
  );
}

async function createObjects(client: Client, sourced: Iterable<SourcedObject>): Promise<void> {
  const served = new Map<string, Promise<readonly Served[]>>();
  for (const { object, where } of sourced) {
    const { apiVersion, kind, metadata } = object;
    const resources = served.get(apiVersion) ?? withSource(where, discover(client, apiVersion));
    served.set(apiVersion, resources);
    const resource = (await resources).find((one) => one.kind === kind && !one.name.includes('/'));
    if (resource === undefined) throw new StartError(`${where}: no resource of ${apiVersion} has the kind ${kind}`);
    const { name: plural, namespaced } = resource;
    const namespace = namespaced ? { namespace: metadata.namespace ?? 'default' } : {};
    const place = { apiVersion, resource: plural, ...namespace };
    const created = await withSource(where, client.create(place, object));
    const hasStatus = (await resources).some(({ name }) => name === `${plural}/status`);
    if (!hasStatus || object['status'] === undefined) continue;
    const status = { ...place, name: created.metadata.name ?? '', subresource: 'status' };
    await withSource(where, client.update(status, { ...created, status: object['status'] }));
  }
}

async function discover(client: Client, apiVersion: string): Promise<readonly Served[]> {
  const url = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const response = await client.request({ method: 'GET', url, headers: {} });
  if (response.status === 404) return [];
  const list = await readJson(response);
  const resources = isJsonObject(list) ? list['resources'] : undefined;
  return (resources ?? []) as unknown as readonly Served[];
}

/** Adds the source of the object to a rejection. @throws StartError */
async function withSource<T>(where: string, result: Promise<T>): Promise<T> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof StatusError) throw new StartError(`${where}: ${error.message}`, error);
    throw error;
  }
}
