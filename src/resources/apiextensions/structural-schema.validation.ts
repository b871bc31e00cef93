/**
 * Validation of structural schemas: every field has a type, and value validation (`allOf`, `anyOf`, `oneOf`, `not`)
 * declares none.
 */
import { type FieldError, fieldError, jsonEqual, type Names, Pace, type Steps } from '../../meta/index.ts';
import {
  extensionName,
  extensionsOf,
  hasProperties,
  isSet,
  itemsOf,
  junctorsOf,
  propertiesOf,
  propertyOf,
  type Schema,
  valuesOf,
} from './json-schema.ts';

/** Positions of a schema, and the error for a missing type there. */
const missingType = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
} as const;
type Level = keyof typeof missingType;

/** The errors of a schema, in steps: it may be as large as an object can be. */
export function* validateStructural(schema: Schema, path: string, names: Names): Steps<FieldError[]> {
  if (yield* isNonStructural(schema)) return [];
  const walk = { names, pace: new Pace() };
  const errors = yield* validateNode(schema, 'root', path, walk);
  return errors.concat(yield* validateComplete(schema, schema, path, path, walk));
}

/** The state of a walk through a schema. */
interface Walk {
  readonly names: Names;
  readonly pace: Pace;
}

/** Whether a schema has fields that are not structural; other validation rejects them. */
export function* isNonStructural(schema: Schema, pace = new Pace()): Steps<boolean> {
  if (pace.over()) yield;
  const { id, $schema, $ref, additionalItems, patternProperties, definitions, dependencies, items } = schema;
  const odd = [id, $schema, $ref, additionalItems, patternProperties, definitions, dependencies];
  if (odd.some((part) => part !== undefined && part !== null) || (Array.isArray(items) && items.length > 0))
    return true;
  for (const part of partsOf(schema)) if (yield* isNonStructural(part, pace)) return true;
  return false;
}

/** Whether a schema has keywords of this product, which need structural schemas. */
export function* usesExtensions(schema: Schema, names: Names, pace = new Pace()): Steps<boolean> {
  if (pace.over()) yield;
  if (Object.keys(schema).some((keyword) => keyword.startsWith(names.extension))) return true;
  for (const part of partsOf(schema)) if (yield* usesExtensions(part, names, pace)) return true;
  return false;
}

/** All schemas below a schema, without their paths. */
function* partsOf(schema: Schema): Generator<Schema> {
  for (const [, property] of propertiesOf(schema)) yield property;
  for (const junctor of ['allOf', 'anyOf', 'oneOf'] as const) yield* schema[junctor] ?? [];
  for (const part of [schema.not, itemsOf(schema), valuesOf(schema)]) if (part !== undefined) yield part;
}

function* validateNode(schema: Schema, level: Level, path: string, walk: Walk): Steps<FieldError[]> {
  const { names, pace } = walk;
  if (pace.over()) yield;
  const items = itemsOf(schema);
  const values = valuesOf(schema);
  const errors: FieldError[] = [];
  if (schema.type === 'array' && items === undefined) {
    errors.push(fieldError.required(`${path}.items`, 'must be specified'));
  }
  if (items !== undefined) errors.push(...(yield* validateNode(items, 'item', `${path}.items`, walk)));
  for (const [name, property] of propertiesOf(schema)) {
    errors.push(...(yield* validateNode(property, 'field', `${path}.properties[${name}]`, walk)));
  }
  if (isSet(schema.additionalProperties) && level === 'root') {
    errors.push(fieldError.forbidden(`${path}.additionalProperties`, 'must not be used at the root'));
  }
  if (values !== undefined)
    errors.push(...(yield* validateNode(values, 'field', `${path}.additionalProperties`, walk)));
  return [
    ...errors,
    ...(yield* validateJunctors(schema, path, walk)),
    ...validateType(schema, level, path, names),
    ...validateIdentity(schema, level, path, names),
  ];
}

function validateType(schema: Schema, level: Level, path: string, names: Names): FieldError[] {
  const { type = '' } = schema;
  const { preserve = false, embedded = false, intOrString = false } = extensionsOf(schema, names);
  const own = (part: 'embedded' | 'preserve' | 'intOrString') => extensionName(part, names);
  const errors: FieldError[] = [];
  for (const part of ['preserve', 'embedded'] as const) {
    if (!intOrString || !(part === 'preserve' ? preserve : embedded)) continue;
    errors.push(fieldError.invalid(`${path}.${own(part)}`, true, `must be false if ${own('intOrString')} is true`));
  }
  if (embedded && type !== 'object') {
    const why = `must be object if ${own('embedded')} is true`;
    errors.push(type === '' ? fieldError.required(`${path}.type`, why) : fieldError.invalid(`${path}.type`, type, why));
  } else if (type === '' && !intOrString && !preserve) {
    errors.push(fieldError.required(`${path}.type`, missingType[level]));
  }
  if (embedded && isSet(schema.additionalProperties)) {
    const why = `must not be used if ${own('embedded')} is set`;
    errors.push(fieldError.forbidden(`${path}.additionalProperties`, why));
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.push(fieldError.invalid(`${path}.type`, type, 'must be object at the root'));
  }
  if (embedded && !preserve && !hasProperties(schema)) {
    const why = `must not be empty if ${own('embedded')} is true without ${own('preserve')}`;
    errors.push(fieldError.required(`${path}.properties`, why));
  }
  return errors;
}

/** Requires the types of `apiVersion`, `kind` and `metadata`. */
function validateIdentity(schema: Schema, level: Level, path: string, names: Names): FieldError[] {
  const errors: FieldError[] = [];
  if (level === 'root' || extensionsOf(schema, names).embedded === true) {
    for (const [name, type] of [
      ['kind', 'string'],
      ['apiVersion', 'string'],
      ['metadata', 'object'],
    ] as const) {
      const property = propertyOf(schema, name);
      if (property === undefined || property.type === type) continue;
      const at = `${path}.properties[${name}].type`;
      errors.push(fieldError.invalid(at, property.type ?? '', `must be ${type}`));
    }
  }
  const metadata = level === 'root' ? propertyOf(schema, 'metadata') : undefined;
  if (metadata === undefined || isRestriction(metadata)) return errors;
  const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
  return [...errors, fieldError.forbidden(`${path}.properties[metadata]`, why)];
}

/** Whether a schema of metadata only restricts `name` and `generateName`. */
function isRestriction(schema: Schema): boolean {
  const { type: _, default: __, properties = {}, ...others } = schema;
  const isNameOnly = Object.keys(properties).every((name) => name === 'name' || name === 'generateName');
  return isNameOnly && Object.keys(others).length === 0;
}

const isIntOrString = (schemas: Schema[] | undefined): boolean =>
  jsonEqual(schemas, [{ type: 'integer' }, { type: 'string' }]);

/** Validates the junctors. `x-int-or-string` allows two forms that name types. */
function* validateJunctors(schema: Schema, path: string, walk: Walk, skipsFirst = false): Steps<FieldError[]> {
  const skipsAnyOf = skipsFirst || isIntOrString(schema.anyOf);
  const inFirst = isIntOrString(schema.allOf?.[0]?.anyOf);
  const errors: FieldError[] = [];
  for (const [part, at] of junctorsOf(schema, path)) {
    if (skipsAnyOf && at.startsWith(`${path}.anyOf`)) continue;
    errors.push(...(yield* validateJunctorSchema(part, at, walk, inFirst && at === `${path}.allOf[0]`)));
  }
  return errors;
}

/** Structural fields, with the value that they must have within value validation. */
const forbidden = {
  type: 'empty',
  additionalProperties: 'undefined',
  default: 'undefined',
  title: 'empty',
  description: 'empty',
  nullable: 'false',
} as const;
const forbiddenExtensions = {
  preserve: 'false',
  embedded: 'false',
  intOrString: 'false',
  mapKeys: 'empty',
  listType: 'undefined',
  mapType: 'undefined',
  validations: 'empty',
} as const;

function* validateJunctorSchema(schema: Schema, path: string, walk: Walk, skipsAnyOf = false): Steps<FieldError[]> {
  const { names, pace } = walk;
  if (pace.over()) yield;
  const errors = yield* validateJunctors(schema, path, walk, skipsAnyOf);
  const items = itemsOf(schema);
  if (items !== undefined) errors.push(...(yield* validateJunctorSchema(items, `${path}.items`, walk)));
  for (const [name, property] of propertiesOf(schema)) {
    errors.push(...(yield* validateJunctorSchema(property, `${path}.properties[${name}]`, walk)));
  }
  const refuse = (field: string, state: string) =>
    errors.push(fieldError.forbidden(`${path}.${field}`, `must be ${state} to be structural`));
  for (const [field, state] of Object.entries(forbidden)) {
    if (isSet(schema[field as keyof typeof forbidden])) refuse(field, state);
  }
  const extensions = extensionsOf(schema, names);
  for (const [part, state] of Object.entries(forbiddenExtensions)) {
    const value = extensions[part as keyof typeof forbiddenExtensions];
    if (isSet(value) && value !== false && !(Array.isArray(value) && value.length === 0)) {
      refuse(extensionName(part as keyof typeof forbiddenExtensions, names), state);
    }
  }
  if (propertyOf(schema, 'metadata') !== undefined) {
    errors.push(fieldError.forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
  }
  return errors;
}

/** Requires that every field of value validation is declared in the structural schema. */
function* validateComplete(
  validation: Schema,
  schema: Schema,
  path: string,
  validationPath: string,
  walk: Walk,
): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  for (const [part, at] of junctorsOf(validation, validationPath)) {
    errors.push(...(yield* validatePresent(part, schema, path, at, walk)));
  }
  return errors;
}

function* validatePresent(
  validation: Schema,
  schema: Schema | undefined,
  path: string,
  validationPath: string,
  walk: Walk,
): Steps<FieldError[]> {
  if (walk.pace.over()) yield;
  if (schema === undefined) return [fieldError.required(path, `because it is defined in ${validationPath}`)];
  const errors = yield* validateComplete(validation, schema, path, validationPath, walk);
  const items = itemsOf(validation);
  if (items !== undefined) {
    errors.push(...(yield* validatePresent(items, itemsOf(schema), `${path}.items`, `${validationPath}.items`, walk)));
  }
  for (const [name, property] of propertiesOf(validation)) {
    const at = `properties[${name}]`;
    const inner = validatePresent(property, propertyOf(schema, name), `${path}.${at}`, `${validationPath}.${at}`, walk);
    errors.push(...(yield* inner));
  }
  return errors;
}
