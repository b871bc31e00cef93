import { describe, expect, it } from 'vitest';
import { checkTypes } from './check/check.ts';
import { createEnvironment } from './check/environment.ts';
import { ExpressionError } from './check/error.ts';
import { formatType } from './check/format.ts';
import type { CheckedExpression, Environment } from './environment.ts';
import { Budget } from './evaluate/budget.ts';
import { compileExpression } from './evaluate/compile.ts';
import { optionalsLibrary } from './library/optionals.ts';
import { standardLibrary } from './library/standard.ts';
import { stringsLibrary4 } from './library/strings.ts';
import { twoVariablesLibrary } from './library/two-variables.ts';
import type { Library } from './library.ts';
import { parse } from './syntax/parse.ts';
import { type CorpusCase, type Declaration, readCorpus } from './testing/corpus.ts';
import { differences } from './testing/corpus-differences.ts';
import { fromWire, textOf, typeOf } from './testing/corpus-values.ts';
import { encodersLibrary } from './testing/encoders.ts';
import { mathLibrary } from './testing/math.ts';
import { unchecked } from './testing/unchecked.ts';
import { CelError, type Value } from './values.ts';

const syntax: Library = {
  name: 'corpus',
  syntax: { bindings: true, mathMacros: true, escapedIdentifiers: true },
  functions: {},
};
const libraries: readonly Library[] = [
  syntax,
  standardLibrary,
  optionalsLibrary,
  twoVariablesLibrary,
  stringsLibrary4,
  mathLibrary,
  encodersLibrary,
];

describe('the conformance cases of the language', () => {
  const { cases, skipped } = readCorpus();
  const failed = new Map(cases.map((one) => [one.name, differenceOf(one)] as const).filter(([, text]) => text !== ''));
  const rate = 1 - failed.size / cases.length;

  it('pass, except for those in the list of differences', () => {
    console.log(
      `${cases.length - failed.size} of ${cases.length} cases pass (${(rate * 100).toFixed(2)} %); ${skipped} concern messages of protobuf`,
    );
    expect(Object.fromEntries([...failed].filter(([name]) => !(name in differences)))).toEqual({});
    expect(cases.length).toBeGreaterThan(1600);
    expect(rate).toBeGreaterThanOrEqual(0.995);
  });

  it('in the list of differences fail', () => {
    expect(Object.keys(differences).filter((name) => !failed.has(name))).toEqual([]);
  });
});

/** How the outcome of a case differs from what it expects; empty when it does not. */
function differenceOf(one: CorpusCase): string {
  try {
    const checked = checkedOf(one);
    if (one.type !== undefined && formatType(checked.type) !== formatType(typeOf(one.type))) {
      return `has the type ${formatType(checked.type)}, not ${formatType(typeOf(one.type))}`;
    }
    if (!one.unchecked && one.deduced !== undefined && formatType(checked.type) !== one.deduced) {
      return `has the type ${formatType(checked.type)}, not ${one.deduced}`;
    }
    if (one.checkOnly) return '';
    const actual = textOf(compileExpression(checked).evaluate(valuesOf(one), new Budget(1_000_000)));
    if (one.value === undefined) return `gives ${actual}, and no error`;
    const expected = textOf(fromWire(one.value));
    return actual === expected ? '' : `gives ${actual}, not ${expected}`;
  } catch (error) {
    const expected = error instanceof CelError || error instanceof ExpressionError;
    return expected && one.value === undefined && !one.checkOnly ? '' : `fails: ${String(error)}`;
  }
}

function checkedOf(one: CorpusCase): CheckedExpression {
  const environment = environmentOf(one);
  if (!one.unchecked) return checkTypes(environment, one.expr);
  const { expr, issues } = parse(one.expr, environment.syntax);
  if (expr === undefined) throw new ExpressionError(one.expr, issues);
  return unchecked(environment, one.expr, expr);
}

function environmentOf({ container, declarations }: CorpusCase): Environment {
  const functions = declarations.filter((declaration) => declaration.function !== undefined);
  return createEnvironment({
    container,
    libraries: functions.length === 0 ? libraries : [...libraries, declaredFunctions(functions)],
    variables: variablesOf(declarations).map(({ name, ident }) => ({ name, type: typeOf(ident?.type ?? {}) })),
  });
}

const variablesOf = (declarations: readonly Declaration[]) => declarations.filter(({ ident }) => ident !== undefined);

function declaredFunctions(declarations: readonly Declaration[]): Library {
  const rows = declarations.map(({ name, function: declared }) => {
    const overloads = (declared?.overloads ?? []).map(({ overloadId, params, resultType }) => ({
      id: overloadId,
      args: params.map(typeOf),
      result: typeOf(resultType),
      call: (): Value => {
        throw new CelError('unbound function');
      },
    }));
    return [name, overloads] as const;
  });
  return { name: 'declared', functions: Object.fromEntries(rows) };
}

function valuesOf({ declarations, bindings }: CorpusCase): Value[] {
  return variablesOf(declarations).map(({ name }) => fromWire(bindings[name] ?? {}));
}
