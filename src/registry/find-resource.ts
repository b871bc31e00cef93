import type { ResourceKey } from '../admission/index.ts';
import { formatGroupResource } from '../meta/index.ts';
import type { StructSchema } from '../schema/index.ts';
import type { Resource } from './resource.ts';

/** Undefined: there is no such resource. */
export type FindResource = (key: ResourceKey) => Resource | undefined;

/** Of resources that share their objects, the first has the schema of the storage version. */
export function resourceFinder(resources: readonly Resource[]): FindResource {
  const byName = new Map(resources.map((resource) => [formatGroupResource(resource.id), resource]));
  const bySchema = new Map<StructSchema, Resource>();
  for (const resource of resources) {
    const { schema } = resource.storageVersion.declared;
    if (!bySchema.has(schema)) bySchema.set(schema, resource);
  }
  return (key) => (typeof key === 'string' ? byName.get(key) : bySchema.get(key));
}
