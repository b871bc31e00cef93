import { type FeatureName, type Features, isJsonObject, type Json, type JsonObject } from '../meta/index.ts';
import { hasField, resolve } from './access.ts';
import type { Field, Schema, StructSchema } from './declare.ts';

/** The fields of a struct whose feature gate is off, and the fields above such fields. */
export type GatedFields = readonly GatedField[];
interface GatedField {
  readonly name: string;
  /** The gate of the field itself; undefined for a field above gated ones. */
  readonly gate: FeatureName | undefined;
  readonly drops: Field['gateDrops'];
  /** The field is a map, and `below` applies to its values. */
  readonly inMap: boolean;
  /** One for each struct that the field may hold. */
  readonly below: readonly GatedFields[];
}

/** The fields of a type whose feature gates are off; undefined when there are none. */
export function gatedFields(schema: StructSchema, features: Features): GatedFields | undefined {
  const isOff = ({ gate }: Field) => gate !== undefined && !features[gate];
  if (!hasField(schema, isOff)) return undefined;
  const known = new Map<StructSchema, GatedField[]>();
  const gatedFieldsOf = (struct: StructSchema): GatedFields => {
    let fields = known.get(struct);
    if (fields !== undefined) return fields;
    fields = [];
    known.set(struct, fields);
    for (const [name, field] of Object.entries(struct.fields)) {
      const gate = isOff(field) ? field.gate : undefined;
      if (gate === undefined && !hasField(field.schema, isOff)) continue;
      const inMap = resolve(field.schema).type === 'map';
      const below = gate === undefined ? structsIn(field.schema).map(gatedFieldsOf) : [];
      fields.push({ name, gate, drops: field.gateDrops, inMap, below });
    }
    return fields;
  };
  return gatedFieldsOf(schema);
}

/** The structs of a value or of its entries. */
function structsIn(declared: Schema): StructSchema[] {
  const schema = resolve(declared);
  switch (schema.type) {
    case 'struct':
      return [schema];
    case 'list':
      return structsIn(schema.element);
    case 'map':
      return structsIn(schema.value);
    case 'either':
      return schema.options.flatMap(structsIn);
    default:
      return [];
  }
}

/** Drops the fields whose feature gates are off, except for features that the old object uses. */
export function dropGated(object: JsonObject, old: JsonObject | undefined, fields: GatedFields): void {
  const found: { readonly gate: FeatureName; readonly drop: () => void }[] = [];
  search(object, fields, (gate, drop) => found.push({ gate, drop }));
  if (found.length === 0) return;
  const usedGates = new Set<FeatureName>();
  if (old !== undefined) search(old, fields, (gate) => usedGates.add(gate));
  for (const { gate, drop } of found) if (!usedGates.has(gate)) drop();
}

type Found = (gate: FeatureName, drop: () => void) => void;

/** `dropValue` drops the value from what holds it; absent for items of lists and entries of maps. */
function search(value: Json, fields: GatedFields, found: Found, dropValue?: () => void): void {
  if (Array.isArray(value)) for (const item of value) search(item, fields, found);
  else if (isJsonObject(value)) {
    for (const { name, gate, drops, inMap, below } of fields) {
      const item = value[name];
      if (item === undefined || item === null) continue;
      const drop = () => delete value[name];
      if (gate === undefined) {
        for (const part of below) search(inMap ? (Object.values(item) as Json[]) : item, part, found, drop);
      } else if (dropValue === undefined || drops === undefined) found(gate, drop);
      else if (drops === 'holder') found(gate, dropValue);
      else {
        found(gate, () => {
          drop();
          if (Object.keys(value).length === 0) dropValue();
        });
      }
    }
  }
}
