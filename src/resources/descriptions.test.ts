import { readdirSync, readFileSync } from 'node:fs';
import { expect, it, describe as suite } from 'vitest';
import type { EitherSchema, ScalarSchema, Schema, StructSchema } from '../schema/index.ts';
import { describe } from '../types/descriptions.ts';
import { findType } from '../types/find-type.ts';
import * as groups from '../types/index.ts';
import { builtinResources, metricsResources } from './index.ts';
import { olderKinds } from './older/index.ts';

type Type = StructSchema | EitherSchema | (ScalarSchema & { readonly name: string });

const isType = (value: unknown): value is Type =>
  typeof value === 'object' && value !== null && 'type' in value && 'name' in value && typeof value.name === 'string';

/** The kinds that only have older versions. */
const removedKinds = olderKinds.flatMap(({ definition, versions }) =>
  definition === undefined ? [] : [{ ...definition, versions }],
);
const kinds = [...builtinResources, ...metricsResources, ...removedKinds];

const types = [
  ...Object.values(groups)
    .flatMap((group): unknown[] => Object.values(group))
    .filter(isType),
  ...typesOf(removedKinds.flatMap(({ versions }) => versions.map(({ schema }) => schema))).filter(
    ({ name }) => findType(name) === undefined,
  ),
];

/** Every type and field with its description. */
const described = types.flatMap((type) =>
  ['', ...(type.type === 'struct' ? Object.keys(type.fields) : [])].map((field) => ({
    place: field === '' ? type.name : `${type.name}.${field}`,
    named: field === '' ? type.name.slice(type.name.lastIndexOf('.') + 1) : field,
    text: describe(type.name, field) ?? '',
  })),
);

const columns = kinds.flatMap(({ group, plural, columns }) =>
  columns.map(({ name, description = '' }) => ({
    place: `${plural}.${group} ${name}`,
    named: name,
    text: description,
  })),
);

const fillers = new Set(
  'a an and are as at be by for from in is it its of on or that the this to was which with'.split(' '),
);

/** The words of a text, in the singular and without those that say nothing. */
const wordsOf = (text: string): Set<string> => {
  const words = text.replace(/([a-z])([A-Z])/g, '$1 $2').match(/[A-Za-z0-9]+/g) ?? [];
  return new Set(words.map((word) => word.toLowerCase().replace(/s$/, '')).filter((word) => !fillers.has(word)));
};

/** The words of a text beyond the name of its subject. */
const added = (text: string, named: string) => [...wordsOf(text)].filter((word) => !wordsOf(named).has(word));

const wrong = (all: typeof described, isWrong: (text: string, named: string) => boolean) =>
  all.filter(({ text, named }) => isWrong(text, named)).map(({ place, text }) => `${place}: ${text}`);

/** The name of the type of a field, or of its items or values. */
function typeOf(schema: Schema): string | undefined {
  switch (schema.type) {
    case 'struct':
    case 'either':
      return schema.name;
    case 'lazy':
      return typeOf(schema.resolve());
    case 'list':
      return typeOf(schema.element);
    case 'map':
      return typeOf(schema.value);
    default:
      return undefined;
  }
}

/** These types and those that their fields lead to. */
function typesOf(schemas: readonly StructSchema[]): readonly StructSchema[] {
  const found = new Set<StructSchema>();
  const visit = (schema: Schema): void => {
    if (schema.type === 'list') visit(schema.element);
    else if (schema.type === 'map') visit(schema.value);
    if (schema.type !== 'struct' || found.has(schema)) return;
    found.add(schema);
    for (const field of Object.values(schema.fields)) visit(field.schema);
  };
  for (const schema of schemas) visit(schema);
  return [...found];
}

/** The types of older versions and of their subresources. */
const olderTypes = typesOf(
  olderKinds
    .flatMap(({ versions }) => versions)
    .flatMap(({ schema, subresources = [] }) => [
      schema,
      ...subresources.flatMap((subresource) => subresource.schema ?? []),
    ]),
);

const folder = new URL('../types/descriptions/', import.meta.url);

const textsIn = (file: string) =>
  JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as { [of: string]: { [field: string]: string } };

suite('descriptions', () => {
  it('are there for every built-in type and field', () => {
    expect(described.length).toBeGreaterThan(3_500);
    expect(wrong(described, (text) => text === '')).toEqual([]);
  });

  it('are there for every column of a table', () => {
    expect(columns.length).toBeGreaterThan(200);
    expect(wrong(columns, (text) => text === '')).toEqual([]);
  });

  it('say more than the name', () => {
    expect(wrong(described, (text, named) => added(text, named).length < 3)).toEqual([]);
    expect(wrong(columns, (text, named) => added(text, named).length < 2)).toEqual([]);
  });

  it('are sentences of a useful length', () => {
    const isSentence = (text: string) => /^[A-Z0-9`{].*[.]$/s.test(text) && text.length >= 20 && text.length <= 420;
    expect(wrong([...described, ...columns], (text) => !isSentence(text))).toEqual([]);
  });

  it('have the placeholders of names, and no name of another product', () => {
    const fixed = /k8s\.io|kubernetes\.io|\bKubernetes\b|https?:/;
    expect(wrong([...described, ...columns], (text) => fixed.test(text))).toEqual([]);
    const placeholders = new Set(described.flatMap(({ text }) => text.match(/\{\w+\}/g) ?? []));
    expect([...placeholders].filter((name) => !['{domain}', '{labels}', '{product}'].includes(name))).toEqual([]);
  });

  it('of kind and apiVersion are shared by objects and lists alone', () => {
    for (const type of types) {
      if (type.type !== 'struct' || type.name === 'meta/v1.TypeMeta') continue;
      for (const field of ['kind', 'apiVersion']) {
        const declared = type.fields[field];
        if (declared === undefined || declared.tag === 0) continue;
        expect([type.name, describe(type.name, field)]).not.toEqual([type.name, describe('meta/v1.TypeMeta', field)]);
      }
    }
  });

  it('differ between the fields of a type', () => {
    for (const type of types) {
      if (type.type !== 'struct') continue;
      const texts = Object.keys(type.fields).map((field) => describe(type.name, field));
      expect([type.name, new Set(texts).size]).toEqual([type.name, texts.length]);
    }
  });

  // `kubectl explain` prints both, one after the other.
  it('of a field and of its type say different things', () => {
    const pairs = types.flatMap((type) => {
      if (type.type !== 'struct') return [];
      return Object.entries(type.fields).flatMap(([field, { schema }]) => {
        const name = typeOf(schema);
        return name === undefined ? [] : [{ place: `${type.name}.${field}`, field: describe(type.name, field), name }];
      });
    });
    expect(pairs.length).toBeGreaterThan(900);
    const same = pairs.filter(({ field = '', name }) => {
      const whole = describe(name, '') ?? '';
      return added(field, whole).length + added(whole, field).length < 3;
    });
    expect(same.map(({ place, field }) => `${place}: ${field}`)).toEqual([]);
  });

  it('name types, fields and columns that exist', () => {
    const names = new Map<string, Set<string>>();
    const add = (key: string, fields: Iterable<string>) => {
      const known = names.get(key) ?? new Set(['']);
      for (const field of fields) known.add(field);
      names.set(key, known);
    };
    for (const type of [...types, ...olderTypes]) {
      const [home = '', rest = ''] = type.name.split('/');
      const fields = type.type === 'struct' ? Object.keys(type.fields) : [];
      add(`${home}/${rest}`, fields);
      add(`${home}/${rest.slice(rest.indexOf('.') + 1)}`, fields);
    }
    for (const { versions, plural, columns } of kinds) {
      add(
        `${versions[0]?.schema.name.split('/')[0]}/${plural}`,
        columns.map(({ name }) => name),
      );
    }
    names.get('meta/TypeMeta')?.add('metadata');
    const unknown = readdirSync(folder).flatMap((file) => {
      const home = file.replace('.json', '');
      return Object.entries(textsIn(file)).flatMap(([of, fields]) =>
        Object.keys(fields)
          .filter((field) => names.get(`${home}/${of}`)?.has(field) !== true)
          .map((field) => `${file}: ${of}.${field}`),
      );
    });
    expect(unknown).toEqual([]);
  });
});
