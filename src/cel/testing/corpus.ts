/** The conformance cases of the language's specification. */
import { tests } from '@bufbuild/cel-spec/testdata/conformance.js';

export interface CorpusCase {
  /** Suite, section and name. */
  readonly name: string;
  readonly expr: string;
  readonly container: string;
  /** Variables and functions, in the JSON of their messages. */
  readonly declarations: readonly Declaration[];
  readonly bindings: { readonly [name: string]: WireValue };
  /** Whether it is evaluated without being checked. */
  readonly unchecked: boolean;
  /** Undefined: an error is expected, or with `checkOnly` just that it is checked. */
  readonly value: WireValue | undefined;
  readonly checkOnly: boolean;
  readonly type: WireType | undefined;
  /** The type that the reference deduces, formatted. */
  readonly deduced: string | undefined;
}

export interface Declaration {
  readonly name: string;
  readonly ident?: { readonly type: WireType };
  readonly function?: {
    readonly overloads: readonly {
      readonly overloadId: string;
      readonly params: readonly WireType[];
      readonly resultType: WireType;
    }[];
  };
}

/** A message `cel.expr.Type` in JSON. */
export interface WireType {
  readonly dyn?: object;
  readonly null?: null;
  readonly primitive?: string;
  readonly wellKnown?: string;
  readonly messageType?: string;
  readonly typeParam?: string;
  readonly listType?: { readonly elemType: WireType };
  readonly mapType?: { readonly keyType: WireType; readonly valueType: WireType };
  readonly type?: WireType;
  readonly abstractType?: { readonly name: string; readonly parameterTypes: readonly WireType[] };
}

/** A message `cel.expr.Value` in JSON. */
export interface WireValue {
  readonly nullValue?: null;
  readonly boolValue?: boolean;
  readonly int64Value?: string;
  readonly uint64Value?: string;
  readonly doubleValue?: number | string;
  readonly stringValue?: string;
  readonly bytesValue?: string;
  readonly typeValue?: string;
  readonly listValue?: { readonly values?: readonly WireValue[] };
  readonly mapValue?: { readonly entries?: readonly { readonly key: WireValue; readonly value: WireValue }[] };
  readonly objectValue?: { readonly '@type': string; readonly value?: string };
}

interface Suite {
  readonly name: string;
  readonly suites?: readonly Suite[];
  readonly tests?: readonly { readonly original: Original; readonly type?: string }[];
}

interface Original {
  readonly name: string;
  readonly expr: string;
  readonly container?: string;
  readonly typeEnv?: readonly Declaration[];
  readonly bindings?: { readonly [name: string]: { readonly value: WireValue } };
  readonly disableCheck?: boolean;
  readonly checkOnly?: boolean;
  readonly value?: WireValue;
  readonly evalError?: object;
  readonly typedResult?: { readonly result?: WireValue; readonly deducedType: WireType };
}

/** Mentions of protobuf messages: their types, except timestamps and durations, or enums. */
const mentionsMessages =
  /google\.protobuf(?!\.(?:Timestamp|Duration)\b)|cel\.expr\.conformance|TestAllTypes|(?:Timestamp|Duration)\{|enumValue/;

export interface Corpus {
  readonly cases: readonly CorpusCase[];
  /** The number of cases that are left out because they concern messages of protobuf. */
  readonly skipped: number;
}

export function readCorpus(): Corpus {
  const cases: CorpusCase[] = [];
  const names = new Set<string>();
  let skipped = 0;
  const visit = (suite: Suite, path: string): void => {
    for (const { original, type } of suite.tests ?? []) {
      if (mentionsMessages.test(JSON.stringify(original))) {
        skipped++;
        continue;
      }
      let name = `${path}${original.name}`;
      while (names.has(name)) name += ' again';
      names.add(name);
      cases.push(caseOf(original, name, type));
    }
    for (const inner of suite.suites ?? []) visit(inner, `${path}${inner.name}/`);
  };
  visit(tests as Suite, '');
  return { cases, skipped };
}

function caseOf(original: Original, name: string, type: string | undefined): CorpusCase {
  const { container, typeEnv, bindings, disableCheck, checkOnly, value, evalError, typedResult } = original;
  const expr = withoutBlocks(original.expr);
  return {
    name,
    expr,
    container: container ?? '',
    declarations: typeEnv ?? [],
    bindings: Object.fromEntries(Object.entries(bindings ?? {}).map(([key, bound]) => [key, bound.value])),
    unchecked: disableCheck === true,
    // Without any expectation, the result is true.
    value: value ?? typedResult?.result ?? (evalError || typedResult ? undefined : { boolValue: true }),
    checkOnly: checkOnly === true,
    type: typedResult?.deducedType,
    // Types of libraries have no parameters here.
    deduced: expr === original.expr ? type?.replace(/\btuple\([^)]*\)/, 'tuple') : undefined,
  };
}

/**
 * An expression in which blocks, which an optimizer writes, are written with `cel.bind`: `cel.block([a, b], c)` with
 * `cel.index(0)` for the value of `a`, and `cel.iterVar(0, 1)` for a variable of a macro.
 */
function withoutBlocks(expr: string): string {
  const named = expr
    .replace(/cel\.index\((\d+)\)/g, 'index_$1')
    .replace(/cel\.iterVar\((\d+), (\d+)\)/g, 'variable_$1_$2');
  const start = 'cel.block([';
  if (!named.startsWith(start)) return named;
  const [bound, rest] = splitElements(named.slice(start.length));
  const result = rest.replace(/^\s*,/, '').replace(/\)\s*$/, '');
  return bound.reduceRight((inner, value, i) => `cel.bind(index_${i}, ${value}, ${inner})`, result);
}

/** The elements of a list up to its closing bracket, and what follows it. */
function splitElements(text: string): readonly [string[], string] {
  const elements: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text[i] as string;
    if (depth === 0 && (character === ',' || character === ']')) {
      elements.push(text.slice(from, i));
      from = i + 1;
      if (character === ']') return [elements, text.slice(from)];
    } else if ('([{'.includes(character)) {
      depth++;
    } else if (')]}'.includes(character)) {
      depth--;
    }
  }
  throw new Error('the list has no end');
}
