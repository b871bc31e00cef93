import { type ApiObject, type JsonObject, oneStep, StatusError } from '../../meta/index.ts';
import { field, int64, string, struct } from '../../schema/index.ts';
import { allVerbs, type ConvertObjects, type CustomVersions, type ResourceDefinition } from '../index.ts';
import { ObjectMeta } from './fixtures.ts';

const wheelGroup = 'turn.example.com';
const sizes: { readonly [version: string]: string } = { v1: 'radius', v2: 'diameter' };
const versions = Object.keys(sizes);

const schemas = new Map(
  versions.map((version) => [
    version,
    struct(`turn.example.com/${version}.Wheel`, {
      kind: field(1, string),
      apiVersion: field(2, string),
      metadata: field(3, ObjectMeta),
      spec: field(
        4,
        struct(`turn.example.com/${version}.WheelSpec`, {
          [sizes[version] as string]: field(1, int64),
          colour: field(2, string),
        }),
      ),
    }),
  ]),
);

/** The spec of a wheel in any version. */
export interface Wheel extends ApiObject {
  spec: { colour?: string; radius?: number; diameter?: number };
}

export const wheel = (version: string, name: string, spec: JsonObject, metadata: JsonObject = {}) => ({
  apiVersion: `${wheelGroup}/${version}`,
  kind: 'Wheel',
  metadata: { name, ...metadata },
  spec,
});

/** The radius of `v1` is half of the diameter of `v2`. */
export function turn(given: ApiObject, apiVersion: string): ApiObject {
  const { radius, diameter, ...rest } = (given as Wheel).spec;
  const size = apiVersion.endsWith('v2')
    ? { diameter: diameter ?? (radius ?? 0) * 2 }
    : { radius: radius ?? (diameter ?? 0) / 2 };
  return { ...given, apiVersion, spec: { ...rest, ...size } } as unknown as ApiObject;
}

/** Converts wheels, and records its calls: for each the target version and the names. Refuses those labelled `bad`. */
export function recordingWebhook() {
  const calls: { readonly to: string; readonly names: readonly (string | undefined)[] }[] = [];
  const webhook: ConvertObjects = async (objects, apiVersion) => {
    calls.push({ to: apiVersion.split('/')[1] ?? '', names: objects.map(({ metadata }) => metadata.name) });
    await Promise.resolve();
    if (objects.some(({ metadata }) => metadata.labels?.['bad'] !== undefined)) {
      throw new StatusError(500, '', 'conversion webhook for turn.example.com/v1, Kind=Wheel failed: it does not turn');
    }
    return objects.map((one) => turn(one, apiVersion));
  };
  return { webhook, calls };
}

/** A custom resource with two versions that a webhook converts. `spec.colour` is black by default, and selectable. */
export function wheels(webhook: ConvertObjects, storage = 'v1'): CustomVersions {
  const definitionOf = (version: string): ResourceDefinition => ({
    group: wheelGroup,
    plural: 'wheels',
    singular: 'wheel',
    kind: 'Wheel',
    shortNames: [],
    categories: [],
    namespaced: true,
    verbs: allVerbs,
    versions: [...schemas].map(([name, schema]) => ({ version: name, schema })),
    storage: { group: wheelGroup, resource: 'wheels', version },
    custom: {
      version: storage,
      normalizes: true,
      fromStored: (object) =>
        oneStep(() => {
          if (object.apiVersion !== `${wheelGroup}/${version}`) throw new Error(`no ${version}`);
          return blacken(object as Wheel);
        }),
      toStored: () => {
        throw new Error('a webhook converts');
      },
      webhook,
    },
    subresources: [],
    columns: [],
    selectableFields: [{ path: 'spec.colour', value: (object) => (object as Wheel).spec?.colour ?? '' }],
    strategy: { generation: true, defaults: (object) => void blacken(object as Wheel) },
  });
  const definitions = new Map(versions.map((version) => [version, definitionOf(version)]));
  return { stored: definitions.get(storage) as ResourceDefinition, served: [...definitions.values()] };
}

function blacken(object: Wheel): boolean {
  if (object.spec?.colour !== undefined) return false;
  object.spec = { ...object.spec, colour: 'black' };
  return true;
}
