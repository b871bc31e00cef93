import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject, namesFor, StatusError } from '../meta/index.ts';
import { compile, type Field, type StructSchema } from '../schema/index.ts';
import * as groups from '../types/index.ts';
import { readProtobuf, writeProtobuf } from './index.ts';
import { valuesOf } from './testing/random-values.ts';

const names = namesFor('orch.io');
const type = { apiVersion: 'test/v1', kind: 'Thing' };
const kinds = Object.values(groups)
  .flatMap((group): unknown[] => Object.values(group))
  .filter((value): value is StructSchema => isJsonObject(value as Json) && (value as StructSchema).type === 'struct')
  .filter(({ name, fields }) => fields['apiVersion']?.tag === 0 && name !== 'meta/v1.Table');

const write = (schema: StructSchema, value: Json) => writeProtobuf(schema, type, value, names);
/** The decoded value, normalised by its schema. */
function read(schema: StructSchema, bytes: Uint8Array): JsonObject {
  const { value } = readProtobuf(bytes, type, () => schema, names);
  return compile(schema, names).decode(value).value;
}

describe('every built-in kind', () => {
  it('is tested', () => {
    expect(kinds.length).toBe(130);
  });

  it.each(kinds.map((schema) => [schema.name, schema] as const))(
    '%s decodes to the value that was encoded',
    (_, schema) => {
      fc.assert(
        fc.property(valuesOf(schema, names), (drawn) => {
          const { kind: _k, apiVersion: _v, ...value } = compile(schema, names).decode(drawn).value;
          const { kind, apiVersion, ...back } = read(schema, write(schema, { ...type, ...value }));
          expect({ kind, apiVersion }).toEqual(type);
          expect(back).toEqual(value);
        }),
        { numRuns: 8 },
      );
    },
  );

  it.each([groups.coreV1.Pod, groups.apiextensionsV1.CustomResourceDefinition, groups.coreV1.Event])(
    'a truncated $name decodes or throws StatusError 400',
    (schema) => {
      fc.assert(
        fc.property(valuesOf(schema, names), fc.nat(), (drawn, seed) => {
          const bytes = write(schema, compile(schema, names).decode(drawn).value);
          const step = Math.max(1, Math.floor(bytes.length / 300));
          for (let end = seed % step; end < bytes.length; end += step) {
            const outcome = attempt(schema, bytes.subarray(0, end));
            if (outcome === 'read') expect(end).toBeGreaterThan(4);
          }
        }),
        { numRuns: 5 },
      );
    },
  );

  it('with changed bytes decodes or throws StatusError 400', () => {
    const schema = groups.coreV1.Pod;
    const change = fc.tuple(fc.nat(), fc.nat({ max: 255 }));
    fc.assert(
      fc.property(valuesOf(schema, names), fc.array(change, { minLength: 1, maxLength: 5 }), (drawn, changes) => {
        const bytes = write(schema, compile(schema, names).decode(drawn).value);
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
        attempt(schema, bytes);
      }),
      { numRuns: 200 },
    );
  });
});

/** Decodes bytes that may be invalid; any error other than StatusError 400 fails the test. */
function attempt(schema: StructSchema, bytes: Uint8Array): 'read' | 'refused' {
  try {
    readProtobuf(bytes, type, () => schema, names);
    return 'read';
  } catch (error) {
    if (error instanceof StatusError && error.code === 400) return 'refused';
    throw error;
  }
}

describe('fields of embedded messages', () => {
  it('are nested in protobuf as their structs are inlined', () => {
    // NamedRuleWithOperations { resourceNames = 1; RuleWithOperations = 2 { operations = 1; Rule = 2 { apiGroups = 1 } } }
    const { fields } = groups.admissionregistrationV1.NamedRuleWithOperations;
    const via = (field: Field) => [
      field.via?.tag,
      field.via?.message,
      field.via?.inner?.tag,
      field.via?.inner?.message,
    ];
    const outer = [2, 'admissionregistration/v1.RuleWithOperations'];
    expect(via(fields.resourceNames)).toEqual([undefined, undefined, undefined, undefined]);
    expect(via(fields.operations)).toEqual([...outer, undefined, undefined]);
    expect(via(fields.apiGroups)).toEqual([...outer, 2, 'admissionregistration/v1.Rule']);
  });
});
