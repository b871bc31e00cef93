import type { StructSchema } from '../schema/index.ts';
import * as groups from './index.ts';

let byName: Map<string, StructSchema> | undefined;

/** The built-in type with a name such as `autoscaling/v1.Scale`; undefined when there is none. */
export function findType(name: string): StructSchema | undefined {
  byName ??= new Map(
    Object.values(groups)
      .flatMap((group): unknown[] => Object.values(group))
      .filter(isStruct)
      .map((schema) => [schema.name, schema]),
  );
  return byName.get(name);
}

function isStruct(value: unknown): value is StructSchema {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'struct';
}
