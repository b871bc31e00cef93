/** Types as messages show them: `map(string, list(int))`. */
import { anyType, type CelType, dynType, type MetaType, metaType, nullType, parameterType } from '../types.ts';

/** The type of an expression that has no type, after its issue is reported. It is assignable as dyn is. */
export const errorType: CelType = { kind: 'dyn' };

/** The type of the identifier `type`: a type that is not known more closely. */
export const typeType: MetaType = metaType(parameterType('type'));

/** How many types a formatted type shows at most. */
const maxFormatted = 200;

export function formatType(type: CelType): string {
  return format(type, { left: maxFormatted });
}

/** Kinds whose names in values differ from those in messages about overloads. */
const fullNames: { readonly [kind: string]: string } = {
  null: 'null_type',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
};

/** A type by its full name, as messages about the result of an expression show it. */
export function typeName(type: CelType): string {
  return format(type, { left: maxFormatted }, fullNames);
}

const noNames: typeof fullNames = {};

/** `(int, string)`, or `string.(int)` for the arguments of a member function. */
export function formatSignature(args: readonly CelType[], member: boolean): string {
  const formatted = args.map(formatType);
  const receiver = member ? `${formatted.shift()}.` : '';
  return `${receiver}(${formatted.join(', ')})`;
}

function format(type: CelType, budget: { left: number }, names = noNames): string {
  if (--budget.left < 0) return '...';
  if (type === errorType) return '!error!';
  if (type === typeType) return 'type';
  if (type === anyType) return 'any';
  switch (type.kind) {
    case 'list':
      return `list(${format(type.element, budget, names)})`;
    case 'map':
      return `map(${format(type.key, budget, names)}, ${format(type.value, budget, names)})`;
    case 'optional':
      return `optional_type(${format(type.value, budget, names)})`;
    case 'type':
      return `type(${format(type.of, budget, names)})`;
    case 'nullable':
      return `wrapper(${type.of.kind})`;
    case 'object':
    case 'opaque':
    case 'parameter':
      return type.name;
    default:
      return names[type.kind] ?? type.kind;
  }
}

/** The types that every environment names. */
export const namedTypes: { readonly [name: string]: CelType } = {
  bool: { kind: 'bool' },
  bytes: { kind: 'bytes' },
  double: { kind: 'double' },
  'google.protobuf.Duration': { kind: 'duration' },
  'google.protobuf.Timestamp': { kind: 'timestamp' },
  int: { kind: 'int' },
  list: { kind: 'list', element: dynType },
  map: { kind: 'map', key: dynType, value: dynType },
  null_type: nullType,
  string: { kind: 'string' },
  type: typeType,
  uint: { kind: 'uint' },
};
