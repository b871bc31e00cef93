import { type ApiObject, type JsonObject, oneStep } from '../../meta/index.ts';
import { field, string, struct } from '../../schema/index.ts';
import { allVerbs, type CustomVersions, type ResourceDefinition } from '../index.ts';
import { ObjectMeta } from './fixtures.ts';

export const gadgetGroup = 'ref.example.com';

interface GadgetOptions {
  readonly storage?: string;
  readonly served?: readonly string[];
  /** The default of `spec.color`. */
  readonly color?: string;
  readonly kind?: string;
}

/** Of two versions that differ in name only: `spec.color` may have a default, and is selectable. */
const schemaOf = (version: string) =>
  struct(`ref.example.com/${version}.Gadget`, {
    kind: field(1, string),
    apiVersion: field(2, string),
    metadata: field(3, ObjectMeta),
    spec: field(
      4,
      struct(`ref.example.com/${version}.GadgetSpec`, { color: field(1, string), size: field(2, string) }),
    ),
  });
const schemas = new Map(['v1', 'v1beta1'].map((version) => [version, schemaOf(version)]));

interface Gadget extends ApiObject {
  spec?: { color?: string };
}

/** A custom resource with the versions v1 and v1beta1. */
export function gadgets({ storage = 'v1', served = ['v1', 'v1beta1'], color, kind = 'Gadget' }: GadgetOptions = {}) {
  const apiVersion = (version: string) => `${gadgetGroup}/${version}`;
  const normalize = (object: Gadget): boolean => {
    if (color === undefined || object.spec?.color !== undefined) return false;
    object.spec = { color, ...object.spec };
    return true;
  };
  const definitionOf = (version: string): ResourceDefinition => ({
    group: gadgetGroup,
    plural: 'gadgets',
    singular: 'gadget',
    kind,
    shortNames: ['gad'],
    categories: [],
    namespaced: true,
    verbs: allVerbs,
    versions: [...schemas].map(([name, schema]) => ({
      version: name,
      schema,
      openApi: () =>
        oneStep(() => ({ type: 'object', properties: { spec: { type: 'object', default: { color: color ?? '' } } } })),
      ...(name === 'v1' ? {} : { deprecationWarning: `${apiVersion(name)} Gadget is deprecated` }),
    })),
    storage: { group: gadgetGroup, resource: 'gadgets', version },
    custom: {
      version: storage,
      normalizes: color !== undefined,
      fromStored: (object) =>
        oneStep(() => {
          const converts = object.apiVersion !== apiVersion(version);
          object.apiVersion = apiVersion(version);
          return normalize(object as Gadget) || converts;
        }),
      toStored: (object) =>
        oneStep(() => (version === storage ? object : { ...object, apiVersion: apiVersion(storage) })),
    },
    subresources: [],
    columns: [],
    selectableFields: [
      {
        path: 'spec.color',
        value: (object) => ((object as JsonObject)['spec'] as { color?: string } | undefined)?.color ?? '',
      },
    ],
    strategy: { generation: true, defaults: (object) => void normalize(object as Gadget) },
  });
  const definitions = new Map([...schemas.keys()].map((version) => [version, definitionOf(version)]));
  const of = (version: string) => definitions.get(version) as ResourceDefinition;
  return { stored: of(storage), served: served.map(of) } satisfies CustomVersions;
}
