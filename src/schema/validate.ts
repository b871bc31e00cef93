import {
  allErrors,
  errorsOfEach,
  expandNames,
  type FieldError,
  fieldError,
  getKey,
  isJsonObject,
  type Json,
  type Names,
  type Steps,
} from '../meta/index.ts';
import { fieldsOf, hasField, type Resolved, remember, resolve } from './access.ts';
import type { CompiledType } from './compile.ts';
import type { Field, ListSchema, Schema, StructSchema } from './declare.ts';
import { suits } from './decode.ts';
import { MAX_DEPTH, MAX_ERRORS } from './limits.ts';

/**
 * Validates a decoded value against the declaration of its type: missing required fields, unsupported values, numbers
 * out of bounds, duplicate list entries. Returns at most 100 errors, in the order of the declaration; `path` is the
 * path of the value. Skips fields marked `declarative`, which {@link declarativeRules} validates. Never throws.
 */
export function validate(value: Json, compiled: CompiledType, path = ''): FieldError[] {
  const check = checkOf(compiled);
  return check === undefined ? [] : run(check, value, path);
}

/** The same in steps, for the sake of large values. */
export function* validateInSteps(value: Json, compiled: CompiledType): Steps<readonly FieldError[]> {
  const check = checkOf(compiled);
  if (check === undefined) return [];
  const errors = yield* allErrors(() => run(check, value, '', true));
  return errors.length > MAX_ERRORS ? errors.slice(0, MAX_ERRORS) : errors;
}

/** The check of a type, made once; undefined for a type without one. */
function checkOf(compiled: CompiledType): Check | undefined {
  let check = checks.get(compiled);
  if (check === undefined) {
    const { names, schema } = compiled;
    check = remember(factories, names, () => new CheckFactory(names, false)).of(schema) ?? null;
    checks.set(compiled, check);
  }
  return check ?? undefined;
}

/** Declarative validation of the fields that also have handwritten validation. */
export interface DeclarativeRules {
  /** The errors of a decoded value. */
  readonly validate: (value: Json) => FieldError[];
  /** Whether the field at a path, in the form of field errors, is covered. */
  readonly cover: (path: string) => boolean;
}

/** Undefined for a type without such fields. */
export function declarativeRules({ schema, names }: CompiledType): DeclarativeRules | undefined {
  const check = new CheckFactory(names, true).of(schema);
  if (check === undefined) return undefined;
  return {
    validate: (value) => run(check, value, ''),
    cover: (path) => fieldAt(schema, path, names)?.declarative === true,
  };
}

function run(check: Check, value: Json, path: string, inSteps = false): FieldError[] {
  const walk: Walk = { path: path === '' ? [] : [path], errors: [], depth: 0, inSteps };
  check(value, walk);
  return walk.errors;
}

function fieldAt(root: StructSchema, path: string, names: Names): Field | undefined {
  let schema: Resolved = root;
  let field: Field | undefined;
  for (const [step] of path.matchAll(/\[[^\]]*\]|[^.[]+/g)) {
    if (step.startsWith('[')) {
      if (schema.type !== 'list' && schema.type !== 'map') return undefined;
      schema = resolve(schema.type === 'list' ? schema.element : schema.value);
    } else {
      field = schema.type === 'struct' ? fieldsOf(schema, names).get(step) : undefined;
      if (field === undefined) return undefined;
      schema = resolve(field.schema);
    }
  }
  return field;
}

interface Walk {
  /** Field names, indexes as numbers, and map keys in brackets. */
  readonly path: (string | number)[];
  readonly errors: FieldError[];
  depth: number;
  /** Long lists and maps are left for later. */
  readonly inSteps: boolean;
}

/** How deep structs may nest: deeper than decoding allows. */
const MAX_STRUCTS = 4 * MAX_DEPTH;

type Check = (value: Json, walk: Walk) => void;

function report(walk: Walk, make: (path: string) => FieldError): void {
  if (walk.errors.length < MAX_ERRORS) walk.errors.push(make(format(walk.path)));
}

function format(path: readonly (string | number)[]): string {
  let out = '';
  for (const step of path) {
    if (typeof step === 'number') out += `[${step}]`;
    else out += out === '' || step.startsWith('[') ? step : `.${step}`;
  }
  return out;
}

const factories = new WeakMap<Names, CheckFactory>();
/** By type; null for one that has nothing to check. */
const checks = new WeakMap<CompiledType, Check | null>();

/**
 * Compiles the checks of structs, one per struct; undefined for a struct without rules at any depth. Covers either the
 * fields marked `declarative` or all others.
 */
class CheckFactory {
  readonly #names: Names;
  readonly #declarative: boolean;
  readonly #structs = new WeakMap<StructSchema, { readonly check: Check | undefined }>();

  constructor(names: Names, declarative: boolean) {
    this.#names = names;
    this.#declarative = declarative;
  }

  of(schema: Schema): Check | undefined {
    const resolved = resolve(schema);
    switch (resolved.type) {
      case 'struct':
        return this.#struct(resolved);
      case 'list':
        return listCheck(this.of(resolved.element));
      case 'map':
        return mapCheck(this.of(resolved.value));
      case 'either':
        return eitherCheck(resolved.options.map((option) => ({ option, check: this.of(option) })));
      default:
        return undefined;
    }
  }

  #struct(schema: StructSchema): Check | undefined {
    const known = remember(this.#structs, schema, () => ({
      check: hasField(schema, (field) => this.#covers(field))
        ? structCheck(() => this.#fieldChecks(schema))
        : undefined,
    }));
    return known.check;
  }

  #covers(field: Field): boolean {
    return (field.declarative === true) === this.#declarative && isChecked(field);
  }

  #fieldChecks(schema: StructSchema): FieldCheck[] {
    return [...fieldsOf(schema, this.#names)].flatMap(([name, field]) => {
      const own = this.#covers(field);
      const checks = [...(own ? fieldChecks(field, this.#names) : []), this.of(field.schema)].filter(
        (c) => c !== undefined,
      );
      const required = own && isRequired(field);
      return checks.length === 0 && !required ? [] : [{ name, inherited: name in Object.prototype, required, checks }];
    });
  }
}

const isChecked = (field: Field): boolean =>
  isRequired(field) || field.min !== undefined || field.max !== undefined || isClosed(field) || isKeyed(field);

/** Whether a value that is not known is an error. */
const isClosed = (field: Field): field is Field & { readonly known: readonly string[] } =>
  field.known !== undefined && field.open !== true && field.checkedByKind !== true;

const isRequired = (field: Field): boolean => field.required === true && field.emptyOk !== true;

const isKeyed = (field: Field): boolean =>
  (field.listType === 'set' || field.listType === 'map') && field.duplicates !== true;

interface FieldCheck {
  readonly name: string;
  /** The name of a property that every object inherits. */
  readonly inherited: boolean;
  readonly required: boolean;
  readonly checks: readonly Check[];
}

function structCheck(make: () => FieldCheck[]): Check {
  let fieldChecks: FieldCheck[] | undefined;
  return (value, walk) => {
    if (!isJsonObject(value)) return;
    if (walk.depth === MAX_STRUCTS) return report(walk, (path) => fieldError.forbidden(path, 'exceeded max depth'));
    fieldChecks ??= make();
    walk.depth++;
    for (const fieldCheck of fieldChecks) {
      const item = fieldCheck.inherited ? getKey(value, fieldCheck.name) : value[fieldCheck.name];
      const missing = item === undefined || item === null;
      if (missing ? !fieldCheck.required : fieldCheck.checks.length === 0 && item !== '') continue;
      walk.path.push(fieldCheck.name);
      if (missing || (fieldCheck.required && item === '')) report(walk, (path) => fieldError.required(path));
      else for (const check of fieldCheck.checks) check(item, walk);
      walk.path.pop();
    }
    walk.depth--;
  };
}

/** Lists and maps with more entries are left for later, where the walk is in steps. */
const many = 100;

/** Defers the check of a long list or map: the errors of each entry are found in a separate walk. */
function checkLater<T>(walk: Walk, items: readonly T[], check: (item: T, i: number, inner: Walk) => void): void {
  const { depth, errors } = walk;
  const at = format(walk.path);
  const found = errorsOfEach(items, (item, i) => {
    const inner: Walk = { path: at === '' ? [] : [at], errors: [], depth, inSteps: true };
    check(item, i, inner);
    return inner.errors;
  });
  for (const error of found) errors.push(error);
}

function listCheck(check: Check | undefined): Check | undefined {
  if (check === undefined) return undefined;
  return (value, walk) => {
    if (!Array.isArray(value)) return;
    if (walk.inSteps && value.length > many) {
      checkLater(walk, value, (item, i, inner) => {
        inner.path.push(i);
        check(item, inner);
      });
      return;
    }
    for (let i = 0; i < value.length; i++) {
      walk.path.push(i);
      check(value[i] as Json, walk);
      walk.path.pop();
    }
  };
}

function mapCheck(check: Check | undefined): Check | undefined {
  if (check === undefined) return undefined;
  return (value, walk) => {
    if (!isJsonObject(value)) return;
    const keys = Object.keys(value);
    if (walk.inSteps && keys.length > many) {
      checkLater(walk, keys, (key, _, inner) => {
        inner.path.push(`[${key}]`);
        check(value[key] as Json, inner);
      });
      return;
    }
    for (const key of keys) {
      walk.path.push(`[${key}]`);
      check(value[key] as Json, walk);
      walk.path.pop();
    }
  };
}

function eitherCheck(options: readonly { option: Schema; check: Check | undefined }[]): Check | undefined {
  if (options.every(({ check }) => check === undefined)) return undefined;
  return (value, walk) => options.find(({ option }) => suits(option, value))?.check?.(value, walk);
}

/** The checks of a field itself; for a list, value checks apply to each entry. */
function fieldChecks(field: Field, names: Names): (Check | undefined)[] {
  const schema = resolve(field.schema);
  const each = schema.type === 'list' ? listCheck : (check: Check | undefined) => check;
  return [
    each(knownCheck(field, names)),
    each(rangeCheck(field)),
    schema.type === 'list' && isKeyed(field) ? keyCheck(field, schema, names) : undefined,
  ];
}

function knownCheck(field: Field, names: Names): Check | undefined {
  if (!isClosed(field)) return undefined;
  const known = new Set(field.known.map((value) => expandNames(value, names)));
  const supported = [...known];
  const acceptsEmpty = field.nullable !== true && resolve(field.schema).type !== 'list';
  return (value, walk) => {
    if (typeof value !== 'string' || known.has(value) || (value === '' && acceptsEmpty)) return;
    report(walk, (path) => fieldError.notSupported(path, value, supported));
  };
}

function rangeCheck({ min = -Infinity, max = Infinity }: Field): Check | undefined {
  if (min === -Infinity && max === Infinity) return undefined;
  const rule = rangeRule(min, max);
  return (value, walk) => {
    if ((typeof value !== 'number' && typeof value !== 'bigint') || (value >= min && value <= max)) return;
    report(walk, (path) => fieldError.invalid(path, value, rule));
  };
}

function rangeRule(min: number, max: number): string {
  if (max === Infinity) return min === 1 ? 'must be greater than 0' : `must be greater than or equal to ${min}`;
  return min === -Infinity ? `must be less than or equal to ${max}` : `must be between ${min} and ${max}, inclusive`;
}

/** Duplicate entries: of a set by value, of a map by its list map keys, where a missing key has its default. */
function keyCheck(field: Field, schema: ListSchema, names: Names): Check | undefined {
  const element = resolve(schema.element);
  if (field.listType === 'set') return duplicateCheck(identify, (item) => item);
  const keys = element.type === 'struct' ? (field.listMapKeys ?? []) : [];
  const defaults = keys.map(
    (key) => (element.type === 'struct' ? fieldsOf(element, names).get(key)?.default : undefined) ?? null,
  );
  const keyOf = (item: Json, i: number): Json =>
    (isJsonObject(item) ? getKey(item, keys[i] as string) : undefined) ?? (defaults[i] as Json);
  switch (keys.length) {
    case 0:
      return undefined;
    case 1:
      return duplicateCheck(
        (item) => identify(keyOf(item, 0)),
        (item) => keyOf(item, 0),
        keys[0],
      );
    default:
      return duplicateCheck(
        (item) => identify(keys.map((_, i) => keyOf(item, i))),
        (item) => Object.fromEntries(keys.map((key, i) => [key, keyOf(item, i)])),
      );
  }
}

/** Reports each entry with the identity of an earlier one, at the entry or at a field of it. */
function duplicateCheck(identityOf: (item: Json) => unknown, shownOf: (item: Json) => Json, at?: string): Check {
  return (value, walk) => {
    if (!Array.isArray(value) || value.length < 2) return;
    const seen = new Set<unknown>();
    for (const [i, item] of value.entries()) {
      const identity = identityOf(item);
      if (!seen.has(identity)) {
        seen.add(identity);
        continue;
      }
      const depth = walk.path.push(i) - 1;
      if (at !== undefined) walk.path.push(at);
      report(walk, (path) => fieldError.duplicate(path, shownOf(item)));
      walk.path.length = depth;
    }
  };
}

/** A key that is equal exactly for equal values. */
function identify(value: Json): unknown {
  if (typeof value !== 'object') return value;
  try {
    return JSON.stringify(value);
  } catch {
    return identifyExact(value);
  }
}

function identifyExact(value: Json): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? { integer: String(part) } : part));
}
