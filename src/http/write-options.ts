/** The options of writes, from the query and the body of a request. */
import { type JsonObject, type Names, Stage } from '../meta/index.ts';
import { deleteOptionsOf, readWriteOptions, type WriteOptions, type WriteParameters } from '../registry/index.ts';
import type { CompiledType } from '../schema/index.ts';
import type { Call } from './call.ts';
import type { Offered } from './codecs/negotiation.ts';
import { readOptionsBody } from './listener/bodies.ts';
import { pickParameters } from './request-info.ts';

/** @throws StatusError 422 for invalid parameters */
export function writeOptions(
  { request, info, user, warn, audit, stages, turns }: Call,
  names: Names,
  verb: Parameters<typeof readWriteOptions>[0],
): WriteOptions {
  const { query } = info;
  const userAgent = request.headers['user-agent'];
  const parameters: WriteParameters =
    query.size === 0
      ? { userAgent }
      : {
          ...pickParameters(query, ['fieldManager', 'fieldValidation', 'force']),
          dryRun: query.getAll('dryRun'),
          userAgent,
        };
  return readWriteOptions(
    verb,
    parameters,
    { requester: user, warn, annotate: audit?.annotate, attributes: info.resource, stages, turns },
    names,
  );
}

/** The options of a delete request: its body, otherwise its query. `dryRun` may be in either. @throws StatusError */
export async function readDeleteOptions(call: Call, type: CompiledType, bodies: Offered): Promise<JsonObject> {
  call.stages.enter(Stage.body);
  const body = await readOptionsBody(call, type, bodies);
  if (body !== undefined) await call.audit?.requestValue(body, call.turns);
  const { query } = call.info;
  if (query.size === 0) return body ?? {};
  const dryRun = query.getAll('dryRun');
  if (body !== undefined) return dryRun.length === 0 ? body : { dryRun, ...body };
  const parameters = pickParameters(query, [
    'gracePeriodSeconds',
    'orphanDependents',
    'propagationPolicy',
    'ignoreStoreReadErrorWithClusterBreakingPotential',
    'uid',
    'resourceVersion',
  ]);
  return deleteOptionsOf({ ...parameters, ...(dryRun.length === 0 ? {} : { dryRun }) });
}

/** The options for the write of a deletion. */
export function deletionOptions({ user, warn, audit, turns }: Call, { dryRun }: JsonObject): WriteOptions {
  return {
    requester: user,
    dryRun: Array.isArray(dryRun) && dryRun.includes('All'),
    // A deletion is not recorded in managedFields.
    fieldManager: '',
    fieldValidation: 'Ignore',
    force: false,
    warn,
    annotate: audit?.annotate,
    turns,
  };
}
