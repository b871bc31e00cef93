/** Bounds of the values of a schema, for cost estimation: from the schema, else from the largest request. */
import { getKey } from '../../meta/index.ts';
import type { Structural } from '../structural.ts';
import { withIdentity } from './identity.ts';

/** The size of the largest request that estimates assume, in bytes. */
export const maxRequestSize = 3 * 1024 * 1024;
/** Of a string in a request of that size: without its quotes. */
const maxText = maxRequestSize - 2;

/** The most bytes of a code point. */
const codePoint = 4;

/** Serialized sizes, with quotes: the smallest and the largest text of a format. */
const formats: ReadonlyMap<string, { readonly min: number; readonly max: number }> = new Map([
  ['duration', { min: 3, max: 32 }],
  ['date', { min: 12, max: 12 }],
  ['date-time', { min: 21, max: 32 }],
]);

const smallest = { string: 2, boolean: 4, integer: 1, number: 1, array: 2 } as const;

export const formatOf = ({ schema }: Structural): string => {
  const format = getKey(schema, 'format');
  return typeof format === 'string' ? format : '';
};

/** A limit of the schema such as `maxItems`; undefined where it has none. */
export function limitOf({ schema }: Structural, name: 'maxItems' | 'maxLength' | 'maxProperties'): number | undefined {
  const limit = getKey(schema, name);
  return typeof limit === 'number' || typeof limit === 'bigint' ? Math.max(Number(limit), 0) : undefined;
}

const minSizes = new WeakMap<Structural, { readonly size: number | undefined }>();

/** The size of the smallest JSON of a schema, in bytes; undefined for a schema that expressions cannot use. */
export function minSizeOf(structural: Structural): number | undefined {
  let cached = minSizes.get(structural);
  if (cached === undefined) {
    cached = { size: measure(structural) };
    minSizes.set(structural, cached);
  }
  return cached.size;
}

function measure(structural: Structural): number | undefined {
  const { type, items, additionalProperties: values } = structural;
  if (structural.intOrString) return 1;
  if (type === '') return undefined;
  if (type === 'array') return items === undefined || minSizeOf(items) === undefined ? undefined : smallest.array;
  if (type === 'string') return formats.get(formatOf(structural))?.min ?? smallest.string;
  if (type !== 'object') return smallest[type];
  if (values !== undefined && values !== true) return minSizeOf(values) === undefined ? undefined : 2;
  const { properties } = structural.embeddedResource ? withIdentity(structural) : structural;
  let size = 2;
  for (const name of requiredOf(structural)) {
    const property = properties.get(name);
    if (property === undefined || (property.default ?? null) !== null) continue;
    const inner = minSizeOf(property);
    if (inner !== undefined) size += Buffer.byteLength(name) + inner + 4;
  }
  return size;
}

function requiredOf({ schema }: Structural): Set<string> {
  const required = getKey(schema, 'required');
  return new Set(Array.isArray(required) ? (required as string[]) : []);
}

/** The most items of a list whose items have at least this size in JSON. */
export const maxItemsOf = (structural: Structural, itemSize: number): number =>
  limitOf(structural, 'maxItems') ?? Math.floor((maxRequestSize - 2) / (itemSize + 1));

/** The most entries of a map whose values have at least this size in JSON. */
export const maxPropertiesOf = (structural: Structural, valueSize: number): number =>
  limitOf(structural, 'maxProperties') ?? Math.floor((maxRequestSize - 2) / (valueSize + 6));

/** The most bytes of a string, or of a string in place of an integer. */
export function maxTextOf(structural: Structural): number {
  const length = limitOf(structural, 'maxLength');
  if (structural.intOrString) return length === undefined ? maxText : length * codePoint;
  const format = formatOf(structural);
  if (format === 'byte') return length ?? maxText;
  const fixed = formats.get(format);
  if (fixed !== undefined) return fixed.max;
  if (length !== undefined) return length * codePoint;
  const values = getKey(structural.schema, 'enum');
  if (!Array.isArray(values) || values.length === 0) return maxText;
  return values.reduce<number>(
    (most, value) => Math.max(most, typeof value === 'string' ? Buffer.byteLength(value) : 0),
    0,
  );
}
