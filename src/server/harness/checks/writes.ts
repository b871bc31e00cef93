import { isDeepStrictEqual } from 'node:util';
import { meetsPreconditions } from './claims.ts';
import type { Fields, Operation, Request } from './history.ts';
import { sameObject } from './objects.ts';
import type { State, States } from './states.ts';
import type { Judged } from './sweep.ts';
import { type Report, show } from './violation.ts';

type FieldsRequest = Extract<Request, { readonly verb: 'create' | 'update' | 'patch' | 'apply' }> & {
  readonly fields: Fields;
};
type Deletion = Extract<Request, { readonly verb: 'delete' }>;

/**
 * Checks that every change in the store is the work of exactly one write that may have done it, and that what was
 * answered is what was done.
 */
export function checkWrites(judged: readonly Judged[], states: States, report: Report): void {
  if (!states.marked) {
    for (const { operation } of judged) checkVersion(operation, states, report);
    return;
  }
  const writers = new Map(judged.map((one) => [one.operation.id, one]));
  const changeOf = checkChanges(writers, states, report);
  for (const { operation } of judged) checkAnswer(operation, changeOf.get(operation.id), report);
  checkDeletions(judged, states, report);
}

/** The states that writers led to, by the id of the operation. */
function checkChanges(writers: ReadonlyMap<number, Judged>, states: States, report: Report): Map<number, State> {
  const found = new Map<number, State>();
  for (const state of states.changes) {
    if (state.object === undefined) continue;
    const id = Number(state.object.data?.['write']);
    const writer = writers.get(id);
    const twin = found.get(id);
    if (writer === undefined) report('invented', `${show(state)} has no writer`);
    else if (twin !== undefined) report('done twice', `${show(writer.operation)}: ${show(twin)} and ${show(state)}`);
    else checkChange(writer, state, report);
    found.set(id, state);
  }
  return found;
}

/** Checks that a version that was answered to a write exists, and that it followed the version that the write named. */
function checkVersion(operation: Operation, states: States, report: Report): void {
  const { request, outcome } = operation;
  if (outcome.type === 'deleted' && states.deletion(outcome.uid) === undefined) {
    report('write lost', `${show(operation)}: not deleted`);
  }
  if (outcome.type !== 'object' || request.verb === 'get' || request.verb === 'list') return;
  const version = Number(outcome.object.metadata.resourceVersion);
  const state = states.of(request.key).find(({ from }) => from === version);
  if (state?.object === undefined) {
    // The last change of an object with finalizers is its removal, which answers with the state before.
    const isRemoved = states.deletion(outcome.object.metadata.uid) !== undefined;
    if (!isRemoved) report('write lost', `${show(operation)}: no version of the object has it`);
  } else if (request.base !== undefined && request.base !== version && request.base !== state.before?.from) {
    report('update lost', `${show(operation)}: ${show(state)} after ${show(state.before)}`);
  }
}

function checkChange({ operation, bound }: Judged, state: State, report: Report): void {
  const { request, outcome } = operation;
  const wrong = (rule: string) => report(rule, `${show(operation)}: ${show(state)}`);
  if (!hasFields(request) || request.key !== state.key) {
    wrong('invented');
    return;
  }
  if (outcome.type === 'refused') wrong('refused but done');
  if (state.from <= bound) report('done before it started', `${show(operation)}: ${show(state)}, after ${bound}`);
  const misfit = misfitOf(request, state);
  if (misfit !== undefined) report(misfit, `${show(operation)}: ${show(state)} after ${show(state.before)}`);
}

const hasFields = (request: Request): request is FieldsRequest => 'fields' in request && request.fields !== undefined;

/** The contradiction between a write, the state after it, and the state before. */
function misfitOf({ verb, base, fields }: FieldsRequest, { object, before }: State): string | undefined {
  const old = before?.object;
  if (verb === 'create' && old !== undefined) return 'created what was there';
  if ((verb === 'update' || verb === 'patch') && old === undefined) return 'changed what was not there';
  if (base !== undefined && base !== before?.from) return 'update lost';
  if (old !== undefined && old.metadata.uid !== object?.metadata.uid) return 'changed the uid';
  const isMerged = verb === 'patch' || verb === 'apply';
  const data = isMerged ? { ...old?.data, ...fields.data } : fields.data;
  const isAsWritten = isDeepStrictEqual({ ...object?.data }, data) && object?.metadata.labels?.['tier'] === fields.tier;
  return isAsWritten ? undefined : 'not what was written';
}

function checkAnswer(operation: Operation, change: State | undefined, report: Report): void {
  const { request, outcome } = operation;
  if (outcome.type !== 'object' || request.verb === 'get') return;
  const version = Number(outcome.object.metadata.resourceVersion);
  if (change === undefined) report('write lost', `${show(operation)}: no version of the object has it`);
  else if (change.from !== version) report('wrong version', `${show(operation)}: ${show(change)}`);
  else if (change.object !== undefined && !sameObject(outcome.object, change.object)) {
    report('not what is stored', `${show(operation)}: ${JSON.stringify(outcome.object)} and ${show(change)}`);
  }
}

/** Each deletion is that of one answered request, or else of one whose outcome is unknown. */
function checkDeletions(judged: readonly Judged[], states: States, report: Report): void {
  const unclaimed = new Set(states.changes.filter(({ object }) => object === undefined));
  const uncertain: (Judged & { request: Deletion })[] = [];
  for (const one of judged) {
    const { request, outcome } = one.operation;
    if (request.verb !== 'delete') continue;
    if (outcome.type === 'unknown') uncertain.push({ ...one, request });
    if (outcome.type !== 'deleted') continue;
    const state = states.deletion(outcome.uid);
    if (state === undefined || state.key !== request.key) report('write lost', `${show(one.operation)}: not deleted`);
    else if (!unclaimed.delete(state))
      report('done twice', `${show(one.operation)}: ${show(state)} is that of another`);
    else if (!mayHaveDone({ ...one, request }, state))
      report('not as requested', `${show(one.operation)}: ${show(state)}`);
  }
  // Those with preconditions first: the others will do for any deletion.
  const isFree = ({ request: { uid, base } }: { request: Deletion }) => uid === undefined && base === undefined;
  const candidates = new Set(uncertain.sort((a, b) => Number(isFree(a)) - Number(isFree(b))));
  for (const state of unclaimed) {
    const done = [...candidates].find((one) => one.request.key === state.key && mayHaveDone(one, state));
    if (done === undefined) report('invented', `${show(state)} is of no request`);
    else candidates.delete(done);
  }
}

function mayHaveDone({ request, bound }: { request: Deletion; bound: number }, state: State): boolean {
  return state.from > bound && state.before !== undefined && meetsPreconditions(request, state.before);
}

/** Checks that what was refused had to be refused at some moment of its time. */
export function checkRefusals(judged: readonly Judged[], report: Report): void {
  for (const one of judged) {
    const { claim, operation } = one;
    if (claim.type === 'wrong') report('unexpected answer', `${show(operation)}: ${claim.message}`);
    if (claim.type !== 'saw' || operation.request.verb === 'get') continue;
    if (one.possible.length === 0) report('refused without cause', `${show(operation)}, after ${one.bound}`);
  }
}
