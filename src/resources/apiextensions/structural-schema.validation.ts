/**
 * Validation of structural schemas: every field has a type, and value validation (`allOf`, `anyOf`, `oneOf`, `not`)
 * declares none.
 */
import { type FieldError, fieldError, jsonEqual, type Names, Pace, type Steps } from '../../meta/index.ts';
import {
  extensionName,
  extensionsOf,
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

export function* validateStructural(schema: Schema, path: string, names: Names): Steps<FieldError[]> {
  if (isNonStructural(schema)) return [];
  yield;
  const found = yield* validateNode(schema, 'root', path, names, new Pace());
  return [...found, ...validateComplete(schema, schema, path, path)];
}

/** Whether a schema has fields that are not structural; other validation rejects them. */
export function isNonStructural(schema: Schema): boolean {
  const { id, $schema, $ref, additionalItems, patternProperties, definitions, dependencies, items } = schema;
  const odd = [id, $schema, $ref, additionalItems, patternProperties, definitions, dependencies];
  if (odd.some((part) => part !== undefined && part !== null) || Array.isArray(items)) return true;
  const { properties = {} } = schema;
  for (const name in properties) if (isNonStructural(properties[name] as Schema)) return true;
  const inner = [...junctorsOf(schema, '').map(([part]) => part), itemsOf(schema), valuesOf(schema)];
  return inner.some((part) => part !== undefined && isNonStructural(part));
}

function* validateNode(schema: Schema, level: Level, path: string, names: Names, pace: Pace): Steps<FieldError[]> {
  if (pace.over()) yield;
  const items = itemsOf(schema);
  const values = valuesOf(schema);
  const found: FieldError[] = [];
  if (schema.type === 'array' && items === undefined) {
    found.push(fieldError.required(`${path}.items`, 'must be specified'));
  }
  if (items !== undefined) found.push(...(yield* validateNode(items, 'item', `${path}.items`, names, pace)));
  for (const [name, property] of propertiesOf(schema)) {
    found.push(...(yield* validateNode(property, 'field', `${path}.properties[${name}]`, names, pace)));
  }
  if (isSet(schema.additionalProperties) && level === 'root') {
    found.push(fieldError.forbidden(`${path}.additionalProperties`, 'must not be used at the root'));
  }
  if (values !== undefined) {
    found.push(...(yield* validateNode(values, 'field', `${path}.additionalProperties`, names, pace)));
  }
  return [
    ...found,
    ...validateJunctors(schema, path, names),
    ...validateType(schema, level, path, names),
    ...validateIdentity(schema, level, path, names),
  ];
}

function validateType(schema: Schema, level: Level, path: string, names: Names): FieldError[] {
  const { type = '' } = schema;
  const { preserve = false, embedded = false, intOrString = false } = extensionsOf(schema, names);
  const own = (part: 'embedded' | 'preserve' | 'intOrString') => extensionName(part, names);
  const found: FieldError[] = [];
  for (const part of ['preserve', 'embedded'] as const) {
    if (!intOrString || !(part === 'preserve' ? preserve : embedded)) continue;
    found.push(fieldError.invalid(`${path}.${own(part)}`, true, `must be false if ${own('intOrString')} is true`));
  }
  if (embedded && type !== 'object') {
    const why = `must be object if ${own('embedded')} is true`;
    found.push(type === '' ? fieldError.required(`${path}.type`, why) : fieldError.invalid(`${path}.type`, type, why));
  } else if (type === '' && !intOrString && !preserve) {
    found.push(fieldError.required(`${path}.type`, missingType[level]));
  }
  if (embedded && isSet(schema.additionalProperties)) {
    const why = `must not be used if ${own('embedded')} is set`;
    found.push(fieldError.forbidden(`${path}.additionalProperties`, why));
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    found.push(fieldError.invalid(`${path}.type`, type, 'must be object at the root'));
  }
  if (embedded && !preserve && propertiesOf(schema).length === 0) {
    const why = `must not be empty if ${own('embedded')} is true without ${own('preserve')}`;
    found.push(fieldError.required(`${path}.properties`, why));
  }
  return found;
}

/** Requires the types of `apiVersion`, `kind` and `metadata`. */
function validateIdentity(schema: Schema, level: Level, path: string, names: Names): FieldError[] {
  const found: FieldError[] = [];
  if (level === 'root' || extensionsOf(schema, names).embedded === true) {
    for (const [name, type] of [
      ['kind', 'string'],
      ['apiVersion', 'string'],
      ['metadata', 'object'],
    ] as const) {
      const property = propertyOf(schema, name);
      if (property === undefined || property.type === type) continue;
      const at = `${path}.properties[${name}].type`;
      found.push(fieldError.invalid(at, property.type ?? '', `must be ${type}`));
    }
  }
  const metadata = level === 'root' ? propertyOf(schema, 'metadata') : undefined;
  if (metadata === undefined || isRestriction(metadata)) return found;
  const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
  return [...found, fieldError.forbidden(`${path}.properties[metadata]`, why)];
}

/** Whether a schema of metadata only restricts `name` and `generateName`. */
function isRestriction(schema: Schema): boolean {
  const { type: _, default: __, properties = {}, ...others } = schema;
  const known = Object.keys(properties).every((name) => name === 'name' || name === 'generateName');
  return known && Object.keys(others).length === 0;
}

const isIntOrString = (schemas: Schema[] | undefined): boolean =>
  jsonEqual(schemas, [{ type: 'integer' }, { type: 'string' }]);

/** Validates the junctors. `x-int-or-string` allows two forms that name types. */
function validateJunctors(schema: Schema, path: string, names: Names, skipsFirst = false): FieldError[] {
  const skipsAnyOf = skipsFirst || isIntOrString(schema.anyOf);
  const inFirst = isIntOrString(schema.allOf?.[0]?.anyOf);
  return junctorsOf(schema, path).flatMap(([part, at]) => {
    if (skipsAnyOf && at.startsWith(`${path}.anyOf`)) return [];
    return validateJunctorSchema(part, at, names, inFirst && at === `${path}.allOf[0]`);
  });
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

function validateJunctorSchema(schema: Schema, path: string, names: Names, skipsAnyOf = false): FieldError[] {
  const found = validateJunctors(schema, path, names, skipsAnyOf);
  const items = itemsOf(schema);
  if (items !== undefined) found.push(...validateJunctorSchema(items, `${path}.items`, names));
  for (const [name, property] of propertiesOf(schema)) {
    found.push(...validateJunctorSchema(property, `${path}.properties[${name}]`, names));
  }
  const refuse = (field: string, state: string) =>
    found.push(fieldError.forbidden(`${path}.${field}`, `must be ${state} to be structural`));
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
    found.push(fieldError.forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
  }
  return found;
}

/** Requires that every field of value validation is declared in the structural schema. */
function validateComplete(validation: Schema, schema: Schema, path: string, validationPath: string): FieldError[] {
  return junctorsOf(validation, validationPath).flatMap(([part, at]) => validatePresent(part, schema, path, at));
}

function validatePresent(
  validation: Schema,
  schema: Schema | undefined,
  path: string,
  validationPath: string,
): FieldError[] {
  if (schema === undefined) return [fieldError.required(path, `because it is defined in ${validationPath}`)];
  const found = validateComplete(validation, schema, path, validationPath);
  const items = itemsOf(validation);
  if (items !== undefined) {
    found.push(...validatePresent(items, itemsOf(schema), `${path}.items`, `${validationPath}.items`));
  }
  for (const [name, property] of propertiesOf(validation)) {
    const at = `properties[${name}]`;
    found.push(...validatePresent(property, propertyOf(schema, name), `${path}.${at}`, `${validationPath}.${at}`));
  }
  return found;
}
