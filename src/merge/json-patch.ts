import {
  atOnce,
  getKey,
  isJsonObject,
  type Json,
  type JsonArray,
  type JsonObject,
  jsonCopyInSteps,
  jsonType,
  MAX_DEPTH,
  Pace,
  type Path,
  StatusError,
  type Steps,
  setKey,
  statusError,
} from '../meta/index.ts';
import { nestsTooDeep } from './bounds.ts';
import { notApplicable, PatchOperationError, reasonOf, textOf } from './json-patch-errors.ts';

export const maxJsonPatchOperations = 10_000;
/** How much all `copy` operations may add to a document, in bytes of JSON (approximate). */
const maxCopied = 3 * 1024 * 1024;
/** How many members of arrays and objects all operations together may compare. */
const maxWork = 250_000;
/** The cost of copying a member, and of shifting one within its array, in comparisons. */
const copyWork = 4;
const moveWork = 1 / 16;

/** The document under patch, and the cost of the operations so far. */
interface Patching {
  root: Json | undefined;
  copied: number;
  work: number;
  readonly pace: Pace;
}

/**
 * The document after a JSON Patch (RFC 6902). Neither argument is changed.
 * @throws StatusError 413 when the patch has too many operations or costs too much, 422 when an operation does not
 *   apply.
 */
export const applyJsonPatch = (document: Json, operations: readonly JsonObject[]): Json =>
  atOnce(applyJsonPatchInSteps(document, operations));

/** The same in steps. */
export function* applyJsonPatchInSteps(document: Json, operations: readonly JsonObject[]): Steps<Json> {
  if (operations.length > maxJsonPatchOperations) {
    const limit = `The allowed maximum operations in a JSON patch is ${maxJsonPatchOperations}, got ${operations.length}`;
    throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: ${limit}`);
  }
  const pace = new Pace();
  const state: Patching = { root: yield* jsonCopyInSteps(document, pace), copied: 0, work: 0, pace };
  for (const operation of operations) yield* apply(state, operation);
  if (state.root === undefined) throw notApplicable('the whole document was removed', false);
  return state.root;
}

/** The operations of a decoded patch. @throws StatusError 400 when it is not an array of objects */
export function readOperations(patch: Json): readonly JsonObject[] {
  if (patch === null) return [];
  if (!Array.isArray(patch)) throw misfit(patch, 'value of type []handlers.jsonPatchOp');
  return patch.map((operation) => {
    if (operation === null) return {};
    if (!isJsonObject(operation)) throw misfit(operation, 'value of type handlers.jsonPatchOp');
    return operation;
  });
}

const textMembers = ['op', 'path', 'from'] as const;
/** The most unknown members that are reported of one patch. */
const maxUnknown = 100;

/**
 * The paths of the members of operations that JSON Patch does not define, such as `[0].bogus`; at most 100.
 * @throws StatusError 400 when `op`, `path` or `from` is not a string
 */
export function unknownMembers(operations: readonly JsonObject[]): Path[] {
  const unknown: Path[] = [];
  for (const [i, operation] of operations.entries()) {
    for (const name of textMembers) {
      const value = getKey(operation, name) ?? '';
      if (typeof value !== 'string') throw misfit(value, `struct field jsonPatchOp.${name} of type string`);
    }
    for (const name in operation) {
      if (unknown.length === maxUnknown) break;
      if (name !== 'value' && !textMembers.some((known) => known === name)) unknown.push([i, name]);
    }
  }
  return unknown;
}

const misfit = (value: Json, into: string) =>
  statusError.badRequest(`error decoding patch: json: cannot unmarshal ${jsonType(value)} into Go ${into}`);

function* apply(state: Patching, operation: JsonObject): Steps<void> {
  try {
    yield* carryOut(state, operation);
  } catch (error) {
    throw error instanceof PatchOperationError ? notApplicable(reasonOf(operation, error), error.isTest) : error;
  }
}

function* carryOut(state: Patching, operation: JsonObject): Steps<void> {
  const path = pointer(operation, 'path');
  if (state.pace.over(1 + path.length)) yield;
  switch (getKey(operation, 'op')) {
    case 'add':
      insert(state, path, yield* jsonCopyInSteps(operand(operation), state.pace));
      return;
    case 'remove':
      remove(state, path);
      return;
    case 'replace':
      replace(state, path, yield* jsonCopyInSteps(operand(operation), state.pace));
      return;
    case 'move': {
      const from = pointer(operation, 'from');
      if (from.length < path.length && from.every((token, i) => token === path[i])) {
        throw new PatchOperationError('operation', 'a value cannot be moved into itself');
      }
      insert(
        state,
        path,
        withFromErrors(() => remove(state, from)),
      );
      return;
    }
    case 'copy': {
      const from = pointer(operation, 'from');
      const value = withFromErrors(() => lookup(state, from));
      insert(state, path, yield* copyOf(state, value, MAX_DEPTH));
      return;
    }
    case 'test':
      if (!(yield* equalValues(state, valueToTest(state, path), operand(operation))))
        throw new PatchOperationError('test', '');
      return;
    default:
      throw new PatchOperationError('operation', `Unexpected kind: ${textOf(getKey(operation, 'op'))}`);
  }
}

function operand(operation: JsonObject): Json {
  const value = getKey(operation, 'value');
  if (value === undefined) throw new PatchOperationError('operation', 'the operation has no value');
  return value;
}

/** The maximum length of a pointer (characters), and its maximum number of tokens. */
const maxPointerLength = 65_536;
const maxTokens = 32 * MAX_DEPTH;

/** The reference tokens of a JSON Pointer (RFC 6901). */
function pointer(operation: JsonObject, member: 'path' | 'from'): string[] {
  const text = getKey(operation, member);
  if (typeof text !== 'string') throw new PatchOperationError('operation', `the operation has no ${member}`);
  if (text === '') return [];
  if (!text.startsWith('/')) throw new PatchOperationError('parent', '', member);
  if (text.length > maxPointerLength) throw new PatchOperationError('operation', 'a pointer is too long');
  const tokens = text.slice(1).split('/', maxTokens + 1);
  if (tokens.length > maxTokens) throw new PatchOperationError('operation', 'a pointer has too many tokens');
  return text.includes('~') ? tokens.map(unescapeToken) : tokens;
}

/** The objects and arrays on the paths of the operations, as nested objects: `{ spec: { ports: {} } }`. */
export function visitedBy(operations: readonly JsonObject[]): JsonObject {
  const visited: JsonObject = {};
  for (const operation of operations) {
    const op = getKey(operation, 'op');
    for (const member of op === 'move' || op === 'copy' ? (['path', 'from'] as const) : (['path'] as const)) {
      let node = visited;
      for (const token of pointer(operation, member).slice(0, -1)) {
        const next = (getKey(node, token) ?? {}) as JsonObject;
        setKey(node, token, next);
        node = next;
      }
    }
  }
  return visited;
}

function unescapeToken(token: string): string {
  if (/~(?![01])/.test(token)) throw new PatchOperationError('operation', 'a pointer holds a stray ~');
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Runs `compute` and marks its errors as errors of the member `from` of the operation. */
function withFromErrors<T>(compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    throw error instanceof PatchOperationError ? new PatchOperationError(error.place, error.detail, 'from') : error;
  }
}

/** Parses an index; -1 when it is not one. */
const numberOf = (token: string): number => (/^(0|[1-9][0-9]{0,15})$/.test(token) ? Number(token) : -1);

/** Returns the array index of a reference token; `-` is the index after the last element. */
function indexOf(list: JsonArray, token: string, last: number): number {
  const index = token === '-' ? list.length : numberOf(token);
  if (index < 0 || index > last) throw new PatchOperationError('index', token);
  return index;
}

function lookup(state: Patching, path: readonly string[], depth = path.length): Json {
  let value = state.root;
  for (let i = 0; i < depth; i++) {
    const token = path[i] as string;
    const isLast = i === path.length - 1;
    if (Array.isArray(value)) value = value[isLast ? indexOf(value, token, value.length - 1) : numberOf(token)];
    else value = isJsonObject(value) ? getKey(value, token) : undefined;
    if (value === undefined) throw new PatchOperationError(isLast ? 'member' : 'parent', token);
  }
  if (value === undefined) throw new PatchOperationError('parent', '');
  return value;
}

/** Returns the value that `test` compares: an absent member of an object is null, as existing clients rely on. */
function valueToTest(state: Patching, path: readonly string[]): Json {
  const token = path.at(-1);
  const parent = token === undefined ? undefined : lookup(state, path, path.length - 1);
  if (token === undefined || !isJsonObject(parent)) return lookup(state, path);
  return getKey(parent, token) ?? null;
}

function insert(state: Patching, path: readonly string[], value: Json): void {
  const token = path.at(-1);
  if (token === undefined) {
    state.root = value;
    return;
  }
  const parent = lookup(state, path, path.length - 1);
  if (Array.isArray(parent)) {
    const index = indexOf(parent, token, parent.length);
    spend(state, (parent.length - index) * moveWork);
    parent.splice(index, 0, value);
  } else if (isJsonObject(parent)) {
    setKey(parent, token, value);
  } else {
    throw new PatchOperationError('parent', token);
  }
}

function remove(state: Patching, path: readonly string[]): Json {
  const value = lookup(state, path);
  const token = path.at(-1);
  if (token === undefined) {
    state.root = undefined;
    return value;
  }
  const parent = lookup(state, path, path.length - 1);
  if (Array.isArray(parent)) {
    const index = indexOf(parent, token, parent.length - 1);
    spend(state, (parent.length - index) * moveWork);
    parent.splice(index, 1);
  } else {
    delete (parent as JsonObject)[token];
  }
  return value;
}

/** A member that the object lacks is added, as existing clients rely on. */
function replace(state: Patching, path: readonly string[], value: Json): void {
  const token = path.at(-1);
  if (token === undefined) {
    state.root = value;
    return;
  }
  const parent = lookup(state, path, path.length - 1);
  if (Array.isArray(parent)) parent[indexOf(parent, token, parent.length - 1)] = value;
  else if (isJsonObject(parent)) setKey(parent, token, value);
  else throw new PatchOperationError('parent', token);
}

function spend(state: Patching, members: number): void {
  state.work += members;
  if (state.work > maxWork) {
    throw new StatusError(413, 'RequestEntityTooLarge', 'Request entity too large: the patch makes too much work');
  }
}

/** A deep copy. @throws StatusError 422 when the value, which operations may have nested, is deeper than `levels` */
function* copyOf(state: Patching, value: Json, levels: number): Steps<Json> {
  if (state.pace.over()) yield;
  state.copied += typeof value === 'string' ? value.length + 2 : 8;
  spend(state, copyWork);
  if (state.copied > maxCopied) throw new PatchOperationError('operation', 'the patch copies too much');
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) throw nestsTooDeep();
  if (Array.isArray(value)) {
    const list: Json[] = [];
    for (const item of value) list.push(yield* copyOf(state, item, levels - 1));
    return list;
  }
  const out: JsonObject = {};
  for (const key of Object.keys(value)) {
    state.copied += key.length;
    setKey(out, key, yield* copyOf(state, value[key] as Json, levels - 1));
  }
  return out;
}

/** Compares as RFC 6902 does: numbers by value, lists in order, objects in any order. */
function* equalValues(state: Patching, a: Json, b: Json): Steps<boolean> {
  if (state.pace.over()) yield;
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    spend(state, a.length);
    for (const [i, item] of a.entries()) if (!(yield* equalValues(state, item, b[i] as Json))) return false;
    return true;
  }
  const keys = Object.keys(a);
  if (state.pace.over(keys.length)) yield;
  const others = Object.keys(b).length;
  if (state.pace.over(others)) yield;
  spend(state, keys.length + others);
  if (keys.length !== others) return false;
  for (const key of keys) {
    if (!Object.hasOwn(b, key) || !(yield* equalValues(state, a[key] as Json, b[key] as Json))) return false;
  }
  return true;
}
