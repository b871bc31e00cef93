/** Saving a change: by server-side apply, or by an update where it removes fields of others. */

import { restorationOf } from '../../client/index.ts';
import type { ApiObject, JsonObject } from '../../meta/index.ts';
import { StatusError } from '../../meta/index.ts';
import { type Kind, placeOf } from '../state/discovery.ts';
import { clientWithWarnings, type Session } from '../state/session.ts';
import { type Change, configurationOf, removalsOf } from './apply-plan.ts';

/** How conflicts with other field managers are resolved. */
export type Resolution = 'none' | 'takeOver' | 'keepTheirs';

export interface SaveResult {
  readonly object: ApiObject;
  readonly warnings: readonly string[];
}

/** The name under which the console owns fields. */
export const fieldManager = 'console';

/**
 * Sends a change. With `dryRun` the server only tells what would come of it.
 * @throws StatusError 409 with the causes of {@link conflictsOf}, or when the object has changed meanwhile
 */
export async function saveChange(
  session: Session,
  kind: Kind,
  change: Change,
  { resolution, dryRun }: { readonly resolution: Resolution; readonly dryRun: boolean },
): Promise<SaveResult> {
  const { client, warnings } = clientWithWarnings(session);
  const before = change.before as ApiObject;
  const place = placeOf(kind, before);
  const options = { fieldManager, dryRun, fieldValidation: 'Warn' } as const;
  const removes = removalsOf(change).length > 0;
  const object = removes
    ? await client.update(place, withVersion(change.after, before.metadata.resourceVersion), options)
    : await client.apply(place, configurationOf(change, resolution === 'keepTheirs'), {
        ...options,
        force: resolution === 'takeOver',
      });
  return { object, warnings };
}

/**
 * Restores a former version by an update. With `dryRun` the server only tells what would come of it.
 * @throws StatusError 409 when the object is no longer `current`
 */
export async function restoreVersion(
  session: Session,
  kind: Kind,
  { former, current, dryRun }: { readonly former: JsonObject; readonly current: ApiObject; readonly dryRun: boolean },
): Promise<SaveResult> {
  const { client, warnings } = clientWithWarnings(session);
  const body = restorationOf(former, current) as ApiObject;
  const object = await client.update(placeOf(kind, current), body, { fieldManager, dryRun });
  return { object, warnings };
}

/** Creates an object. With `dryRun` the server only tells what would come of it. @throws StatusError */
export async function createObject(
  session: Session,
  kind: Kind,
  object: ApiObject,
  dryRun: boolean,
): Promise<SaveResult> {
  const { client, warnings } = clientWithWarnings(session);
  const { namespace } = object.metadata ?? {};
  const place = { apiVersion: kind.apiVersion, resource: kind.resource, ...(namespace ? { namespace } : {}) };
  const created = await client.create(place, object, { fieldManager, dryRun, fieldValidation: 'Strict' });
  return { object: created, warnings };
}

/** An update must be based on the object as it was read. */
const withVersion = (object: JsonObject, resourceVersion: string | undefined): ApiObject => {
  const { metadata, ...rest } = object as unknown as ApiObject;
  return { ...rest, metadata: { ...metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) } };
};

/** A field that another manager owns. */
export interface FieldConflict {
  readonly field: string;
  /** `conflict with "kubectl" using apps/v1`. */
  readonly message: string;
}

/** The conflicts that the server reports; none for any other error. */
export function conflictsOf(error: unknown): FieldConflict[] {
  if (!(error instanceof StatusError) || error.code !== 409) return [];
  return (error.details?.causes ?? [])
    .filter(({ reason }) => reason === 'FieldManagerConflict')
    .map(({ field = '', message = '' }) => ({ field, message }));
}
