/** The errors of JSON Patch operations that do not apply. */
import { getKey, type Json, type JsonObject, StatusError, shorten } from '../meta/index.ts';

/** An operation that cannot be applied. */
export class PatchOperationError extends Error {
  /** The missing part of the document, or `test` or `operation`. */
  readonly place: 'parent' | 'member' | 'index' | 'test' | 'operation';
  /** The reference token of a member or index, or the whole reason. */
  readonly detail: string;
  readonly member: 'path' | 'from';

  constructor(place: PatchOperationError['place'], detail: string, member: PatchOperationError['member'] = 'path') {
    super(detail);
    this.place = place;
    this.detail = detail;
    this.member = member;
  }

  get isTest(): boolean {
    return this.place === 'test';
  }
}

class JsonPatchError extends Error {
  readonly isTest: boolean;

  constructor(reason: string, isTest: boolean) {
    super(reason);
    this.isTest = isTest;
  }
}

/** The message of the reference server for requests, which gives no reason: see {@link reasonOfJsonPatch}. */
export const notApplicable = (reason: string, isTest: boolean): StatusError =>
  new StatusError(
    422,
    'Invalid',
    'the server rejected our request due to an error in our request',
    {},
    { cause: new JsonPatchError(reason, isTest) },
  );

/** Returns the reason why a patch does not apply, and whether it is a failed test; undefined for other errors. */
export function reasonOfJsonPatch(error: unknown): { readonly message: string; readonly isTest: boolean } | undefined {
  return error instanceof StatusError && error.cause instanceof JsonPatchError ? error.cause : undefined;
}

export const textOf = (value: Json | undefined): string => shorten(typeof value === 'string' ? value : '');

/** Returns the reason in the words of the reference server. */
export function reasonOf(operation: JsonObject, { place, detail, member }: PatchOperationError): string {
  const op = textOf(getKey(operation, 'op'));
  const path = textOf(getKey(operation, member));
  switch (place) {
    case 'test':
      return `testing value ${path} failed: test failed`;
    case 'operation':
      return detail;
    case 'parent':
      return `${op} operation does not apply: ${missingParent(op, member, path)}: missing value`;
    default:
      return missingPlace(op, member, path, place, shorten(detail));
  }
}

function missingParent(op: string, member: string, path: string): string {
  if (op === 'move' || op === 'copy') {
    return `doc is missing ${member === 'from' ? 'from' : 'destination'} path: ${path}`;
  }
  if (op === 'test') return `is missing path: ${path}`;
  return `doc is missing path: ${op === 'replace' ? path : `"${path}"`}`;
}

function missingPlace(op: string, member: string, path: string, place: 'member' | 'index', token: string): string {
  if (op === 'replace') return `replace operation does not apply: doc is missing key: ${path}: missing value`;
  const why =
    place === 'member' ? `Unable to remove nonexistent key: ${token}: missing value` : invalidIndex(op, token);
  if (op === 'copy') {
    return member === 'from'
      ? `error in copy for from: '${path}': ${why}`
      : `error while adding value during copy: ${why}`;
  }
  return `error in ${op} for path: '${op === 'move' && member === 'from' ? token : path}': ${why}`;
}

function invalidIndex(op: string, token: string): string {
  if (/^-?[0-9]+$/.test(token)) return `Unable to access invalid index: ${Number(token)}: invalid index referenced`;
  const why = `strconv.Atoi: parsing ${JSON.stringify(token)}: invalid syntax`;
  return op === 'add' ? `value was not a proper array index: '${token}': ${why}` : why;
}
