import { keyOf, metadataOnly, pagesOf } from '../client/index.ts';
import {
  type ApiObject,
  formatGroupVersion,
  formatTime,
  isStatus,
  type ObjectMeta,
  parseTime,
  StatusError,
} from '../meta/index.ts';
import type { ObjectOf } from '../schema/index.ts';
import type { StorageVersionMigration } from '../types/storagemigration-v1alpha1.ts';
import type { ServedResource } from './metadata/discovery.ts';
import { ignoreGone } from './shared/errors.ts';
import { placeOf } from './shared/kind.ts';
import * as kinds from './shared/kinds.ts';
import type { Controller, ControllerContext } from './types.ts';

type Migration = ObjectOf<typeof StorageVersionMigration>;

/** The conditions of a migration, and their reasons in the reference server. */
const reasons = {
  Running: 'StorageVersionMigrationInProgress',
  Succeeded: 'StorageVersionMigrationSucceeded',
  Failed: 'StorageVersionMigrationFailed',
} as const;
type Outcome = keyof typeof reasons;

/** How long the resource of a new migration may be missing from discovery, and how often that is read until then (ms). */
const discoveryMs = 60_000;
const discoveryRetryMs = 5_000;

/** The name of the controller, of its service account, of its queue and of its field manager. */
const name = 'storage-version-migrator-controller';

/**
 * Has every object of the resource that a StorageVersionMigration names stored in its storage version: sends a patch that
 * changes nothing, which the server writes only if the object is stored in another form.
 */
export const storageVersionMigrator: Controller = {
  name,
  account: name,
  needs: [kinds.storageVersionMigrations],
  // It sends a request for each object.
  rate: { perSecond: 20, burst: 20 },
  start(context) {
    const migrations = context.informers.of(kinds.storageVersionMigrations);
    const work = context.queue(name, async (key) => {
      const migration = migrations.getByKey(key);
      if (migration === undefined || isFinished(migration)) return undefined;
      const { uid } = migration.metadata;
      return migrate(context, migration, () => migrations.getByKey(key)?.metadata.uid === uid);
    });
    migrations.onChange((migration) => {
      if (migration !== undefined && !isFinished(migration)) work.add(keyOf(migration));
    });
  },
};

const isTrue = ({ status }: Migration, outcome: Outcome): boolean =>
  status?.conditions?.some((condition) => condition.type === outcome && condition.status === 'True') === true;

const isFinished = (migration: Migration): boolean => isTrue(migration, 'Succeeded') || isTrue(migration, 'Failed');

/**
 * Carries out a migration, from the beginning if an earlier attempt was interrupted: objects that it has written are not
 * written again. `exists`: whether the migration has not been deleted.
 * @throws StatusError when the attempt is to be repeated
 */
async function migrate(context: ControllerContext, migration: Migration, exists: () => boolean) {
  const { clock, metadata, signal } = context;
  const { group = '', version = '', resource = '' } = migration.spec?.resource ?? {};
  const served = (await metadata.discover()).findResource(formatGroupVersion({ group, version }), resource);
  const ageMs = clock.now() - parseTime(migration.metadata.creationTimestamp ?? '');
  if (served === undefined && ageMs < discoveryMs) return { requeueAfterMs: discoveryRetryMs };
  const fail = async (state: Migration, message: string): Promise<undefined> => {
    await setOutcome(context, state, 'Failed', { message });
  };
  if (served === undefined) return fail(migration, 'resource does not exist in discovery');
  if (!['list', 'patch'].every((verb) => served.verbs.includes(verb))) {
    return fail(migration, 'resource cannot be listed and patched');
  }
  const list = await listObjects(context, served).catch(failureOf);
  if (typeof list === 'string') return fail(migration, list);
  const { resourceVersion, objects } = list;
  const running = await setOutcome(context, migration, 'Running', { resourceVersion });
  for (const object of objects) {
    if (signal.aborted || !exists()) return undefined;
    const failure = await rewrite(context, served, object).catch(ignoreGone).catch(failureOf);
    if (failure !== undefined) return fail(running, failure);
  }
  await setOutcome(context, running, 'Succeeded');
  return undefined;
}

/** The identity of a state of an object. */
type Listed = Required<Pick<ObjectMeta, 'namespace' | 'name' | 'uid' | 'resourceVersion'>>;

async function listObjects({ client, names }: ControllerContext, served: ServedResource) {
  const objects: Listed[] = [];
  let resourceVersion = '';
  for await (const page of pagesOf<ApiObject>(client, placeOf(served, names), { accept: metadataOnly(names).list })) {
    ({ resourceVersion } = page.metadata);
    for (const { metadata } of page.items) {
      const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata;
      objects.push({ namespace, name, uid, resourceVersion });
    }
  }
  return { objects, resourceVersion };
}

/**
 * Patches an object without changing it. @throws StatusError 404 or 409 when it has been deleted or written since, by which
 * its state of then is not stored any more
 */
async function rewrite({ client, names }: ControllerContext, served: ServedResource, object: Listed): Promise<void> {
  const { namespace, name: objectName, uid, resourceVersion } = object;
  const place = { ...placeOf(served, names, namespace), name: objectName };
  const accept = metadataOnly(names).watch;
  await client.patch(place, 'merge', { metadata: { uid, resourceVersion } }, { fieldManager: name, accept });
}

/** The message about an error that another attempt would meet again. @throws the error otherwise */
function failureOf(error: unknown): string {
  const isFinal = error instanceof StatusError && error.code <= 500 && ![410, 429].includes(error.code);
  if (!isFinal) throw error;
  return `migration encountered unhandled error: ${error.message}`;
}

/**
 * Sets a condition, with which a finished migration does not run any more. Resolves with the migration as it is stored
 * then. @throws StatusError
 */
async function setOutcome(
  { client, clock }: ControllerContext,
  migration: Migration,
  outcome: Outcome,
  { resourceVersion, message }: { readonly resourceVersion?: string; readonly message?: string } = {},
): Promise<Migration> {
  if (isTrue(migration, outcome)) return migration;
  const { status = {} } = migration;
  const before = (status.conditions ?? []).map((one) => (one.type === 'Running' ? { ...one, status: 'False' } : one));
  const condition = {
    type: outcome,
    status: 'True',
    lastUpdateTime: formatTime(clock.now()),
    reason: reasons[outcome],
    ...(message === undefined ? {} : { message }),
  };
  const changed = {
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...status,
    conditions: [...before.filter(({ type }) => type !== outcome), condition],
  };
  try {
    const migrations = client.kind(kinds.storageVersionMigrations).subresource('status');
    return await migrations.update({ ...migration, status: changed });
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
    return migration;
  }
}
