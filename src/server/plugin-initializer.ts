import type { KindPlace, PluginInitializer } from '../admission/index.ts';
import type { Authorizer } from '../auth/index.ts';
import {
  type ApiObject,
  formatGroupVersion,
  isJsonObject,
  type JsonObject,
  type Names,
  type Random,
  StatusError,
} from '../meta/index.ts';
import { namespaceLookup, type Registry, type WriteOptions } from '../registry/index.ts';
import { requestedOrganizations } from '../resources/index.ts';
import type { Store } from '../store/index.ts';
import type { ServerSettings } from './flags.ts';
import { decodeObject, objectLookup } from './object-lookup.ts';

interface Surroundings {
  readonly names: Names;
  readonly random: Random;
  readonly store: Store;
  readonly authorize: Authorizer;
  readonly settings: Pick<ServerSettings, 'defaultNotReadyTolerationSeconds' | 'defaultUnreachableTolerationSeconds'>;
  /** Asked only once a write is on its way. */
  readonly registry: () => Registry;
}

/** What plugins are handed, out of the registry that they are a part of. */
export function pluginInitializer({
  names,
  random,
  store,
  authorize,
  settings,
  registry,
}: Surroundings): PluginInitializer {
  let kinds: Map<string, KindPlace> | undefined;
  return {
    names,
    random,
    objects: objectLookup(registry, store),
    namespace: namespaceLookup(registry, store),
    authorize: (user, { verb, ...resource }) => authorize({ user, verb, resource, path: '' }),
    findKind: (apiVersion, kind) => {
      kinds ??= kindsOf(registry());
      return kinds.get(`${apiVersion} ${kind}`);
    },
    tolerationSeconds: {
      notReady: settings.defaultNotReadyTolerationSeconds,
      unreachable: settings.defaultUnreachableTolerationSeconds,
    },
    createNamespace: (name) => createNamespace(registry(), name),
    chargeQuota: (quota, used) => writeUsed(registry(), quota, used),
    organizationsOf: requestedOrganizations,
  };
}

function kindsOf({ resources }: Registry): Map<string, KindPlace> {
  const out = new Map<string, KindPlace>();
  for (const { definition, id } of resources) {
    for (const { version } of definition.versions) {
      const place = { group: id.group, version, resource: id.resource, namespaced: definition.namespaced };
      out.set(`${formatGroupVersion(place)} ${definition.kind}`, place);
    }
  }
  return out;
}

/** How plugins write: for the server itself. */
const ownWrite = (): WriteOptions => ({
  requester: { name: 'system:apiserver', groups: ['system:masters'] },
  dryRun: false,
  fieldManager: 'apiserver',
  fieldValidation: 'Ignore',
  force: false,
  warnings: new Set(),
});

async function createNamespace(registry: Registry, name: string): Promise<void> {
  const resource = registry.find('', 'v1', 'namespaces');
  if (resource === undefined) return;
  const value = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  const target = { resource, version: 'v1', namespace: '', name: '', subresource: '' };
  await registry.write(target, { verb: 'create', object: { value, findings: [] } }, ownWrite());
}

/** The quota as it was written; undefined when it was no longer as given. */
async function writeUsed(registry: Registry, quota: ApiObject, used: JsonObject): Promise<ApiObject | undefined> {
  const resource = registry.find('', 'v1', 'resourcequotas');
  if (resource === undefined) return undefined;
  const { namespace = '', name = '' } = quota.metadata;
  const status = { ...(isJsonObject(quota['status']) ? quota['status'] : {}), used };
  const target = { resource, version: 'v1', namespace, name, subresource: 'status' };
  const change = { verb: 'update', object: { value: { ...quota, status }, findings: [] } } as const;
  try {
    const { object } = await registry.write(target, change, ownWrite());
    return object === undefined ? undefined : decodeObject(object);
  } catch (error) {
    if (error instanceof StatusError && (error.code === 409 || error.code === 404)) return undefined;
    throw error;
  }
}
