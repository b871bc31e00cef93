import { parseJson } from '../../codec/index.ts';
import {
  type FieldError,
  fieldError,
  isJsonObject,
  type Json,
  type JsonObject,
  type Names,
  StatusError,
  statusError,
} from '../../meta/index.ts';
import { validateToleration } from '../../rules/index.ts';
import { compile, field, inspect, int64, string, struct, validate } from '../../schema/index.ts';
import { Toleration } from '../../types/core-v1.ts';
import { eachOf } from '../shared/field-rules.ts';

/** A toleration as the annotation has it: the names are those of the fields in any case. */
const WrittenToleration = struct('core.Toleration', {
  Key: field(1, string),
  Operator: field(2, string),
  Value: field(3, string),
  Effect: field(4, string),
  TolerationSeconds: field(5, int64, { nullable: true }),
});

const fieldNames = new Map(
  Object.keys(Toleration.fields).map((name, i) => [
    name.toLowerCase(),
    { name, written: Object.keys(WrittenToleration.fields)[i] as string },
  ]),
);

/** A longer annotation is not validated (characters): that takes long, and it has no effect. */
const maxText = 16 * 1024;

/** Validates the tolerations in an annotation of a pod; `path` is that of the annotations. They have no effect. */
export function validateTolerationsText(text: string, key: string, path: string, names: Names): FieldError[] {
  if (text === '' || text.length > maxText) return [];
  const type = compile(Toleration, names);
  try {
    const tolerations = readTolerations(text, names).map((one) => type.decode(one).value as Toleration);
    return eachOf(tolerations, `${path}.${key}`, (toleration, at) => [
      ...validateToleration(toleration, at),
      ...validate(toleration, type, at),
    ]);
  } catch (error) {
    if (error instanceof StatusError) return [fieldError.invalid(path, key, error.message)];
    throw error;
  }
}

/** @throws StatusError for a text that is no list of tolerations */
function readTolerations(text: string, names: Names): JsonObject[] {
  const { value } = parseJson(Buffer.from(text));
  if (value === null) return [];
  if (!Array.isArray(value)) throw wrongType(value, '[]core.Toleration');
  return value.map((item) => {
    if (item === null) return {};
    if (!isJsonObject(item)) throw wrongType(item, 'core.Toleration');
    const written: JsonObject = {};
    const toleration: JsonObject = {};
    for (const [name, part] of Object.entries(item)) {
      const known = fieldNames.get(name.toLowerCase());
      if (known === undefined) continue;
      written[known.written] = part;
      toleration[known.name] = part;
    }
    inspect(WrittenToleration, written, names);
    return toleration;
  });
}

function wrongType(value: Json, type: string): StatusError {
  const kinds = { boolean: 'bool', number: 'number', bigint: 'number', string: 'string', object: 'object' } as const;
  const kind = Array.isArray(value) ? 'array' : kinds[typeof value as keyof typeof kinds];
  return statusError.badRequest(`json: cannot unmarshal ${kind} into Go value of type ${type}`);
}
