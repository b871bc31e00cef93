/** The types and functions of expressions that change objects: `Object{…}`, `JSONPatch{…}`, `jsonpatch.escapeKey`. */
import type { Library } from '../library.ts';
import { dynType, type LiteralField, type LiteralObjectType, stringType } from '../types.ts';
import { ConstructedValue, ListValue, MapValue, type Value } from '../values.ts';
import { reading } from './costs.ts';
import { functionOf } from './overloads.ts';

const anyField: LiteralField = { type: dynType, initial: null };

/** `Object`, and `Object.spec.template` for the values at a path. Any field may be set to any value. */
const openType = (name: string): LiteralObjectType => ({ kind: 'object', name, literal: true, field: () => anyField });
export const objectType = openType('Object');

const text: LiteralField = { type: stringType, initial: '' };
const patchFields = new Map<string, LiteralField>([
  ['op', text],
  ['path', text],
  ['from', text],
  ['value', { type: dynType, initial: undefined }],
]);
export const jsonPatchType: LiteralObjectType = {
  kind: 'object',
  name: 'JSONPatch',
  literal: true,
  field: (identifier) => patchFields.get(identifier),
};

const escapeKey = (key: Value | undefined): string => (key as string).replaceAll('~', '~0').replaceAll('/', '~1');

export const mutationLibrary: Library = {
  name: 'mutation',
  types: { Object: objectType, JSONPatch: jsonPatchType },
  typeOfName: (name) => (name.startsWith('Object.') ? openType(name) : undefined),
  functions: {
    'jsonpatch.escapeKey': [
      functionOf('string_jsonpatch_escapeKey_string', [stringType], stringType, escapeKey, reading()),
    ],
  },
};

/** Maximum number of reported mismatches. */
const maxMismatches = 100;

/**
 * Returns the type errors of an object's literals: those at the field `f` of a type `T`, also within lists and maps, must
 * have the type `T.f`.
 */
export function literalTypeMismatches(root: ConstructedValue): readonly string[] {
  const found: string[] = [];
  const visit = (value: Value | undefined, expected: string): void => {
    if (found.length === maxMismatches) return;
    if (value instanceof ConstructedValue) {
      const { name } = value.type;
      if (name !== expected) {
        found.push(
          `unexpected type name "${name}", expected "${expected}", which matches field name path from root Object type`,
        );
      }
      for (const [field, child] of value.fields) visit(child, `${expected}.${field}`);
    } else if (value instanceof ListValue) {
      for (let i = 0; i < value.size; i++) visit(value.get(i), expected);
    } else if (value instanceof MapValue) {
      for (const key of value.keys()) visit(value.get(key), expected);
    }
  };
  visit(root, root.type.name);
  return found;
}
