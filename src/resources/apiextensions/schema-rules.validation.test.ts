import { describe, expect, it } from 'vitest';
import { atOnce, type FieldError, fieldError, type JsonObject, namesFor } from '../../meta/index.ts';
import { validateSchemaRules } from './schema-rules.validation.ts';

type Definition = Parameters<typeof validateSchemaRules>[0];

const names = namesFor('k8s.io');
const rules = (...texts: string[]) => ({ 'x-kubernetes-validations': texts.map((rule) => ({ rule })) });
const root = (spec: JsonObject) => ({ type: 'object', properties: { spec } });
const definition = (...schemas: JsonObject[]) =>
  ({
    spec: { versions: schemas.map((openAPIV3Schema, i) => ({ name: `v${i + 1}`, schema: { openAPIV3Schema } })) },
  }) as unknown as Definition;

const errors = (now: Definition, old?: Definition, found: readonly FieldError[] = []) =>
  atOnce(validateSchemaRules(now, old, found, { names })).map(
    ({ field, message }) => `${field}: ${message.split(': ').at(-1)}`,
  );

const wrong = { type: 'integer', ...rules('self') };
const text = { type: 'string' };
const why = 'cel expression must evaluate to a bool';

describe('rules of definitions', () => {
  it('are validated where errors of the schema are', () => {
    const path = 'openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule';
    expect(errors(definition(root(wrong)))).toEqual([`spec.validation.${path}: ${why}`]);
    expect(errors(definition(root(wrong), root(wrong)))).toEqual([`spec.validation.${path}: ${why}`]);
    expect(errors(definition(root(text), root(wrong)))).toEqual([`spec.versions[1].schema.${path}: ${why}`]);
  });

  it('are not compiled where the schema is invalid there or below', () => {
    const spec = { type: 'object', properties: { a: text, b: wrong }, ...rules('nope') };
    const at = 'spec.validation.openAPIV3Schema.properties[spec]';
    const invalid = fieldError.forbidden(`${at}.properties[a].uniqueItems`, '');
    expect(errors(definition(root(spec)), undefined, [invalid])).toEqual([
      `${at}.properties[b].x-kubernetes-validations[0].rule: ${why}`,
    ]);
    const ofDefault = fieldError.typeInvalid(`${at}.properties[a].default`, 1, '');
    expect(errors(definition(root(spec)), undefined, [ofDefault])).toEqual([]);
    expect(errors(definition(root({ properties: { b: wrong } })))).toEqual([]);
  });

  it('are not validated again in a schema that did not change', () => {
    const old = definition(root(wrong), root(text));
    expect(errors(definition(root(wrong), root({ ...text, maxLength: 1 })), old)).toEqual([]);
    expect(errors(definition(root({ ...wrong, minimum: 1 }), root(text)), old)).toHaveLength(1);
  });

  it('may use what the release before has, and stored ones what this one has', () => {
    const using = (...texts: string[]) => definition(root({ ...text, maxLength: 20, ...rules(...texts) }));
    const ofBefore = "{'a': 1}.all(k, v, k == 'a' && v == 1)";
    const ofThis = "semver(self).isGreaterThan(semver('1.0.0'))";
    expect(errors(using(ofBefore))).toEqual([]);
    expect(errors(using(ofThis))).toEqual([expect.stringContaining("undeclared reference to 'semver'")]);
    expect(errors(using("isSemver('1.0.0')"))).toHaveLength(1);
    expect(errors(using(ofThis, ofBefore), using(ofThis))).toEqual([]);
    expect(errors(using(ofThis, "isSemver('1.0.0')"), using(ofThis))).toHaveLength(1);
    expect(errors(using('math.abs(1) == 1'))).toHaveLength(1);
  });
});
