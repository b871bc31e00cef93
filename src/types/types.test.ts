import { readdirSync } from 'node:fs';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { featureGates, type Json } from '../meta/index.ts';
import { builtinResources } from '../resources/index.ts';
import type { Field, Infer, Schema, StructSchema } from '../schema/index.ts';
import * as groups from './index.ts';

const structs = Object.entries(groups).flatMap(([group, module]) =>
  Object.entries(module).flatMap(([name, value]: [string, unknown]) =>
    isStruct(value) ? [{ group, name, schema: value }] : [],
  ),
);
const byName = new Map(structs.map(({ schema }) => [schema.name, schema]));
const fields = structs.flatMap(({ schema }) =>
  Object.entries(schema.fields).map(([name, field]) => ({ path: `${schema.name}.${name}`, name, field, schema })),
);

function isStruct(value: unknown): value is StructSchema {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'struct';
}

/** The schema of a list's elements; undefined when the schema is not a list. */
function elementOf(schema: Schema): Schema | undefined {
  return schema.type === 'list' ? unwrapped(schema.element) : undefined;
}

function unwrapped(schema: Schema): Schema {
  return schema.type === 'lazy' ? unwrapped(schema.resolve()) : schema;
}

/** The paths of the fields for which a rule does not hold. */
function breaking(rule: (field: Field, name: string) => boolean): string[] {
  return fields.filter(({ field, name }) => !rule(field, name)).map(({ path }) => path);
}

function children(schema: Schema): Schema[] {
  if (schema.type === 'list') return [schema.element];
  if (schema.type === 'map') return [schema.value];
  if (schema.type === 'either') return [...schema.options];
  if (schema.type === 'lazy') return [schema.resolve()];
  return schema.type === 'struct' ? Object.values(schema.fields).map((field) => field.schema) : [];
}

/** The structs that a schema leads to without passing another struct. */
function referenced(schema: Schema): StructSchema[] {
  return schema.type === 'struct' ? [schema] : children(schema).flatMap(referenced);
}

describe('the built-in types', () => {
  test('are all here', () => {
    expect(structs.length).toBe(702);
    expect(fields.length).toBe(2958);
    const files = readdirSync(new URL('.', import.meta.url)).filter((file) => /-v\d.*\.ts$/.test(file));
    expect(Object.keys(groups).toSorted()).toEqual(
      files.map((file) => file.replace(/-v(\d.*)\.ts$/, 'V$1')).toSorted(),
    );
  });

  test('or the server itself make something of every feature that can be switched', () => {
    const elsewhere = new Set<string>([
      'AllAlpha',
      'AllBeta',
      'AllowInsecureKubeletCertificateSigningRequests',
      'AllowParsingUserUIDFromCertAuth',
      'AllowUnsafeMalformedObjectDeletion',
      'AnonymousAuthConfigurableEndpoints',
      'APIResponseCompression',
      'APIServerTracing',
      'AuthorizeNodeWithSelectors',
      'CBORServingAndStorage',
      'DeclarativeValidation',
      'DeclarativeValidationTakeover',
      'ListFromCacheSnapshot',
      'MutatingAdmissionPolicy',
      'OpenAPIEnums',
      'RemoteRequestHeaderUID',
      'ServiceAccountNodeAudienceRestriction',
      'StorageVersionHash',
      'StructuredAuthenticationConfiguration',
      'WatchList',
    ]);
    const ofFields = new Set<string>(fields.flatMap(({ field }) => field.gate ?? []));
    const ofKinds = new Set<string>(builtinResources.flatMap(({ gate }) => gate ?? []));
    const gates = Object.entries(featureGates);
    const idle = gates.filter(
      ([name, { locked }]) => !locked && !elsewhere.has(name) && !ofFields.has(name) && !ofKinds.has(name),
    );
    expect(idle.map(([name]) => name)).toEqual([]);
  });

  test('have a name of their own, which says where they are declared', () => {
    expect(byName.size).toBe(structs.length);
    const expected = structs.map(({ group, name }) => `${group.replace(/V(\d.*)$/, '/v$1')}.${name}`);
    expect(structs.map(({ schema }) => schema.name)).toEqual(expected);
  });

  test('use only declared structs, and each as it is declared', () => {
    const seen = new Set<Schema>();
    const strange: string[] = [];
    const visit = (schema: Schema) => {
      if (seen.has(schema)) return;
      seen.add(schema);
      if (schema.type === 'struct' && byName.get(schema.name) !== schema) strange.push(schema.name);
      children(schema).forEach(visit);
    };
    for (const { schema } of structs) visit(schema);
    expect(strange).toEqual([]);
    expect([...seen].filter((schema) => schema.type === 'struct').length).toBe(structs.length);
  });

  test('refer to types of their own version where their group has several', () => {
    const packageOf = (name: string) => name.slice(0, name.indexOf('/'));
    const versionOf = (name: string) => name.slice(0, name.indexOf('.'));
    const others = fields.flatMap(({ path, field, schema }) => {
      const messages = [field.via?.message, field.via?.inner?.message];
      const names = [...referenced(field.schema).map(({ name }) => name), ...messages].filter(
        (name) => name !== undefined,
      );
      return names.flatMap((name) =>
        packageOf(name) === packageOf(schema.name) && versionOf(name) !== versionOf(schema.name)
          ? [`${path} -> ${name}`]
          : [],
      );
    });
    const embedded = ['operations', 'apiGroups', 'apiVersions', 'resources', 'scope'];
    const rules = ['v1alpha1', 'v1beta1'].flatMap((version) =>
      embedded.flatMap((name) => {
        const path = `admissionregistration/${version}.NamedRuleWithOperations.${name}`;
        const rule = name === 'operations' ? [] : [`${path} -> admissionregistration/v1.Rule`];
        return [`${path} -> admissionregistration/v1.RuleWithOperations`, ...rule];
      }),
    );
    expect(others).toEqual([
      ...rules,
      ...['v1alpha1', 'v1beta1'].map(
        (version) => `authentication/${version}.SelfSubjectReviewStatus.userInfo -> authentication/v1.UserInfo`,
      ),
      ...['field', 'label'].map((name) => {
        const attributes = `authorization/v1.${name === 'field' ? 'Field' : 'Label'}SelectorAttributes`;
        return `authorization/v1beta1.ResourceAttributes.${name}Selector -> ${attributes}`;
      }),
    ]);
  });

  test('list the supported values of admission policies in some versions only, as the reference server', () => {
    const listed = (name: string, field: string) =>
      ['v1', 'v1beta1', 'v1alpha1'].map(
        (version) => byName.get(`admissionregistration/${version}.${name}`)?.fields[field]?.enum !== false,
      );
    expect(listed('MatchResources', 'matchPolicy')).toEqual([true, false, true]);
    expect(listed('ParamRef', 'parameterNotFoundAction')).toEqual([false, false, true]);
  });

  test('give every field of a message a number of its own', () => {
    const problems: string[] = [];
    for (const { schema } of structs) {
      const taken = new Map<string, string>();
      for (const [name, { tag, via }] of Object.entries(schema.fields)) {
        if (tag === 0) continue;
        // Each message on the way to the field has a number in the one before it.
        const places: [key: string, holder: string][] = [];
        let path = schema.name;
        for (let step = via; step !== undefined; step = step.inner) {
          places.push([`${path}#${step.tag}`, `message ${step.message}`]);
          path += `/${step.message}`;
        }
        places.push([`${path}#${tag}`, name]);
        for (const [key, holder] of places) {
          if ((taken.get(key) ?? holder) !== holder) problems.push(`${schema.name}: ${name} and ${taken.get(key)}`);
          taken.set(key, holder);
        }
      }
    }
    expect(problems).toEqual([]);
  });

  test('leave out the number only where there is no protobuf form', () => {
    const free = structs
      .filter(({ schema }) =>
        Object.entries(schema.fields).some(([name, { tag }]) => tag === 0 && name !== 'kind' && name !== 'apiVersion'),
      )
      .map(({ name }) => name);
    expect(free).toEqual(['TableColumnDefinition', 'TableRowCondition', 'TableRow', 'Table']);
    expect(breaking(({ tag }) => Number.isInteger(tag) && tag >= 0)).toEqual([]);
  });

  test('begin with kind and version where they are kinds', () => {
    const kinds = structs.filter(({ schema }) => schema.fields['apiVersion']?.tag === 0);
    expect(kinds.length).toBe(131);
    for (const { schema } of kinds) expect(Object.keys(schema.fields).slice(0, 2)).toEqual(['kind', 'apiVersion']);
    const objects = kinds.filter(({ schema }) => schema.fields['metadata']?.schema === groups.metaV1.ObjectMeta);
    expect(objects.length).toBe(104);
    for (const { schema } of objects) expect(Object.keys(schema.fields)[2]).toBe('metadata');
  });
});

describe('the rules of a field', () => {
  test('name keys that the elements of a map-like list have', () => {
    const lists = fields.filter(({ field }) => field.listType === 'map');
    expect(lists.length).toBeGreaterThan(50);
    const bad = lists.filter(({ field }) => {
      const element = elementOf(field.schema);
      const keys = field.listMapKeys ?? [];
      return (
        element?.type !== 'struct' || keys.length === 0 || !keys.every((key) => Object.hasOwn(element.fields, key))
      );
    });
    expect(bad.map(({ path }) => path)).toEqual([]);
    expect(breaking(({ listType, listMapKeys }) => listType === 'map' || listMapKeys === undefined)).toEqual([]);
    expect(breaking(({ listType, duplicates }) => duplicates === undefined || listType !== 'atomic')).toEqual([]);
  });

  test('name a merge key that the elements have', () => {
    expect(fields.filter(({ field }) => field.patchMergeKey !== undefined).length).toBeGreaterThan(50);
    const bad = breaking(({ patchMergeKey, patchStrategy, schema }) => {
      if (patchMergeKey === undefined) return true;
      const element = elementOf(schema);
      return patchStrategy !== undefined && element?.type === 'struct' && Object.hasOwn(element.fields, patchMergeKey);
    });
    expect(bad).toEqual([]);
  });

  test('keep sets to lists of scalars', () => {
    const bad = breaking(({ listType, schema }) => {
      const element = elementOf(schema)?.type;
      return listType !== 'set' || (element !== undefined && !['struct', 'list', 'map'].includes(element));
    });
    expect(bad).toEqual([]);
  });

  test('default to a value of the type that is a known one', () => {
    expect(fields.filter(({ field }) => field.default !== undefined).length).toBeGreaterThan(15);
    const kinds: { [type: string]: string } = { string: 'string', bool: 'boolean', int32: 'number', int64: 'number' };
    const bad = breaking((field) => {
      const value: Json | undefined = field.default;
      if (value === undefined) return true;
      const known = field.known === undefined || (typeof value === 'string' && field.known.includes(value));
      return known && typeof value === kinds[field.schema.type];
    });
    expect(bad).toEqual([]);
  });

  test('know values only of text, each once', () => {
    expect(fields.filter(({ field }) => field.known !== undefined && field.open !== true).length).toBeGreaterThan(40);
    const bad = breaking(({ known, open, schema }) => {
      if (known === undefined) return open === undefined;
      const value = schema.type === 'map' ? schema.value : (elementOf(schema) ?? schema);
      return value.type === 'string' && known.length > 0 && new Set(known).size === known.length;
    });
    expect(bad).toEqual([]);
  });

  test('bound only whole numbers', () => {
    expect(fields.filter(({ field }) => field.min !== undefined).length).toBeGreaterThan(60);
    const bad = breaking(({ min, max, schema }) => {
      if (min === undefined) return max === undefined;
      return ['int32', 'int64'].includes(schema.type) && min <= (max ?? Number.POSITIVE_INFINITY);
    });
    expect(bad).toEqual([]);
  });

  test('accept empty values only where they ask for any', () => {
    expect(breaking(({ emptyOk, required }) => emptyOk === undefined || required === true)).toEqual([]);
  });

  test('spell no product and no domain', () => {
    const written = fields.map(({ path, field }) => [path, field]);
    const text = JSON.stringify(written, (key, value: unknown) => (key === 'schema' ? undefined : value));
    expect(text.length).toBeGreaterThan(100_000);
    expect(text.match(/k8s\.io|kubernetes|orch/i)).toBeNull();
  });
});

test('the schema that contains itself has the declared type', () => {
  type Declared = Infer<typeof groups.apiextensionsV1.JSONSchemaProps>;
  expectTypeOf<keyof Declared>().toEqualTypeOf<keyof groups.apiextensionsV1.JSONSchemaProps>();
  expectTypeOf<Declared>().toExtend<groups.apiextensionsV1.JSONSchemaProps>();
  expectTypeOf<groups.apiextensionsV1.JSONSchemaProps>().toExtend<Declared>();
  const { not, items, properties } = groups.apiextensionsV1.JSONSchemaProps.fields;
  const self: unknown = groups.apiextensionsV1.JSONSchemaProps;
  expect(unwrapped(not.schema)).toBe(self);
  expect(unwrapped(properties.schema.value)).toBe(self);
  expect(items.schema.options.map((option) => unwrapped(option).type)).toEqual(['struct', 'list']);
});
