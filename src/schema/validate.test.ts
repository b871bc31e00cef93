import { describe, expect, it } from 'vitest';
import { type Json, type JsonObject, namesFor } from '../meta/index.ts';
import {
  compile,
  declarativeRules,
  type FieldOptions,
  field,
  int32,
  int64,
  intOrString,
  type LazySchema,
  lazy,
  list,
  map,
  type Schema,
  type StructSchema,
  string,
  struct,
  validate,
} from './index.ts';

const names = namesFor('orch.io');
const check = (schema: StructSchema, value: Json, path?: string) =>
  validate(value, compile(schema, names), path).map(({ field, message }) => [field, message]);
const checkOne = (schema: Schema, options: FieldOptions, value?: Json) =>
  check(struct('test/v1.One', { it: field(1, schema, options) }), value === undefined ? {} : { it: value });

describe('required', () => {
  it('rejects an absent value, null and the empty string', () => {
    for (const value of [undefined, null, '']) {
      expect(checkOne(string, { required: true }, value)).toEqual([['it', 'Required value']]);
    }
    expect(checkOne(string, { required: true }, 'x')).toEqual([]);
  });

  it('accepts the zero value of other types', () => {
    expect(checkOne(int32, { required: true }, 0)).toEqual([]);
    expect(checkOne(list(string), { required: true }, [])).toEqual([]);
    expect(checkOne(list(string), { required: true }, null)).toEqual([['it', 'Required value']]);
  });

  it('applies to OpenAPI alone with emptyOk', () => {
    expect(checkOne(string, { required: true, emptyOk: true }, '')).toEqual([]);
  });

  it('does not apply inside an absent struct', () => {
    const inner = struct('test/v1.Inner', { name: field(1, string, { required: true }) });
    expect(checkOne(inner, { nullable: true })).toEqual([]);
    expect(checkOne(inner, { nullable: true }, {})).toEqual([['it.name', 'Required value']]);
  });

  it('is the only error of an empty value', () => {
    expect(checkOne(string, { required: true, known: ['A'] }, '')).toEqual([['it', 'Required value']]);
  });
});

describe('supported values', () => {
  it('are the only ones accepted, in the order of the declaration', () => {
    // As recorded from the reference server.
    expect(checkOne(string, { known: ['Always', 'OnFailure', 'Never'] }, 'Maybe')).toEqual([
      ['it', 'Unsupported value: "Maybe": supported values: "Always", "OnFailure", "Never"'],
    ]);
    expect(checkOne(string, { known: ['Always'] }, 'Always')).toEqual([]);
  });

  it('are not enforced when the field is open', () => {
    expect(checkOne(string, { known: ['A'], open: true }, 'Odd')).toEqual([]);
  });

  it('apply to each entry of a list', () => {
    expect(checkOne(list(string), { known: ['A', 'B'] }, ['A', 'x'])).toEqual([
      ['it[1]', 'Unsupported value: "x": supported values: "A", "B"'],
    ]);
  });

  it('accept the empty string unless the field is nullable', () => {
    expect(checkOne(string, { known: ['A'] }, '')).toEqual([]);
    expect(checkOne(string, { known: ['A'], nullable: true }, '')).toHaveLength(1);
    expect(checkOne(list(string), { known: ['A'] }, [''])).toEqual([
      ['it[0]', 'Unsupported value: "": supported values: "A"'],
    ]);
  });

  it('use the configured names', () => {
    expect(checkOne(string, { known: ['{labels}/x'] }, 'orch.io/x')).toEqual([]);
  });
});

describe('bounds', () => {
  it.each<[FieldOptions, Schema, Json, string | undefined]>([
    [{ min: 0 }, int32, -1, 'Invalid value: -1: must be greater than or equal to 0'],
    [{ min: 0 }, int32, 0, undefined],
    [{ min: 1 }, int32, 0, 'Invalid value: 0: must be greater than 0'],
    [{ max: 10 }, int32, 11, 'Invalid value: 11: must be less than or equal to 10'],
    [{ min: 1, max: 65535 }, int32, 70000, 'Invalid value: 70000: must be between 1 and 65535, inclusive'],
    [{ min: 1, max: 65535 }, int32, 65535, undefined],
    [{ min: 1, max: 65535 }, intOrString, 0, 'Invalid value: 0: must be between 1 and 65535, inclusive'],
    [{ min: 1, max: 65535 }, intOrString, 'http', undefined],
    [{ max: 5 }, int64, 2n ** 62n, 'Invalid value: 4611686018427387904: must be less than or equal to 5'],
  ])('%#', (options, schema, value, message) => {
    expect(checkOne(schema, options, value)).toEqual(message === undefined ? [] : [['it', message]]);
  });
});

describe('duplicate entries', () => {
  const Port = struct('core/v1.Port', {
    name: field(1, string),
    port: field(2, int32),
    protocol: field(3, string, { default: 'TCP' }),
  });

  it('are rejected in a set', () => {
    expect(checkOne(list(string), { listType: 'set' }, ['a', 'b', 'a'])).toEqual([['it[2]', 'Duplicate value: "a"']]);
    expect(checkOne(list(intOrString), { listType: 'set' }, [1, '1'])).toEqual([]);
  });

  it('are rejected in a list map with one key, at the key', () => {
    // As recorded: `webhooks[1].name`.
    expect(checkOne(list(Port), { listType: 'map', listMapKeys: ['name'] }, [{ name: 'x' }, { name: 'x' }])).toEqual([
      ['it[1].name', 'Duplicate value: "x"'],
    ]);
  });

  it('are rejected in a list map with several keys, where a missing one has its default', () => {
    const options = { listType: 'map', listMapKeys: ['port', 'protocol'] } as const;
    const entries = [{ port: 80 }, { port: 80, protocol: 'UDP' }, { port: 80, protocol: 'TCP', name: 'x' }];
    expect(checkOne(list(Port), options, entries)).toEqual([
      ['it[2]', 'Duplicate value: {"port":80,"protocol":"TCP"}'],
    ]);
  });

  it('are accepted with duplicates and in an atomic list', () => {
    expect(checkOne(list(string), { listType: 'set', duplicates: true }, ['a', 'a'])).toEqual([]);
    expect(checkOne(list(string), { listType: 'atomic' }, ['a', 'a'])).toEqual([]);
  });
});

describe('paths and limits', () => {
  const Port = struct('core/v1.ServicePort', { port: field(1, int32, { min: 1, max: 65535 }) });
  const Service = struct('core/v1.Service', {
    spec: field(1, struct('core/v1.ServiceSpec', { ports: field(1, list(Port)), named: field(2, map(Port)) })),
  });

  it('paths have indexes and map keys in brackets', () => {
    const value = { spec: { ports: [{ port: 1 }, { port: 0 }], named: { 'a/b': { port: 0 } } } };
    expect(check(Service, value).map(([path]) => path)).toEqual(['spec.ports[1].port', 'spec.named[a/b].port']);
    expect(check(Service, value, 'template').map(([path]) => path)[0]).toBe('template.spec.ports[1].port');
  });

  it('continues after an error', () => {
    const Both = struct('x/v1.Both', {
      set: field(1, list(string), { listType: 'set' }),
      map: field(2, list(Port), { listType: 'map', listMapKeys: ['port'] }),
      last: field(3, string, { required: true }),
    });
    const value = {
      set: ['a', 'a', 'a'],
      map: [...Array.from({ length: 3000 }, (_, i) => ({ port: i + 1 })), { port: 1 }],
    };
    expect(check(Both, value).map(([path]) => path)).toEqual(['set[1]', 'set[2]', 'map[3000].port', 'last']);
  });

  it('stops after 100 errors', () => {
    const ports = Array.from({ length: 1000 }, () => ({ port: 0 }));
    expect(check(Service, { spec: { ports } })).toHaveLength(100);
  });

  it('validates a recursive type up to the depth limit', () => {
    const self: LazySchema = lazy(() => Node);
    const Node: StructSchema = struct('x/v1.Node', {
      next: field(1, self, { nullable: true }),
      n: field(2, int32, { min: 0 }),
    });
    let value: JsonObject = { n: -1 };
    for (let i = 0; i < 500; i++) value = { next: value };
    expect(check(Node, value)).toEqual([
      [`${'next.'.repeat(500)}n`, 'Invalid value: -1: must be greater than or equal to 0'],
    ]);
    for (let i = 0; i < 2500; i++) value = { next: value };
    expect(check(Node, value).map(([, message]) => message)).toEqual(['Forbidden: exceeded max depth']);
  });

  it('reads own properties only', () => {
    const schema = struct('x/v1.Odd', { constructor: field(1, string, { required: true }) });
    expect(check(schema, {})).toEqual([['constructor', 'Required value']]);
  });
});

describe('declarative rules', () => {
  const Part = struct('test/v1.Part', { size: field(1, int32, { min: 0, declarative: true }), name: field(2, string) });
  const Whole = struct('test/v1.Whole', {
    replicas: field(1, int32, { min: 0, declarative: true }),
    seconds: field(2, int32, { min: 0 }),
    parts: field(3, list(Part), { listType: 'map', listMapKeys: ['name'] }),
    byName: field(4, map(Part)),
  });
  const value = {
    replicas: -1,
    seconds: -2,
    parts: [{ size: -3, name: 'a' }, { name: 'a' }],
    byName: { x: { size: -4 } },
  };
  const rules = declarativeRules(compile(Whole, names));

  it('are validated by declarativeRules alone', () => {
    expect(check(Whole, value).map(([path]) => path)).toEqual(['seconds', 'parts[1].name']);
    expect(rules?.validate(value)).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'replicas',
        message: 'Invalid value: -1: must be greater than or equal to 0',
      },
      {
        reason: 'FieldValueInvalid',
        field: 'parts[0].size',
        message: 'Invalid value: -3: must be greater than or equal to 0',
      },
      {
        reason: 'FieldValueInvalid',
        field: 'byName[x].size',
        message: 'Invalid value: -4: must be greater than or equal to 0',
      },
    ]);
  });

  it.each([
    ['replicas', true],
    ['parts[7].size', true],
    ['byName[a.b].size', true],
    ['seconds', false],
    ['parts[7]', false],
    ['replicas.size', false],
    ['constructor', false],
    ['', false],
  ])('cover %j: %j', (path, covered) => expect(rules?.cover(path)).toBe(covered));

  it('exist for few types', () =>
    expect(
      declarativeRules(compile(struct('test/v1.None', { a: field(1, int32, { min: 0 }) }), names)),
    ).toBeUndefined());
});
