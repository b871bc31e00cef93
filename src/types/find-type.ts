import type { StructSchema } from '../schema/index.ts';
import * as groups from './index.ts';

let byName: Map<string, StructSchema> | undefined;

/** Every built-in type by its name, such as `autoscaling/v1.Scale`. */
export function allTypes(): ReadonlyMap<string, StructSchema> {
  byName ??= new Map(
    Object.values(groups)
      .flatMap((group): unknown[] => Object.values(group))
      .filter(isStruct)
      .map((schema) => [schema.name, schema]),
  );
  return byName;
}

/** The built-in type with a name; undefined when there is none. */
export const findType = (name: string): StructSchema | undefined => allTypes().get(name);

function isStruct(value: unknown): value is StructSchema {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'struct';
}
