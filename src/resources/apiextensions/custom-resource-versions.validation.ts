/** Validation of the JSON paths of a version: printer columns, scale and selectable fields. */
import { type FieldError, fieldError } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type {
  CustomResourceColumnDefinition,
  CustomResourceSubresourceScale,
  SelectableField,
} from '../../types/apiextensions-v1.ts';
import { eachOf } from '../shared/field-rules.ts';
import { hasProperties, propertyOf, type Schema, valuesOf } from './json-schema.ts';

type Column = Infer<typeof CustomResourceColumnDefinition>;

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const MAX_SELECTABLE = 8;
/** Each may visit ten thousand values of each object of a table. */
const MAX_COLUMNS = 100;

function validateDotted(path: string, field: string): FieldError[] {
  return path.startsWith('.') ? [] : [fieldError.invalid(field, path, 'must be a simple json path starting with .')];
}

export function validateColumns(columns: readonly Column[] = [], path: string): FieldError[] {
  return columns.length > MAX_COLUMNS
    ? [fieldError.tooMany(path, columns.length, MAX_COLUMNS)]
    : eachOf(columns, path, validateColumn);
}

function validateColumn(column: Column, path: string): FieldError[] {
  const { name = '', type = '', format = '', jsonPath = '' } = column;
  const errors = name === '' ? [fieldError.required(`${path}.name`)] : [];
  const types = `must be one of ${columnTypes.join(',')}`;
  if (type === '') errors.push(fieldError.required(`${path}.type`, types));
  else if (!columnTypes.includes(type)) errors.push(fieldError.invalid(`${path}.type`, type, types));
  if (format !== '' && !columnFormats.includes(format)) {
    errors.push(fieldError.invalid(`${path}.format`, format, `must be one of ${columnFormats.join(',')}`));
  }
  if (jsonPath === '') return [...errors, fieldError.required(`${path}.JSONPath`)];
  return [...errors, ...validateDotted(jsonPath, `${path}.JSONPath`)];
}

export function validateScale(
  scale: Infer<typeof CustomResourceSubresourceScale> | undefined,
  path: string,
): FieldError[] {
  if (scale === undefined) return [];
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = scale;
  return [
    ...validatePath(specReplicasPath, `${path}.specReplicasPath`, ['.spec'], '.spec'),
    ...validatePath(statusReplicasPath, `${path}.statusReplicasPath`, ['.status'], '.status'),
    ...(labelSelectorPath === ''
      ? []
      : validatePath(labelSelectorPath, `${path}.labelSelectorPath`, ['.spec', '.status'], 'either .spec or .status')),
  ];
}

function validatePath(value: string, path: string, roots: readonly string[], under: string): FieldError[] {
  if (value === '') return [fieldError.required(path)];
  const errors = validateDotted(value, path);
  if (errors.length > 0) return errors;
  if (roots.some((root) => value.startsWith(`${root}.`))) return [];
  return [fieldError.invalid(path, value, `should be a json path under ${under}`)];
}

/** Validates selectable fields: each leads to a scalar property of the schema. */
export function validateSelectable(
  fields: readonly Infer<typeof SelectableField>[],
  schema: Schema | undefined,
  path: string,
): FieldError[] {
  if (fields.length === 0) return [];
  if (schema === undefined) {
    return [fieldError.invalid(path, '', 'may only be set when validations.schema is included')];
  }
  const seen = new Set<string>();
  const errors = eachOf(fields, path, ({ jsonPath = '' }, at) => {
    const field = `${at}.jsonPath`;
    if (jsonPath === '') return [fieldError.required(field)];
    const target = fieldAt(schema, jsonPath);
    if (typeof target === 'string') return [fieldError.invalid(field, jsonPath, `is an invalid path: ${target}`)];
    const ownErrors: FieldError[] = [];
    if (/^\.metadata(?:\.|$)/.test(jsonPath)) {
      ownErrors.push(fieldError.invalid(field, jsonPath, 'must not point to fields in metadata'));
    }
    if (!selectableTypes.includes(target.type ?? '')) {
      const why =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      ownErrors.push(fieldError.invalid(field, jsonPath, why));
    }
    if (seen.has(jsonPath)) ownErrors.push(fieldError.duplicate(field, jsonPath));
    seen.add(jsonPath);
    return ownErrors;
  });
  return seen.size > MAX_SELECTABLE ? [...errors, fieldError.tooMany(path, seen.size, MAX_SELECTABLE)] : errors;
}

const selectableTypes = ['string', 'boolean', 'integer'];

/** The schema at a path such as `.spec.color`, or the reason why there is none. */
function fieldAt(schema: Schema, path: string): Schema | string {
  const tokens = path.match(/[.[\]]|[^.[\]]+/gs) ?? [];
  let current: Schema | undefined = schema;
  for (let i = 0; i < tokens.length; i += 2) {
    const name = tokens[i + 1];
    if (tokens[i] === '[') return 'array notation is not allowed';
    if (tokens[i] !== '.') return `expected [ or . but got: ${tokens[i]}`;
    if (name === undefined) return 'unexpected end of JSON path';
    current = hasProperties(current) ? propertyOf(current, name) : valuesOf(current);
    if (current === undefined) return 'does not refer to a valid field';
  }
  return current;
}
