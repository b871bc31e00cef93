import { isJsonObject, type Json, type JsonObject } from '../../meta/index.ts';

/** A resource as discovery describes it. */
export interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** `v1`, `apps/v1`. */
  readonly apiVersion: string;
  /** The plural name. */
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
}

/** `deployments.apps`, `pods`: the plural name with its group. */
export const qualifiedName = ({ name, group }: Pick<Resource, 'name' | 'group'>): string =>
  group === '' ? name : `${name}.${group}`;

/** `deployment.apps`, `pod`: as printed before the name of an object. */
export const printedType = ({ kind, group }: Pick<Resource, 'kind' | 'group'>): string =>
  group === '' ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`;

/** The path of the objects of a resource, in one namespace or in all. */
export function pathOf({ apiVersion, name, namespaced }: Resource, namespace: string | undefined): string {
  const root = apiVersion.includes('/') ? '/apis' : '/api';
  const inside = namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}/${apiVersion}${inside}/${name}`;
}

/** The path of one object. */
export const objectPath = (resource: Resource, namespace: string | undefined, name: string): string =>
  `${pathOf(resource, namespace)}/${encodeURIComponent(name)}`;

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const textsOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
const objectsOf = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

/** The resources of a group list of the aggregated discovery, in its order. */
export function resourcesOfGroups(document: JsonObject): Resource[] {
  return objectsOf(document['items']).flatMap((group) => {
    const { metadata = {} } = group;
    const groupName = isJsonObject(metadata) ? textOf(metadata['name']) : '';
    return objectsOf(group['versions']).flatMap((version) =>
      objectsOf(version['resources']).map((resource) => resourceOf(groupName, textOf(version['version']), resource)),
    );
  });
}

function resourceOf(group: string, version: string, from: JsonObject): Resource {
  const { responseKind = {} } = from;
  return {
    group,
    version,
    apiVersion: group === '' ? version : `${group}/${version}`,
    name: textOf(from['resource']),
    singular: textOf(from['singularResource']),
    kind: isJsonObject(responseKind) ? textOf(responseKind['kind']) : '',
    namespaced: from['scope'] === 'Namespaced',
    shortNames: textsOf(from['shortNames']),
    categories: textsOf(from['categories']),
    verbs: textsOf(from['verbs']),
    subresources: objectsOf(from['subresources']).map((sub) => textOf(sub['subresource'])),
  };
}

/** The resources of the document of one group version, which servers without aggregated discovery have. */
export function resourcesOfVersion(apiVersion: string, document: JsonObject): Resource[] {
  const [group, version] = apiVersion.includes('/') ? (apiVersion.split('/') as [string, string]) : ['', apiVersion];
  const rows = objectsOf(document['resources']);
  return rows
    .filter((row) => !textOf(row['name']).includes('/'))
    .map((row) => {
      const name = textOf(row['name']);
      return {
        group,
        version,
        apiVersion,
        name,
        singular: textOf(row['singularName']) || textOf(row['kind']).toLowerCase(),
        kind: textOf(row['kind']),
        namespaced: row['namespaced'] === true,
        shortNames: textsOf(row['shortNames']),
        categories: textsOf(row['categories']),
        verbs: textsOf(row['verbs']),
        subresources: rows
          .map((other) => textOf(other['name']))
          .filter((other) => other.startsWith(`${name}/`))
          .map((other) => other.slice(name.length + 1)),
      };
    });
}
