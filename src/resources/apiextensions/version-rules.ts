/** Parts of a version of a defined resource that point into its objects. */
import { type FieldError, fieldError } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import { eachOf } from '../core/pod-spec/findings.ts';
import type {
  CustomResourceColumnDefinition,
  CustomResourceSubresourceScale,
  SelectableField,
} from '../types/apiextensions-v1.ts';
import { unique } from '../validate/common.ts';

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['binary', 'byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const MAX_SELECTABLE = 8;

/** A path of names, each after a dot or in brackets. */
const isSimplePath = (path: string): boolean => /^(?:\.[A-Za-z_][\w\\-]*|\['[^']+'\])+$/.test(path);

export function validateColumn(column: Infer<typeof CustomResourceColumnDefinition>, path: string): FieldError[] {
  const { name = '', type = '', format = '', jsonPath = '' } = column;
  const found = name === '' ? [fieldError.required(`${path}.name`)] : [];
  const types = `must be one of ${columnTypes.join(',')}`;
  if (type === '') found.push(fieldError.required(`${path}.type`, types));
  else if (!columnTypes.includes(type)) found.push(fieldError.invalid(`${path}.type`, type, types));
  if (format !== '' && !columnFormats.includes(format)) {
    found.push(fieldError.invalid(`${path}.format`, format, `must be one of ${columnFormats.join(',')}`));
  }
  return jsonPath === '' ? [...found, fieldError.required(`${path}.JSONPath`)] : found;
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
      : validatePath(labelSelectorPath, `${path}.labelSelectorPath`, ['.spec', '.status'], 'either .status or .spec')),
  ];
}

function validatePath(value: string, path: string, roots: readonly string[], under: string): FieldError[] {
  if (value === '') return [fieldError.required(path)];
  if (!isSimplePath(value)) return [fieldError.invalid(path, value, 'is an invalid path')];
  if (roots.some((root) => value.startsWith(`${root}.`))) return [];
  return [fieldError.invalid(path, value, `should be a json path under ${under}`)];
}

export function validateSelectable(fields: readonly Infer<typeof SelectableField>[], path: string): FieldError[] {
  const found = fields.length > MAX_SELECTABLE ? [fieldError.tooMany(path, fields.length, MAX_SELECTABLE)] : [];
  return [
    ...found,
    ...eachOf(fields, path, ({ jsonPath = '' }, at) => {
      if (jsonPath === '') return [fieldError.required(`${at}.jsonPath`)];
      if (isSimplePath(jsonPath) && !jsonPath.startsWith('.metadata')) return [];
      const why = jsonPath.startsWith('.metadata') ? 'must not point to fields in metadata' : 'is an invalid path';
      return [fieldError.invalid(`${at}.jsonPath`, jsonPath, why)];
    }),
    ...unique(fields, path, ({ jsonPath = '' }) => jsonPath, '.jsonPath'),
  ];
}
