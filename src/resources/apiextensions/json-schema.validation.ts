/** Validation of the schemas of custom resources, except for expressions and defaults. */
import { fieldPathOf, type PathSchema } from '../../extensions/index.ts';
import { type FieldError, fieldError, type Names, Pace, type Steps } from '../../meta/index.ts';
import type { ValidationRule } from '../../types/apiextensions-v1.ts';
import { oneOf } from '../shared/field-rules.ts';
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
import { validateStructural } from './structural-schema.validation.ts';

/** The rules that follow from the position of a schema. */
interface Place {
  /** The reason why a default is not allowed here; undefined where it is. */
  readonly noDefault?: string;
  readonly inMetadata?: boolean;
  readonly isRoot?: boolean;
}

/** How the schema of a version is validated. */
export interface SchemaRules {
  /** The root may only have what the status subresource supports. */
  readonly hasStatus: boolean;
  readonly structural: boolean;
  /** The reason why no default is allowed. */
  readonly noDefault?: string | undefined;
}

/** Validates the schema of a version, in steps. */
export function* validateSchema(schema: Schema, path: string, names: Names, rules: SchemaRules): Steps<FieldError[]> {
  const { hasStatus, structural, noDefault } = rules;
  const root = noDefault === undefined ? { isRoot: true } : { isRoot: true, noDefault };
  return [
    ...(hasStatus ? validateRoot(schema, path, names) : []),
    ...(schema.nullable === true
      ? [fieldError.forbidden(`${path}.nullable`, 'nullable cannot be true at the root')]
      : []),
    ...(structural ? yield* validateStructural(schema, path, names) : []),
    ...(yield* validateNode(schema, path, { names, pace: new Pace() }, root)),
  ];
}

interface Walk {
  readonly names: Names;
  readonly pace: Pace;
}

/** Fields that the root schema may have with the status subresource. */
const rootParts =
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems ' +
  'MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations';

function validateRoot(schema: Schema, path: string, names: Names): FieldError[] {
  const { type } = schema;
  if (type !== undefined && type !== 'object') {
    const why = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    return [fieldError.invalid(`${path}.type`, type, why)];
  }
  const allowed = new Set<string>([extensionName('preserve', names), extensionName('validations', names)]);
  for (const part of rootParts.split(' ')) allowed.add(part.charAt(0).toLowerCase() + part.slice(1));
  if (Object.keys(schema).every((part) => allowed.has(part))) return [];
  const why = `only [${rootParts}] fields are allowed at the root of the schema if the status subresource is enabled`;
  return [fieldError.invalid(path, schema, why)];
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const identity = ['metadata', 'kind', 'apiVersion'];

/** Fields of JSON Schema that are not supported. */
const unsupported = [
  'id',
  'additionalItems',
  'patternProperties',
  'definitions',
  'dependencies',
  '$ref',
] as const satisfies readonly (keyof Schema)[];

function* validateNode(schema: Schema, path: string, walk: Walk, place: Place): Steps<FieldError[]> {
  const { names, pace } = walk;
  if (pace.over()) yield;
  const { additionalProperties: values, properties } = schema;
  const extensions = extensionsOf(schema, names);
  const { isRoot = false, ...inherited } = place;
  const errors = validateParts(schema, path, names, place);
  if (schema.uniqueItems === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(fieldError.forbidden(`${path}.uniqueItems`, why));
  }
  if (isSet(values) && values !== true && properties !== undefined) {
    const why = 'additionalProperties and properties are mutual exclusive';
    errors.push(fieldError.forbidden(`${path}.additionalProperties`, why));
  }
  const inner = valuesOf(schema);
  if (inner !== undefined) {
    const noDefault = 'inside additionalProperties applying to object metadata';
    const within = place.inMetadata === true ? { ...inherited, noDefault } : inherited;
    errors.push(...(yield* validateNode(inner, `${path}.additionalProperties`, walk, within)));
  }
  for (const [name, property] of propertiesOf(schema)) {
    const isMetadata = (isRoot || extensions.embedded === true) && identity.includes(name);
    const within: Place = {
      ...inherited,
      ...(isMetadata ? { inMetadata: true } : {}),
      ...(isMetadata && isRoot ? { noDefault: `in top-level ${name}` } : {}),
    };
    errors.push(...(yield* validateNode(property, `${path}.properties[${name}]`, walk, within)));
  }
  for (const [part, at] of junctorsOf(schema, path)) errors.push(...(yield* validateNode(part, at, walk, inherited)));
  const items = itemsOf(schema);
  if (items !== undefined) errors.push(...(yield* validateNode(items, `${path}.items`, walk, inherited)));
  errors.push(...validateTopology(schema, path, names), ...validateMapKeys(schema, path, names));
  let paths: PathSchema | undefined;
  for (const [i, rule] of (extensions.validations ?? []).entries()) {
    if (pace.over()) yield;
    const at = `${path}.${extensionName('validations', names)}[${i}]`;
    errors.push(...validateExpression(rule, at));
    const { fieldPath = '' } = rule;
    if (fieldPath === '') continue;
    paths ??= pathSchemaOf(schema);
    if (fieldPathOf(fieldPath, paths) !== undefined) continue;
    errors.push(fieldError.invalid(`${at}.fieldPath`, fieldPath, 'must be a valid path'));
  }
  return errors;
}

function validateParts(schema: Schema, path: string, names: Names, { noDefault, inMetadata }: Place): FieldError[] {
  const { type = '' } = schema;
  const errors = type === '' ? [] : oneOf(`${path}.type`, type, types);
  if (isSet(schema.default) && noDefault !== undefined) {
    errors.push(fieldError.forbidden(`${path}.default`, `must not be set ${noDefault}`));
  }
  for (const part of unsupported) {
    if (isSet(schema[part])) errors.push(fieldError.forbidden(`${path}.${part}`, `${part} is not supported`));
  }
  if (type === 'null') {
    const why = 'type cannot be set to null, use nullable as an alternative';
    errors.push(fieldError.forbidden(`${path}.type`, why));
  }
  if (Array.isArray(schema.items) && schema.items.length > 0) {
    errors.push(fieldError.forbidden(`${path}.items`, 'items must be a schema object and not an array'));
  }
  if (inMetadata === true && extensionsOf(schema, names).embedded === true) {
    const at = `${path}.${extensionName('embedded', names)}`;
    errors.push(fieldError.forbidden(at, 'must not be used inside of resource meta'));
  }
  return errors;
}

/** Requires the type that another field needs. */
function requireType(schema: Schema, type: string, path: string, why: string): FieldError[] {
  if (schema.type === type) return [];
  const at = `${path}.type`;
  return [isSet(schema.type) ? fieldError.invalid(at, schema.type, why) : fieldError.required(at, why)];
}

/** Validates list types and map types. */
function validateTopology(schema: Schema, path: string, names: Names): FieldError[] {
  const { preserve, mapType, listType, mapKeys = [] } = extensionsOf(schema, names);
  const name = (part: 'preserve' | 'mapType' | 'listType' | 'mapKeys') => extensionName(part, names);
  const at = (part: 'preserve' | 'mapType' | 'listType') => `${path}.${name(part)}`;
  const errors: FieldError[] = [];
  if (preserve === false) errors.push(fieldError.invalid(at('preserve'), false, 'must be true or undefined'));
  if (mapType !== undefined) {
    errors.push(
      ...requireType(schema, 'object', path, `must be object if ${name('mapType')} is specified`),
      ...oneOf(at('mapType'), mapType, ['atomic', 'granular']),
    );
  }
  if (listType !== undefined) {
    const needed = requireType(schema, 'array', path, `must be array if ${name('listType')} is specified`);
    errors.push(...needed);
    if (needed.length === 0 && listType === 'set') errors.push(...validateSetItems(schema, path, names));
    errors.push(...oneOf(at('listType'), listType, ['atomic', 'set', 'map']));
  }
  if (mapKeys.length === 0 || listType === 'map') return errors;
  const why = `must be map if ${name('mapKeys')} is non-empty`;
  return [
    ...errors,
    listType === undefined
      ? fieldError.required(at('listType'), why)
      : fieldError.invalid(at('listType'), listType, why),
  ];
}

/** Validates the items of a set: they must be scalar or atomic. */
function validateSetItems(schema: Schema, path: string, names: Names): FieldError[] {
  const items = itemsOf(schema);
  const { listType, mapType } = extensionsOf(items ?? {}, names);
  const why = `must be atomic as item of a list with ${extensionName('listType', names)}=set`;
  if (items?.type === 'array' && listType !== undefined && listType !== 'atomic') {
    return [fieldError.invalid(`${path}.items.${extensionName('listType', names)}`, listType, why)];
  }
  if (items?.type !== 'object' || mapType === 'atomic') return [];
  return [fieldError.invalid(`${path}.items.${extensionName('mapType', names)}`, listType, why)];
}

/** Validates the keys of a list map: required or defaulted scalar properties of each item. */
function validateMapKeys(schema: Schema, path: string, names: Names): FieldError[] {
  const { listType, mapKeys = [] } = extensionsOf(schema, names);
  if (listType !== 'set' && listType !== 'map') return [];
  const items = itemsOf(schema);
  const inItems = `${path}.items`;
  const errors: FieldError[] = [];
  if (listType === 'map') errors.push(...validateKeys(schema, mapKeys, path, names));
  if (items?.nullable === true) {
    const why = `cannot be nullable when ${extensionName('listType', names)} is ${listType}`;
    errors.push(fieldError.forbidden(`${inItems}.nullable`, why));
  }
  const required = new Set(items?.required);
  for (const key of items === undefined || listType !== 'map' ? [] : mapKeys) {
    const property = propertyOf(items as Schema, key);
    if (property === undefined) continue;
    const reason = `this property is in ${extensionName('mapKeys', names)}, so it`;
    const at = `${inItems}.properties[${key}]`;
    if (!required.has(key) && !isSet(property.default)) {
      errors.push(fieldError.required(`${at}.default`, `${reason} must have a default or be a required property`));
    }
    if (property.nullable === true) errors.push(fieldError.forbidden(`${at}.nullable`, `${reason} cannot be nullable`));
  }
  return errors;
}

function validateKeys(schema: Schema, keys: readonly string[], path: string, names: Names): FieldError[] {
  const items = itemsOf(schema);
  const at = `${path}.${extensionName('mapKeys', names)}`;
  const listType = extensionName('listType', names);
  const errors: FieldError[] = [];
  if (keys.length === 0) errors.push(fieldError.required(at, `must not be empty if ${listType} is map`));
  if (schema.items === undefined) {
    errors.push(fieldError.required(`${path}.items`, `must have a schema if ${listType} is map`));
  }
  if (items === undefined) return errors;
  if (items.type !== 'object') {
    const why = `must be object if parent array's ${listType} is map`;
    return [...errors, fieldError.invalid(`${path}.items.type`, items.type ?? '', why)];
  }
  const seen = new Set<string>();
  const list = [...keys];
  for (const key of keys) {
    const property = propertyOf(items, key);
    if (property === undefined) {
      errors.push(fieldError.invalid(at, list, 'entries must all be names of item properties'));
    } else if (property.type === 'array' || property.type === 'object') {
      const why = `must be a scalar type if parent array's ${listType} is map`;
      errors.push(fieldError.invalid(`${path}.items.properties[${key}].type`, items.type, why));
    }
    if (seen.has(key)) errors.push(fieldError.invalid(at, list, 'must not contain duplicate entries'));
    seen.add(key);
  }
  return errors;
}

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const hasLines = (text: string): boolean => /[\r\n]/.test(text);

function validateExpression(rule: ValidationRule, path: string): FieldError[] {
  const { message = '', messageExpression = '', fieldPath = '', reason } = rule;
  const expression = (rule.rule ?? '').trim();
  const text = message.trim();
  const errors: FieldError[] = [];
  const at = `${path}.message`;
  if (expression === '') errors.push(fieldError.required(`${path}.rule`, 'rule is not specified'));
  else if (message !== '' && text === '') {
    errors.push(fieldError.invalid(at, message, 'must be non-empty if specified'));
  } else if (hasLines(text)) errors.push(fieldError.invalid(at, message, 'must not contain line breaks'));
  else if (hasLines(expression) && text === '') {
    errors.push(fieldError.required(at, 'message must be specified if rule contains line breaks'));
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    const why = 'messageExpression must be non-empty if specified';
    errors.push(fieldError.required(`${path}.messageExpression`, why));
  }
  if (reason !== undefined) errors.push(...oneOf(`${path}.reason`, reason, reasons));
  if (fieldPath !== '' && fieldPath.trim() === '') {
    errors.push(fieldError.invalid(`${path}.fieldPath`, fieldPath, 'fieldPath must be non-empty if specified'));
  }
  if (hasLines(fieldPath)) {
    errors.push(fieldError.invalid(`${path}.fieldPath`, fieldPath, 'must not contain line breaks'));
  }
  return errors;
}

/** Of the schema only what paths lead through is read, and once. */
function pathSchemaOf(schema: Schema): PathSchema {
  const { properties = {}, additionalProperties: values } = schema;
  const schemasByPath = new Map<string, PathSchema | undefined>();
  return {
    properties: {
      size: hasProperties({ properties }) ? 1 : 0,
      get: (name) => {
        const property = propertyOf({ properties }, name);
        if (!schemasByPath.has(name)) schemasByPath.set(name, property && pathSchemaOf(property));
        return schemasByPath.get(name);
      },
    },
    additionalProperties: values === true ? true : values ? pathSchemaOf(values as Schema) : undefined,
  };
}
