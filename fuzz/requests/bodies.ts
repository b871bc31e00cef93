import { isJsonObject, type Json, type JsonObject } from '../../src/meta/index.ts';
import { mutate } from '../mutate.ts';
import type { Random } from '../random.ts';
import { protobufOf, type Sample } from '../samples.ts';
import { oddJson, oddYaml } from '../texts.ts';
import { anyJson, changed, valueFor } from '../values.ts';

/** A body with its Content-Type. */
export interface Body {
  readonly type: string;
  readonly bytes: Buffer;
}

const text = (value: Json): string =>
  JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? Number(item) : item));

/** A valid or nearly valid object of the kind, with its name. */
function anyObject(random: Random, { object, schema }: Sample): JsonObject {
  const { apiVersion, kind, metadata } = object;
  const made = random.once(3) ? { ...object, ...(valueFor(random, schema) as JsonObject) } : changed(random, object);
  const whole = isJsonObject(made) ? made : {};
  if (random.once(4)) return whole;
  const given = isJsonObject(whole['metadata']) ? whole['metadata'] : {};
  return { ...whole, apiVersion, kind, metadata: { ...given, ...(metadata as JsonObject) } } as JsonObject;
}

/** An object in one of the media types; in one of ten cases the bytes are mutated. */
export function objectBody(random: Random, sample: Sample): Body {
  const object = anyObject(random, sample);
  const form = random.below(8);
  let type = 'application/json';
  let bytes: Buffer = Buffer.from(random.once(3) ? oddJson(random, object) : text(object));
  if (form === 0) {
    type = 'application/yaml';
    bytes = Buffer.from(oddYaml(random, object));
  } else if (form === 1) {
    type = 'application/vnd.orch.protobuf';
    bytes = mutate(random, { seeds: [protobufOf(sample)], words: ['\x0a\x00', '\x12\x80\x01'] });
  }
  if (random.once(10)) bytes = mutate(random, { seeds: [bytes], words: ['{', '}', '"', 'null', '\n'] });
  return { type, bytes };
}

/** A patch of an object of the kind, in any of the four patch types. */
export function patchBody(random: Random, sample: Sample): Body {
  const form = random.below(4);
  const object = anyObject(random, sample);
  if (form === 0) {
    return { type: 'application/json-patch+json', bytes: Buffer.from(oddJson(random, operations(random, object))) };
  }
  const { apiVersion, kind } = sample.object;
  if (form === 1) {
    return {
      type: 'application/apply-patch+yaml',
      bytes: Buffer.from(text({ ...object, apiVersion, kind } as JsonObject)),
    };
  }
  const { metadata: _, ...patch } = object;
  const type = form === 2 ? 'application/merge-patch+json' : 'application/strategic-merge-patch+json';
  return { type, bytes: Buffer.from(oddJson(random, random.once(3) ? anyJson(random, 4) : patch)) };
}

function operations(random: Random, object: JsonObject): Json {
  const pointers = pointersIn(object);
  const pointer = () => (random.once(5) ? `${random.pick(pointers)}/-` : random.pick(pointers));
  return random.list(1, 6, () => ({
    op: random.pick(['add', 'remove', 'replace', 'move', 'copy', 'test']),
    path: pointer(),
    from: pointer(),
    value: anyJson(random, 2),
  }));
}

function pointersIn(value: Json, path = ''): string[] {
  if (typeof value !== 'object' || value === null || path.length > 200) return [path];
  const below = Object.entries(value).flatMap(([key, item]) =>
    pointersIn(item as Json, `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
  return [path, ...below];
}
