/** Encodings of bodies: JSON with exact integers, YAML, protobuf and CBOR, with compression. */
export { readCborObjectInSteps, readCborPatchInSteps, selfDescribed } from './cbor.ts';
export { cborListHead, writeCbor, writeCborInSteps } from './cbor-write.ts';
export { acceptsGzip, compressBody, compressedFrom } from './compress.ts';
export { type Deflated, deflate, GzipEnd, gzipEndBytes, gzipHead, inflate } from './deflated.ts';
export {
  type ParsedBody,
  parseAnyJsonInSteps,
  parseJson,
  parseJsonInSteps,
  parsePlainJson,
  parsePlainJsonInSteps,
  prettyJson,
  readOwnJson,
  readOwnJsonInSteps,
  strictFindings,
  strictFindingsInSteps,
  stringifyJson,
  stringifyJsonInSteps,
  unrecognizedBody,
} from './json.ts';
export { prettyJsonInSteps } from './json-pretty.ts';
export {
  encodeOpenApi,
  encodeOpenApi3,
  encodeOpenApi3Part,
  encodeOpenApiPart,
  type OpenApiFrame,
} from './openapi.ts';
export {
  frameProtobufWatch,
  ProtobufList,
  readProtobuf,
  readProtobufInSteps,
  type TypeMeta,
  unframed,
  writeProtobuf,
  writeProtobufInSteps,
} from './protobuf.ts';
export { parseYaml, parseYamlAsJson, parseYamlAsJsonInSteps } from './yaml.ts';
export { yamlLines } from './yaml-lines.ts';
export { stringifyYaml, stringifyYamlInSteps } from './yaml-write.ts';
