/** The cases of the reference's checker, as far as they concern no messages of protobuf. */
import { tests } from '@bufbuild/cel-spec/testdata/checking.js';
import { expect, test } from 'vitest';
import { standardLibrary } from '../library/standard.ts';
import type { Library, Overload } from '../library.ts';
import { type CelType, dynType, listType, mapType, optionalType, parameterType, type SimpleKind } from '../types.ts';
import { check } from './check.ts';
import { createEnvironment } from './environment.ts';
import { ExpressionError } from './error.ts';
import { formatType } from './format.ts';

interface WireType {
  readonly dyn?: object;
  readonly null?: null;
  readonly primitive?: string;
  readonly wrapper?: string;
  readonly typeParam?: string;
  readonly listType?: { readonly elemType: WireType };
  readonly mapType?: { readonly keyType: WireType; readonly valueType: WireType };
  readonly abstractType?: { readonly name: string; readonly parameterTypes: readonly WireType[] };
}

interface Declaration {
  readonly name: string;
  readonly ident?: { readonly type: WireType };
  readonly function?: {
    readonly overloads: readonly {
      readonly overloadId: string;
      readonly params?: readonly WireType[];
      readonly resultType: WireType;
      readonly isInstanceFunction?: boolean;
    }[];
  };
}

interface Case {
  readonly original: { readonly expr: string; readonly container?: string; readonly typeEnv?: readonly Declaration[] };
  readonly type?: string;
  readonly error?: string;
}

/** Cases that are skipped: messages, types of libraries with parameters, variables with free types. */
const absent = /google\.|TestAllTypes|messageType|wellKnown|"name":"set"|"a","ident":\{"type":\{"typeParam"/;
/**
 * Cases that depend on configuration: optional syntax, literals of several types, comparison of numbers of several types.
 */
const configured = /unsupported syntax|\[1, (?:\\"A|2u)|2u:3|\[2, 3, \{|\[c,type|1u?\.?0? (?:<=?|>=?) 1\.0 &&/;
/** The variables that all cases may use. */
const shared: readonly Declaration[] = [
  { name: 'is', ident: { type: { primitive: 'STRING' } } },
  { name: 'ii', ident: { type: { primitive: 'INT64' } } },
  { name: 'iu', ident: { type: { primitive: 'UINT64' } } },
  { name: 'iz', ident: { type: { primitive: 'BOOL' } } },
  { name: 'id', ident: { type: { primitive: 'DOUBLE' } } },
  { name: 'ix', ident: { type: { null: null } } },
  { name: 'ib', ident: { type: { primitive: 'BYTES' } } },
  {
    name: 'fg_s',
    function: { overloads: [{ overloadId: 'fg_s_0', params: [], resultType: { primitive: 'STRING' } }] },
  },
  {
    name: 'fi_s_s',
    function: {
      overloads: [
        {
          overloadId: 'fi_s_s_0',
          params: [{ primitive: 'STRING' }],
          resultType: { primitive: 'STRING' },
          isInstanceFunction: true,
        },
      ],
    },
  },
];

const kinds: { readonly [name: string]: SimpleKind } = { INT64: 'int', UINT64: 'uint' };

function typeOf(wire: WireType): CelType {
  const kind = wire.primitive ?? wire.wrapper;
  if (kind !== undefined) {
    const type = { kind: kinds[kind] ?? (kind.toLowerCase() as SimpleKind) };
    return wire.wrapper === undefined ? type : { kind: 'nullable', of: type };
  }
  if (wire.listType) return listType(typeOf(wire.listType.elemType));
  if (wire.mapType) return mapType(typeOf(wire.mapType.keyType), typeOf(wire.mapType.valueType));
  if (wire.typeParam !== undefined) return parameterType(wire.typeParam);
  if (wire.abstractType) return optionalType(typeOf(wire.abstractType.parameterTypes[0] ?? {}));
  return 'null' in wire ? { kind: 'null' } : dynType;
}

function libraryOf(declarations: readonly Declaration[]): Library {
  const functions: { [name: string]: Overload[] } = {};
  for (const { name, function: declared } of declarations) {
    if (declared === undefined) continue;
    functions[name] = declared.overloads.map((overload) => ({
      id: overload.overloadId,
      args: (overload.params ?? []).map(typeOf),
      result: typeOf(overload.resultType),
      member: overload.isInstanceFunction ?? false,
      call: () => null,
    }));
  }
  return { name: 'declared', functions };
}

function outcome({ original }: Case): string {
  const declarations = [...shared, ...(original.typeEnv ?? [])];
  const environment = createEnvironment({
    libraries: [standardLibrary, libraryOf(declarations)],
    variables: declarations.flatMap(({ name, ident }) => (ident ? [{ name, type: typeOf(ident.type) }] : [])),
    container: original.container ?? '',
  });
  try {
    return formatType(check(environment, original.expr).type);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return error.message;
  }
}

const cases = (tests as unknown as { tests: readonly Case[] }).tests.filter((each) => {
  const text = JSON.stringify(each);
  return !absent.test(text) && !configured.test(text);
});

test('has the cases', () => {
  expect(cases.length).toBeGreaterThan(60);
});

test.each(cases.map((each) => [each.original.expr, each] as const))('%s', (_, each) => {
  expect(outcome(each)).toBe(each.type ?? each.error);
});
