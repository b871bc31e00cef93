import {
  compatibleDomain,
  defaultDomain,
  expandNames,
  formatGroupVersion,
  isJsonObject,
  type JsonObject,
  namesFor,
  setKey,
} from '../meta/index.ts';
import { builtinGroups } from '../resources/index.ts';
import { fieldsOf, openApiName, openApiSchemas, type StructSchema } from '../schema/index.ts';
import { describe } from '../types/descriptions.ts';
import { allTypes } from '../types/find-type.ts';
import { type Kind, modelOf } from './collect.ts';
import { writeTypeScript } from './typescript.ts';

/** Clients know the names of the first one; those of the others are accepted too. */
const domains = [compatibleDomain, defaultDomain].map(namesFor);
const [names = namesFor(compatibleDomain), ...otherNames] = domains;

/** TypeScript interfaces of all built-in types, with their descriptions. */
export function builtInTypes(): string {
  const structs = [...allTypes().values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const kinds = kindsOf(structs);
  const others = structs.filter((struct) => homeOf(struct) === 'meta').map(({ name }) => openApiName(name, names));
  const roots = new Set([...kinds.map(({ component }) => component), ...others]);
  const isRoot = ({ name }: StructSchema) => roots.has(openApiName(name, names));
  const schemas = openApiSchemas(structs.filter(isRoot), { names, dialect: 'v2', describe });
  const components = new Map(Object.entries(schemas));
  for (const struct of structs) addOtherNames(components.get(openApiName(struct.name, names)) ?? {}, struct);
  return writeTypeScript(modelOf({ names, components, kinds, others, bareMeta: false }));
}

/** Adds the fields that have other names under other domains. */
function addOtherNames({ properties }: JsonObject, struct: StructSchema): void {
  if (!isJsonObject(properties)) return;
  const fields = [...fieldsOf(struct, names).keys()];
  for (const other of otherNames) {
    for (const [i, name] of [...fieldsOf(struct, other).keys()].entries()) {
      const same = properties[fields[i] as string];
      if (same !== undefined && !Object.hasOwn(properties, name)) setKey(properties, name, same);
    }
  }
}

/** The types that are kinds: objects of the API with a kind of their own. Those of meta belong to every group. */
function kindsOf(structs: readonly StructSchema[]): Kind[] {
  const groups = groupsOfPackages();
  return structs.flatMap((struct) => {
    const [, home = '', version = '', kind = ''] = /^(.*)\/(.*)\.(.*)$/.exec(struct.name) ?? [];
    if (home === 'meta' || struct.fields['kind']?.tag !== 0) return [];
    const group = groups.get(home) ?? `${home}.{domain}`;
    const versions = domains.map((each) => formatGroupVersion({ group: expandNames(group, each), version }));
    return [{ component: openApiName(struct.name, names), apiVersions: [...new Set(versions)], kind }];
  });
}

/** The groups of the packages of types, by the types of their resources: `rbac` has those of `rbac.authorization`. */
function groupsOfPackages(): Map<string, string> {
  return new Map(
    builtinGroups.flatMap(({ group, resources }) =>
      resources.flatMap(({ versions }) => versions.map(({ schema }) => [homeOf(schema), group] as const)),
    ),
  );
}

const homeOf = ({ name }: StructSchema): string => name.slice(0, name.indexOf('/'));
