import { oneStep } from '../../meta/index.ts';
import { allVerbs, type ResourceDefinition } from '../../registry/index.ts';
import { anyObject, field, string, struct } from '../../schema/index.ts';
import { ObjectMeta } from '../../types/meta-v1.ts';
import type { Define } from '../controller.ts';

/** A resource whose objects hold anything in `spec`, without conversion but that of the apiVersion. */
export const defineAnything: Define = (definition) =>
  new Map((definition.spec?.versions ?? []).map(({ name = '' }) => [name, anything(definition, name)]));

function anything({ spec = {} }: Parameters<Define>[0], version: string): ResourceDefinition {
  const { group = '', names, scope, versions = [] } = spec;
  const { plural = '', singular = '', kind = '', shortNames = [], categories = [] } = names ?? {};
  const stored = versions.find(({ storage }) => storage === true)?.name ?? '';
  return {
    group,
    plural,
    singular,
    kind,
    shortNames,
    categories,
    namespaced: scope === 'Namespaced',
    verbs: allVerbs,
    versions: versions.map(({ name = '' }) => ({
      version: name,
      schema: struct(`${group}/${name}.${kind}`, {
        kind: field(1, string),
        apiVersion: field(2, string),
        metadata: field(3, ObjectMeta),
        spec: field(4, anyObject),
      }),
    })),
    storage: { group, resource: plural, version },
    custom: {
      version: stored,
      normalizes: false,
      fromStored: (object) =>
        oneStep(() => {
          const changes = object.apiVersion !== `${group}/${version}`;
          object.apiVersion = `${group}/${version}`;
          return changes;
        }),
      toStored: (object) =>
        oneStep(() => (version === stored ? object : { ...object, apiVersion: `${group}/${stored}` })),
    },
    subresources: [],
    columns: [],
    selectableFields: [],
    strategy: { generation: true },
  };
}
