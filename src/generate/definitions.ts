import { openApiOf, structuralOf } from '../extensions/index.ts';
import {
  atOnce,
  formatGroupVersion,
  isJsonObject,
  type Json,
  type JsonObject,
  namesFor,
  StatusError,
} from '../meta/index.ts';
import { compile, openApiName, openApiSchemas, validate } from '../schema/index.ts';
import { CustomResourceDefinition } from '../types/apiextensions-v1.ts';
import { describe } from '../types/descriptions.ts';
import { ObjectMeta } from '../types/meta-v1.ts';
import { type Kind, modelOf } from './collect.ts';
import type { Model } from './model.ts';

const definitionKind = CustomResourceDefinition.name.slice(CustomResourceDefinition.name.lastIndexOf('.') + 1);

/** Whether a value is a definition of custom resources, in whatever version and domain. */
export function isDefinition(value: Json): value is JsonObject {
  return isJsonObject(value) && value['kind'] === definitionKind;
}

/** A definition, and where it comes from for messages. */
export interface Source {
  readonly where: string;
  readonly definition: JsonObject;
}

/** A definition that cannot be read. Its message names the source and the field. */
export class DefinitionError extends Error {}

/** The parts of the types of a definition. */
function readSource(source: Source) {
  const { names, definition } = readDefinition(source);
  const { group = '', names: { kind = '' } = {}, versions = [] } = definition.spec ?? {};
  const served = versions.filter(({ served }) => served);
  return {
    where: source.where,
    names,
    group,
    kind,
    versions: served.map(({ name: version = '', schema }) => ({
      version,
      schema: (schema?.openAPIV3Schema ?? {}) as JsonObject,
    })),
  };
}

/** The types of the kinds of definitions, in all versions that are served. @throws DefinitionError */
export function modelOfDefinitions(sources: readonly Source[]): Model {
  const read = sources.map(readSource);
  const names = read[0]?.names ?? namesFor('');
  const components = new Map(Object.entries(openApiSchemas([ObjectMeta], { names, dialect: 'v2', describe })));
  const kinds = new Map<string, Kind>();
  for (const { where, group, kind, versions, names: own } of read) {
    if (own.domain !== names.domain)
      throw new DefinitionError(`${where}: the API domain is ${own.domain}, and that of others is ${names.domain}`);
    for (const { version, schema } of versions) {
      const component = openApiName(`${group}/${version}.${kind}`, names);
      if (kinds.has(component)) throw new DefinitionError(`${where}: ${kind} of ${group}/${version} is defined twice`);
      components.set(component, atOnce(openApiOf(structuralOf(schema, names), 'v3', names)));
      kinds.set(component, { component, apiVersions: [formatGroupVersion({ group, version })], kind });
    }
  }
  const sorted = [...kinds.values()].sort((a, b) => (a.component < b.component ? -1 : 1));
  return modelOf({ names, components, kinds: sorted, bareMeta: true });
}

/** The definition of a source, and the names of its API domain. @throws DefinitionError */
export function readDefinition({ where, definition }: Source) {
  const fail = (why: string) => new DefinitionError(`${where}: ${why}`);
  const apiVersion = definition['apiVersion'];
  const [, domain] = (typeof apiVersion === 'string' && /^apiextensions\.([^/]+)\/v1$/.exec(apiVersion)) || [];
  if (domain === undefined)
    throw fail(
      `apiVersion: ${JSON.stringify(apiVersion)} must be that of a definition in v1, such as apiextensions.${namesFor('').domain}/v1`,
    );
  const names = namesFor(domain);
  const type = compile(CustomResourceDefinition, names);
  try {
    const { value } = type.decode(definition);
    const [problem] = validate(value, type);
    if (problem !== undefined) throw fail(`${problem.field}: ${problem.message}`);
    return { names, definition: value as CustomResourceDefinition };
  } catch (error) {
    if (error instanceof StatusError) throw fail(error.message);
    throw error;
  }
}
