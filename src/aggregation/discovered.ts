/** Reads what extension API servers say in discovery. They may say anything: only known fields are taken over, within limits. */
import { isJsonObject, type Json, type JsonObject } from '../meta/index.ts';

/** Limits of one group version: resources, subresources of one, items of a list, and characters of a text. */
const maxResources = 1_000;
const maxSubresources = 100;
const maxItems = 100;
const maxText = 253;

/** A resource name is a segment of a path. */
const resourceName = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/**
 * The resources of a group version in an APIGroupDiscoveryList, in the form in which this server shows them; undefined when
 * it is another document, or the extension API server does not know the resources of the version itself.
 */
export function fromGroupList(document: Json, group: string, version: string): JsonObject[] | undefined {
  if (!isJsonObject(document) || document['kind'] !== 'APIGroupDiscoveryList') return undefined;
  const found = objectsOf(document['items']).find(
    ({ metadata }) => isJsonObject(metadata) && metadata['name'] === group,
  );
  const served = objectsOf(found?.['versions']).find((one) => one['version'] === version);
  if (served === undefined || served['freshness'] === 'Stale') return undefined;
  return objectsOf(served['resources'])
    .slice(0, maxResources)
    .flatMap((resource) => discoveredResource(resource));
}

/** The resources in an APIResourceList, of a server without aggregated discovery. */
export function fromResourceList(document: Json): JsonObject[] | undefined {
  if (!isJsonObject(document) || !Array.isArray(document['resources'])) return undefined;
  const listed = objectsOf(document['resources']).slice(0, maxResources);
  const subresources = new Map<string, JsonObject[]>();
  for (const one of listed) {
    const [parent = '', subresource] = textOf(one['name']).split('/', 2);
    if (subresource === undefined) continue;
    const own = subresources.get(parent) ?? [];
    own.push({ subresource, responseKind: kindIn(one), verbs: one['verbs'] ?? [] });
    subresources.set(parent, own);
  }
  return listed
    .filter(({ name }) => typeof name === 'string' && !name.includes('/'))
    .flatMap((one) =>
      discoveredResource({
        resource: one['name'] ?? '',
        responseKind: kindIn(one),
        scope: one['namespaced'] === true ? 'Namespaced' : 'Cluster',
        singularResource: one['singularName'] ?? '',
        verbs: one['verbs'] ?? [],
        shortNames: one['shortNames'] ?? [],
        categories: one['categories'] ?? [],
        subresources: subresources.get(textOf(one['name'])) ?? [],
      }),
    );
}

const kindIn = ({ group = '', version = '', kind = '' }: JsonObject): JsonObject => ({ group, version, kind });

function discoveredResource(value: JsonObject): JsonObject[] {
  const resource = textOf(value['resource']);
  if (!resourceName.test(resource)) return [];
  const subresources = objectsOf(value['subresources'])
    .slice(0, maxSubresources)
    .map((one) => ({
      subresource: textOf(one['subresource']),
      responseKind: responseKind(one['responseKind']),
      verbs: textsOf(one['verbs']),
    }));
  const shortNames = textsOf(value['shortNames']);
  const categories = textsOf(value['categories']);
  return [
    {
      resource,
      responseKind: responseKind(value['responseKind']),
      scope: value['scope'] === 'Namespaced' ? 'Namespaced' : 'Cluster',
      singularResource: textOf(value['singularResource']),
      verbs: textsOf(value['verbs']),
      ...(shortNames.length === 0 ? {} : { shortNames }),
      ...(categories.length === 0 ? {} : { categories }),
      ...(subresources.length === 0 ? {} : { subresources }),
    },
  ];
}

function responseKind(value: Json | undefined): JsonObject {
  const { group, version, kind } = isJsonObject(value) ? value : {};
  return { group: textOf(group), version: textOf(version), kind: textOf(kind) };
}

const objectsOf = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value.slice(0, maxText) : '');

const textsOf = (value: Json | undefined): string[] =>
  (Array.isArray(value) ? value : [])
    .slice(0, maxItems)
    .filter((one) => typeof one === 'string')
    .map(textOf);
