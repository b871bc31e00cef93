import { type AdmissionRequest, admit, review } from '../admission/index.ts';
import type { CachedObject } from '../cache/index.ts';
import { stringifyJson } from '../codec/index.ts';
import {
  type ApiObject,
  atOnce,
  formatGroupResource,
  type JsonObject,
  StatusError,
  type Steps,
  statusError,
} from '../meta/index.ts';
import { type CommitResult, maxValueBytes, StoreError, type Write } from '../store/index.ts';
import {
  announced,
  describe,
  describeDeleted,
  describeText,
  isCorrupt,
  passingBytes,
  readObject,
  storedText,
  storedTextInSteps,
  unreadable,
} from './bytes.ts';
import { claim } from './claim.ts';
import { isWhole, spokenOf, subresourceView, versionOf } from './convert.ts';
import type { Core } from './core.ts';
import type { Claims } from './definition.ts';
import { readDeleteOptions, refuseReadable, warnWithoutPolicy } from './delete-options.ts';
import { checkFresh, completeDraft, completeView, makeDraft } from './draft.ts';
import { findErrors } from './find-errors.ts';
import type { Draft, Job } from './job.ts';
import { settleFindings } from './migrated.ts';
import { dropDoubleOwners } from './owner-references.ts';
import { isUnchanged, trackOwners } from './ownership.ts';
import { checkPatchFormat } from './patch.ts';
import { rememberOwners } from './recent-owners.ts';
import { checkName, keyOf } from './selection.ts';
import { inTurns, type Pause, pauseFor } from './turns.ts';
import type { Change, Target, WriteOptions, WriteResult } from './types.ts';

/** How often a write begins anew because another one was first. */
const maxAttempts = 200;
/** How many of these let others have turns: whoever was overtaken so often is not overtaken in a turn again. */
const patientAttempts = 3;
/** How many names are made up for one object. */
const maxNames = 8;

/**
 * Carries out one change. It begins anew from the object as it is by then whenever another writer was first; a change
 * that names the version it is meant for is refused by that.
 */
export async function write(core: Core, target: Target, change: Change, options: WriteOptions): Promise<WriteResult> {
  const job = readJob(core, target, change, options);
  if (job.deletion?.unsafe === true) return removeUnreadable(job);
  const creates = change.verb === 'create';
  const { cache } = target.resource;
  // Whoever watches from the version of this write on shall find what happens after it.
  if (cache.revision === 0) await cache.loaded();
  let held = creates ? undefined : heldInCache(job);
  // What the cache holds may be older than what is stored: by that alone nothing is refused, or taken to be done.
  let sure = creates;
  for (let attempt = 1; ; attempt++) {
    let outcome: Outcome | undefined;
    let refusal: unknown;
    try {
      outcome = await attemptWrite(
        job,
        held,
        attempt <= patientAttempts ? pauseFor(job.size, held?.bytes.length) : undefined,
      );
    } catch (error) {
      if (!(error instanceof StatusError) || error.code >= 500) throw error;
      refusal = error;
    }
    if (!sure && (outcome === undefined || outcome.unchanged)) {
      sure = true;
      const stored = await heldInStore(job);
      if (stored?.revision !== held?.revision) {
        held = stored;
        continue;
      }
    }
    if (outcome === undefined) throw refusal;
    if (outcome.result !== undefined) return outcome.result;
    if (creates && !outcome.contended) {
      if (!outcome.draft.generated) throw statusError.alreadyExists(target.resource.id, nameOf(outcome.draft));
      if (attempt >= maxNames) throw nameTaken(target, nameOf(outcome.draft));
    } else if (attempt === maxAttempts) throw statusError.modified(target.resource.id, nameOf(outcome.draft));
    held = creates ? undefined : outcome.found;
    sure = true;
  }
}

/** How one attempt went: with a result, or another writer was first and this is what is there now. */
interface Outcome {
  readonly draft: Draft;
  readonly result: WriteResult | undefined;
  readonly found: CachedObject | undefined;
  /** Nothing had to be written. */
  readonly unchanged: boolean;
  /** Another writer was first at something that the object claims, not at the object. */
  readonly contended: boolean;
}

const done = (draft: Draft, result: WriteResult, unchanged = false): Outcome => ({
  draft,
  result,
  found: undefined,
  unchanged,
  contended: false,
});

const beaten = (draft: Draft, found: CachedObject | undefined, contended = false): Outcome => ({
  draft,
  result: undefined,
  found,
  unchanged: false,
  contended,
});

type Undo = () => Promise<void>;

/** Undoes what admission wrote on the side, unless the object was stored or, as far as anyone knows, may have been. */
async function attemptWrite(job: Job, held: CachedObject | undefined, pause: Pause): Promise<Outcome> {
  const undo: Undo[] = [];
  let stored = false;
  try {
    const outcome = await attempt(job, held, undo, pause);
    stored = outcome.result !== undefined && !outcome.unchanged && !job.dryRun;
    return outcome;
  } catch (error) {
    stored = error instanceof StoreError && error.code === 'uncertain';
    throw error;
  } finally {
    if (!stored) for (const step of undo) await step();
  }
}

async function attempt(job: Job, held: CachedObject | undefined, undo: Undo[], pause: Pause): Promise<Outcome> {
  const { core, target, change, context } = job;
  const { definition } = target.resource;
  const { strategy } = definition;
  if (held !== undefined && isCorrupt(held)) throw unreadable(held);
  if (pause) await pause();
  const old = held === undefined ? undefined : readObject(held);
  const deletes = change.verb === 'delete';
  if (pause) await pause();
  const drafting = makeOwnedDraft(job, old);
  const draft = pause ? await inTurns(drafting, pause) : atOnce(drafting);
  if (pause) await pause();
  const request = admissionRequest(job, draft, old, undo);
  // A name that was made up is not known before the object is complete.
  const mutated = await admit(core.admission, draft.generated ? { ...request, name: '' } : request);
  if (!deletes) dropDoubleOwners(draft, job.options, 'admission');
  // What plugins change may call for other defaults.
  if (mutated) strategy.defaults?.(draft.object, context);
  if (pause) await pause();
  completeView(job, draft);
  completeDraft(job, draft, old);
  if (pause) await pause();
  const claims = draft.remove || (!deletes && isWhole(target)) ? await claim(job, draft, old) : undefined;
  if (!deletes) {
    const judging = findErrors(job, draft.object, old);
    const found = pause ? await inTurns(judging, pause) : atOnce(judging);
    const errors = settleFindings(job, draft.object, found);
    // Findings speak of the stored form, and so does the kind that they name.
    const kind = { group: definition.storage.group, kind: definition.kind };
    if (errors.length > 0) throw statusError.invalid(kind, nameOf(draft), errors);
    if (pause) await pause();
    for (const text of adviceOn(job, draft, old)) job.options.warnings.add(text);
    if (pause) await pause();
  }
  if (old === undefined && change.verb !== 'create') await job.options.permitCreate?.();
  await review(core.admission, request);
  // A rehearsal asks only whether the place is taken, as recorded.
  if (old === undefined && !job.dryRun) checkFresh(draft);
  if (held !== undefined && old !== undefined && !draft.remove && isUnchanged(draft.object, old)) {
    return done(draft, resultOf(job, draft, old, held), true);
  }
  if (pause) await pause();
  return commit(job, draft, old, held, claims, pause);
}

/** The object that is to be, with its defaults and with who owns what of it. */
function* makeOwnedDraft(job: Job, old: ApiObject | undefined): Steps<Draft> {
  const { change, target, context, size, options } = job;
  const draft = yield* makeDraft(job, old);
  if (change.verb === 'delete') return draft;
  yield;
  target.resource.definition.strategy.defaults?.(draft.object, context);
  if (change.verb !== 'patch') dropDoubleOwners(draft, options, 'writer');
  yield;
  // What is too large to be stored is refused before the work that takes longer than its text.
  if (size > maxValueBytes) {
    checkSize(draft.object, Buffer.byteLength(stringifyJson(draft.object as JsonObject)));
    yield;
  }
  yield* trackOwners(job, draft, old);
  return draft;
}

async function commit(
  job: Job,
  draft: Draft,
  old: ApiObject | undefined,
  held: CachedObject | undefined,
  claims: Claims | undefined,
  pause: Pause,
): Promise<Outcome> {
  const { core, target, dryRun } = job;
  const { format } = target.resource;
  const key = held?.key ?? keyOf(target.resource, { namespace: target.namespace, name: nameOf(draft) });
  if (key === undefined) throw statusError.methodNotAllowed();
  const revision = held?.revision ?? 0;
  const spelling = storedTextInSteps(format, draft.object);
  const text = draft.remove ? '' : pause ? await inTurns(spelling, pause) : atOnce(spelling);
  if (pause) await pause();
  const { ttlSeconds: ttl } = target.resource.definition.strategy;
  const value = draft.remove ? undefined : passingBytes(text);
  if (value !== undefined) checkSize(draft.object, value.length);
  const write = value === undefined ? { key } : ttl === undefined ? { key, value } : { key, value, ttl };
  const { guards, writes } = claims?.changes() ?? { guards: [], writes: [] };
  const along = draft.remove ? goesAlong(job, draft) : [];
  const commit = () => core.store.commit([{ key, revision }, ...guards], [write, ...writes, ...along]);
  const answer = await (dryRun
    ? rehearse(core, key, revision)
    : draft.remove
      ? commit()
      : announced(format, key, draft.object, text, commit));
  if (!answer.ok) {
    const [entry] = answer.found;
    if ((entry?.revision ?? 0) === revision) return beaten(draft, held, true);
    return beaten(draft, entry === undefined ? undefined : describe(format, entry));
  }
  const stored = dryRun ? revision : answer.revision;
  if (!dryRun) rememberOwners(key, draft.remove ? undefined : draft.object.metadata.managedFields, text.length);
  if (draft.passing === true && !dryRun) return pass(job, draft, old, describeText(format, key, text, stored));
  if (draft.remove) {
    const deletes = job.change.verb === 'delete' && held !== undefined;
    const last = deletes ? held : describeText(format, key, storedText(format, draft.object), revision);
    return done(draft, resultOf(job, draft, old, dryRun ? last : describeDeleted(format, last, stored)));
  }
  const cached = dryRun ? undefined : target.resource.cache.snapshot().get(key);
  const object = cached?.revision === stored ? cached : describeText(format, key, text, stored);
  return done(draft, resultOf(job, draft, old, object));
}

/** How much deleting an object may add to it: what is stored of one that lives leaves room for that (bytes). */
const deletionRoom = 16 * 1024;

/** @throws StatusError 413 for an object that takes so many bytes, when that is too much */
function checkSize({ metadata }: ApiObject, size: number): void {
  const limit = metadata.deletionTimestamp === undefined ? maxValueBytes - deletionRoom : maxValueBytes;
  if (size <= limit) return;
  const why = `Request entity too large: the object takes ${size} bytes, limit is ${limit}`;
  throw new StatusError(413, 'RequestEntityTooLarge', why);
}

/** What goes with an object that goes: whatever of it is there. */
function goesAlong({ core, target }: Job, draft: Draft): Write[] {
  const { takesAlong } = target.resource.definition.strategy;
  if (takesAlong === undefined) return [];
  const place = { namespace: target.namespace, name: nameOf(draft) };
  return core.resources.flatMap((resource) => {
    const key = takesAlong.includes(formatGroupResource(resource.id)) ? keyOf(resource, place) : undefined;
    return key === undefined ? [] : { key };
  });
}

/** Removes an object that has just been marked: whoever watches has seen the mark. */
async function pass(job: Job, draft: Draft, old: ApiObject | undefined, marked: CachedObject): Promise<Outcome> {
  const { core, target } = job;
  const { key, revision } = marked;
  const answer = await core.store.commit([{ key, revision }], [{ key }]);
  const [entry] = answer.ok ? [] : answer.found;
  if (entry !== undefined) return beaten(draft, describe(target.resource.format, entry));
  return done(draft, resultOf(job, draft, old, describeDeleted(target.resource.format, marked, answer.revision)));
}

/** Removes an object that cannot be read, without a word on what it says. */
async function removeUnreadable(job: Job): Promise<WriteResult> {
  const { core, target, options } = job;
  const { resource, name } = target;
  const held = await heldInStore(job);
  if (held === undefined) throw statusError.notFound(resource.id, name);
  if (!isCorrupt(held)) refuseReadable(resource, name);
  const draft: Draft = { object: readObject(held), remove: true, generated: false };
  const request = admissionRequest(job, draft, undefined, []);
  await admit(core.admission, request);
  await review(core.admission, request);
  const { key, revision } = held;
  const answer = options.dryRun ? { ok: true } : await core.store.commit([{ key, revision }], [{ key }]);
  if (!answer.ok) throw statusError.modified(resource.id, name);
  return { created: false, object: undefined, deleted: { name, uid: '' } };
}

/** What a commit would say. */
async function rehearse(core: Core, key: string, revision: number): Promise<CommitResult> {
  const { entry, revision: latest } = await core.store.get(key);
  return (entry?.revision ?? 0) === revision
    ? { ok: true, revision: latest }
    : { ok: false, revision: latest, found: [entry] };
}

function resultOf(job: Job, draft: Draft, old: ApiObject | undefined, object: CachedObject): WriteResult {
  const { change, target } = job;
  const { name = '', uid = '' } = draft.object.metadata;
  const gone = change.verb === 'delete' && (draft.remove || draft.passing === true);
  return {
    created: change.verb === 'create' || (old === undefined && change.verb !== 'delete'),
    object: gone && target.resource.definition.strategy.returnsDeleted !== true ? undefined : object,
    deleted: gone ? { name, uid } : undefined,
  };
}

const nameOf = ({ object }: Draft): string => object.metadata.name ?? '';

function nameTaken({ resource }: Target, name: string): StatusError {
  const { code, reason, message, details } = statusError.alreadyExists(resource.id, name);
  const why = `${message}, the server was not able to generate a unique name for the object`;
  return new StatusError(code, reason, why, { ...details, retryAfterSeconds: 1 });
}

/** Checks what can be checked before the object is known. */
export function readJob(core: Core, target: Target, change: Change, options: WriteOptions): Job {
  if (target.resource.definition.namespaced && target.namespace === '') throw statusError.methodNotAllowed();
  checkName(target);
  if (change.verb === 'patch') checkPatchFormat(target, change.format);
  const deletion = change.verb === 'delete' ? readDeleteOptions(change.options, core) : undefined;
  const { requester, warnings } = options;
  if (deletion !== undefined) warnWithoutPolicy(target.resource, deletion, warnings);
  return {
    core,
    target,
    change,
    options,
    deletion,
    dryRun: options.dryRun || deletion?.dryRun === true,
    context: {
      names: core.names,
      now: core.clock.now(),
      allowPrivileged: core.allowPrivileged,
      requester,
      warnings,
    },
    size: (change.verb === 'patch' ? change.size : change.verb === 'delete' ? undefined : change.object.size) ?? 0,
  };
}

function heldInCache({ target: { resource, ...place } }: Job): CachedObject | undefined {
  const key = keyOf(resource, place);
  if (key === undefined) throw statusError.methodNotAllowed();
  return resource.cache.snapshot().get(key);
}

async function heldInStore({ core, target }: Job): Promise<CachedObject | undefined> {
  const { entry } = await core.store.get(keyOf(target.resource, target) ?? '');
  return entry === undefined ? undefined : describe(target.resource.format, entry);
}

function adviceOn({ target, context }: Job, { object }: Draft, old: ApiObject | undefined): readonly string[] {
  const { kind, notYet, strategy } = target.resource.definition;
  if (isWhole(target)) {
    const warnings = strategy.warnings?.(object, old, context) ?? [];
    return notYet === undefined ? warnings : [...warnings, `${kind}: ${notYet}`];
  }
  return target.subresource === 'status' ? (strategy.statusWarnings?.(object, context) ?? []) : [];
}

const operations = { create: 'CREATE', update: 'UPDATE', patch: 'UPDATE', delete: 'DELETE' } as const;

export function admissionRequest(job: Job, draft: Draft, old: ApiObject | undefined, undo: Undo[]): AdmissionRequest {
  const { target, change, options, dryRun } = job;
  const { group, plural } = target.resource.definition;
  const { version } = versionOf(target).declared;
  const spoken = spokenOf(target);
  const deletes = change.verb === 'delete';
  const view = subresourceView(target);
  return {
    operation: old === undefined && !deletes ? 'CREATE' : operations[change.verb],
    kind: { group: spoken.group, version: spoken.version, kind: spoken.kind },
    resource: { group, version, resource: plural },
    subresource: target.subresource,
    namespace: target.namespace,
    name: nameOf(draft),
    object: deletes ? undefined : (draft.view ?? draft.object),
    oldObject: old === undefined || view === undefined ? old : view.read(old),
    user: options.requester,
    dryRun,
    warn: (text) => options.warnings.add(text),
    onAbandon: (step) => undo.push(step),
  };
}
