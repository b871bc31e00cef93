import {
  type ParsedBody,
  parseYaml,
  parseYamlAsJson,
  parseYamlAsJsonInSteps,
  readOwnJsonInSteps,
  stringifyYaml,
  stringifyYamlInSteps,
} from '../../codec/index.ts';
import { type ByteString, decodeText, encodeText, type JsonObject, type Steps, type Turns } from '../../meta/index.ts';
import { type ListLayout, listFields, representList } from '../../registry/index.ts';
import { fromJson, inPieces } from './encode-steps.ts';
import type { WireCodec } from './wire-codec.ts';

/** Reads a YAML document of a user, a large one in the turns. @throws StatusError 400, 429 or 503 */
export type ReadYaml = (bytes: Uint8Array, user: string, turns: Turns) => ParsedBody | Promise<ParsedBody>;

const encode = (value: JsonObject) => encodeText(stringifyYaml(value));
function* encodeInSteps(value: JsonObject): Steps<ByteString> {
  return encodeText(yield* stringifyYamlInSteps(value));
}

/** YAML has no framing and cannot be watched. A body that is JSON is read at once, any other with `read`. */
export const yamlCodec = (read: ReadYaml = (bytes) => parseYaml(bytes)): WireCodec => ({
  mediaTypes: ['application/yaml'],
  tables: true,
  watch: undefined,
  completeErrors: false,
  decodeInSteps: parseYamlAsJsonInSteps,
  decode: (body, user, _expected, turns) => parseYamlAsJson(body) ?? read(body, user, turns),
  encodeValue: encode,
  encodeValueInSteps: encodeInSteps,
  encodeObject: (json, turns) => fromJson(json, turns, encode, encodeInSteps),
  encodeList: (target, list, view, turns) =>
    inPieces(representList(target, list, view, yamlLayout(listFields(target, list, view))), '', turns),
});

/** Keys are sorted, which puts `items` before the kind of the list and `rows` last. */
function yamlLayout(fields: JsonObject): ListLayout {
  const name = Object.hasOwn(fields, 'rows') ? 'rows' : 'items';
  const after = fieldsText(fields, (key) => key > name);
  return {
    head: encodeText(`${fieldsText(fields, (key) => key < name)}${name}:`),
    first: '\n- ',
    separator: '\n- ',
    tail: encodeText(`\n${after}`),
    emptyTail: encodeText(` []\n${after}`),
    *item(json: ByteString) {
      const text = yield* stringifyYamlInSteps(yield* readOwnJsonInSteps(decodeText(json)));
      return encodeText(text.trimEnd().replaceAll('\n', '\n  '));
    },
  };
}

function fieldsText(fields: JsonObject, included: (key: string) => boolean): string {
  const entries = Object.entries(fields).filter(([key]) => included(key));
  return entries.length === 0 ? '' : stringifyYaml(Object.fromEntries(entries));
}
