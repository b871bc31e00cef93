import { bootstrapPolicy, type PolicyObject, type PolicyStep, reconcilePolicy } from '../../auth/index.ts';
import type { Client } from '../../client/index.ts';
import { formatGroupResource, isStatus, type Names, parseGroupVersion, statusError } from '../../meta/index.ts';
import type { Registry, Resource } from '../../registry/index.ts';
import type { Store } from '../../store/index.ts';
import { commitNew } from '../cluster/bootstrap-objects.ts';
import type { Log } from '../dependencies.ts';

interface BootstrapPolicyOptions {
  /** Has the rights to change every role and binding. */
  readonly client: Client;
  readonly registry: Registry;
  readonly store: Store;
  readonly names: Names;
  readonly log: Log;
  /** The built-in resources that the settings turn off. */
  readonly absent: ReadonlySet<string>;
}

/** The resources of the default policy by kind. */
const plurals: { readonly [kind: string]: string } = {
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  Role: 'roles',
  RoleBinding: 'rolebindings',
};
/** Maximum number of attempts after conflicts with other servers. */
const maxRounds = 10;
/** Maximum number of new objects in one commit; the store limits the writes of a commit. */
const batchSize = 100;

type Outcome = 'done' | 'conflict';

/**
 * Returns a function that ensures the default policy and calls `done`; after a success it does nothing. It never rejects:
 * errors are logged.
 */
export function createPolicyBootstrap(options: BootstrapPolicyOptions, done: () => void): () => Promise<void> {
  let ensured = false;
  return async () => {
    if (ensured) return;
    try {
      await ensureBootstrapPolicy(options);
      ensured = true;
      done();
    } catch (error) {
      options.log.error('failed to reconcile the default roles and bindings', { error });
    }
  };
}

/**
 * Creates missing default roles and bindings, and adds missing permissions, subjects, labels and annotations. Writes
 * nothing when nothing is missing. Logs objects that cannot be corrected. @throws StatusError
 */
async function ensureBootstrapPolicy(options: BootstrapPolicyOptions): Promise<void> {
  const { registry, names, absent } = options;
  const hasMetrics = registry.find(`metrics.${names.domain}`, 'v1beta1', 'pods') !== undefined;
  const policy = bootstrapPolicy(names, registry.features, hasMetrics, absent).filter((object) =>
    resourceOf(registry, object),
  );
  for (let round = 0; round < maxRounds; round++) {
    const steps = reconcilePolicy(policy, await storedPolicy(options), names);
    const created = steps.filter(({ verb }) => verb === 'create').map(({ object }) => object);
    const outcomes = await Promise.all([
      ...batches(created).map((objects) => create(options, objects)),
      ...steps.filter(({ verb }) => verb !== 'create').map((step) => correct(options, step)),
    ]);
    if (!outcomes.includes('conflict')) return;
  }
  throw statusError.modified({ group: rbacGroup(names), resource: 'clusterroles' }, 'default roles');
}

/** Undefined: the resource of the object is not served. */
function resourceOf(registry: Registry, { apiVersion, kind }: PolicyObject): Resource | undefined {
  const { group = '', version = '' } = parseGroupVersion(apiVersion) ?? {};
  return registry.find(group, version, plurals[kind] ?? '');
}

const rbacGroup = ({ domain }: Names) => `rbac.authorization.${domain}`;

async function storedPolicy({ registry, names }: BootstrapPolicyOptions): Promise<PolicyObject[]> {
  const lists = await Promise.all(
    Object.values(plurals).map(async (resource) =>
      registry.objects.list(formatGroupResource({ group: rbacGroup(names), resource }), '', true),
    ),
  );
  return lists.flat() as unknown as PolicyObject[];
}

function batches(objects: readonly PolicyObject[]): PolicyObject[][] {
  const out: PolicyObject[][] = [];
  for (let start = 0; start < objects.length; start += batchSize) out.push(objects.slice(start, start + batchSize));
  return out;
}

/** Creates all objects in one commit, or none when one of them already exists. */
async function create(
  { registry, store, names }: BootstrapPolicyOptions,
  objects: readonly PolicyObject[],
): Promise<Outcome> {
  const entries = objects.flatMap((object) => {
    const resource = resourceOf(registry, object);
    return resource === undefined ? [] : registry.newEntry(resource, object, names.server);
  });
  return (await commitNew(store, entries)) ? 'done' : 'conflict';
}

/** Updates the object, or deletes it so that the next round creates it. */
async function correct({ client, names, log }: BootstrapPolicyOptions, { verb, object }: PolicyStep): Promise<Outcome> {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, uid = '' } = metadata;
  const resource = plurals[kind] ?? '';
  const place = { apiVersion, resource, name, ...(namespace === undefined ? {} : { namespace }) };
  try {
    if (verb === 'update') {
      await client.update(place, object, { fieldManager: names.server });
      return 'done';
    }
    await client.delete(place, { preconditions: { uid } });
    return 'conflict';
  } catch (error) {
    if (isStatus(error, 404) || isStatus(error, 409)) return 'conflict';
    log.error('failed to reconcile a default role or binding', { kind, namespace, name, error });
    return 'done';
  }
}
