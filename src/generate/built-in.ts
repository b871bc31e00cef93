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
import { allTypes } from '../types/find-type.ts';
import { type Kind, modelOf } from './collect.ts';
import { writeTypeScript } from './typescript.ts';

/** The description of a type, such as `apps/v1.Deployment`, or of one of its fields. */
export type Describe = (typeName: string, field?: string) => string | undefined;

/** Clients know the names of the first one; those of the others are accepted beside them. */
const domains = [compatibleDomain, defaultDomain].map(namesFor);
const [names = namesFor(compatibleDomain), ...otherNames] = domains;

/** TypeScript interfaces of all built-in types. Descriptions of `describe` take the place of those of the declarations. */
export function builtInTypes(describe: Describe = () => undefined): string {
  const structs = [...allTypes().values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const kinds = kindsOf(structs);
  const others = structs.filter((struct) => homeOf(struct) === 'meta').map(({ name }) => openApiName(name, names));
  const roots = new Set([...kinds.map(({ component }) => component), ...others]);
  const isRoot = ({ name }: StructSchema) => roots.has(openApiName(name, names));
  const components = new Map(Object.entries(openApiSchemas(structs.filter(isRoot), names, 'v2')));
  for (const struct of structs) complete(components.get(openApiName(struct.name, names)) ?? {}, struct, describe);
  return writeTypeScript(modelOf({ names, components, kinds, others, bareMeta: false }));
}

/** Adds descriptions, and the fields that have other names under other domains. */
function complete(component: JsonObject, struct: StructSchema, describe: Describe): void {
  const about = describe(struct.name);
  if (about !== undefined) component['description'] = about;
  const { properties } = component;
  if (!isJsonObject(properties)) return;
  const fields = [...fieldsOf(struct, names).keys()];
  for (const name of fields) {
    const property = properties[name];
    const text = describe(struct.name, name);
    if (text !== undefined && isJsonObject(property)) property['description'] = text;
  }
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
