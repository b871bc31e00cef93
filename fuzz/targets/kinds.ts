import { parseJson } from '../../src/codec/index.ts';
import {
  type ApiObject,
  isJsonObject,
  type JsonObject,
  jsonCopy,
  jsonEqual,
  statusError,
} from '../../src/meta/index.ts';
import type { WriteContext } from '../../src/registry/index.ts';
import { compile, validate } from '../../src/schema/index.ts';
import { names } from '../names.ts';
import { type Sample, samples } from '../samples.ts';
import { law, type Target } from '../target.ts';
import { changed, valueFor } from '../values.ts';

const context: WriteContext = {
  names,
  now: Date.parse('2024-01-02T03:04:05Z'),
  requester: { name: 'u', groups: ['system:authenticated'], extra: {} },
  warn: () => {},
};

/** Runs decoding, defaulting, strategy, validation and table columns of each kind on arbitrary objects. */
export const kindTargets: readonly Target[] = [
  {
    name: 'resources-kinds',
    seeds: samples.map(({ object }) => Buffer.from(JSON.stringify(object))),
    words: [
      'null',
      '""',
      '[]',
      '{}',
      '-1',
      '0',
      '9223372036854775807',
      '"name":',
      '"status":{}',
      '"type":"Odd"',
      '"$(A)"',
    ],
    generate: (random) => {
      const { object, schema } = random.pick(samples);
      const made = random.once(2)
        ? changed(random, object)
        : { ...object, ...(valueFor(random, schema) as JsonObject) };
      const { apiVersion, kind, metadata } = object;
      return JSON.stringify(
        { ...(isJsonObject(made) ? made : {}), apiVersion, kind, ...(random.once(2) ? { metadata } : {}) },
        bigints,
      );
    },
    run: (bytes) => {
      const { value } = parseJson(bytes);
      const sample = samples.find(
        ({ apiVersion, kind }) => isJsonObject(value) && value['apiVersion'] === apiVersion && value['kind'] === kind,
      );
      if (sample === undefined || !isJsonObject(value)) throw statusError.badRequest('no kind');
      judgeObject(sample, value);
    },
  },
];

const bigints = (_: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value);

/** Decodes an object, prepares it for create and for an update of itself, and renders its table row. */
function judgeObject({ definition, schema }: Sample, given: JsonObject): void {
  const type = compile(schema, names);
  const object = type.decode(given).value as ApiObject;
  law(jsonEqual(type.decode(object).value, object), 'a decoded object is in its normal form');
  object.metadata ??= {};
  const { strategy } = definition;
  strategy.defaults?.(object, context);
  strategy.prepareCreate?.(object, context);
  const found = [...validate(object, type), ...(strategy.validate?.(object, context) ?? [])];
  if (found.length > 0) return;
  strategy.warnings?.(object, undefined, context);
  const next = jsonCopy(object as JsonObject) as ApiObject;
  strategy.prepareUpdate?.(next, object, context);
  strategy.validateUpdate?.(next, object, context);
  strategy.prepareStatusUpdate?.(next, object, context);
  for (const { cell } of definition.columns) cell(object, context);
  for (const { value } of definition.selectableFields)
    law(typeof value(object) === 'string', 'a selectable field is text');
  definition.completion?.(object);
}
