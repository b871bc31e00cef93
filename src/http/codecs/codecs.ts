import { readCborPatchInSteps, type TypeMeta } from '../../codec/index.ts';
import { atOnce, type Names } from '../../meta/index.ts';
import { builtInSchema, type FindType } from '../openapi/built-in-types.ts';
import { cborCodec } from './cbor-codec.ts';
import { jsonCodec } from './json-codec.ts';
import type { PatchType } from './negotiation.ts';
import { protobufCodec } from './protobuf-codec.ts';
import type { BodyReader, WireCodec } from './wire-codec.ts';
import { type ReadYaml, yamlCodec } from './yaml-codec.ts';

/** The codecs of the endpoints, the default first. */
export interface Codecs {
  /** Those of built-in resources. */
  readonly all: readonly WireCodec[];
  readonly custom: readonly WireCodec[];
  /** Those of discovery, and of errors of requests that do not reach a resource. */
  readonly documents: readonly WireCodec[];
  readonly patches: readonly PatchType[];
}

export interface CodecOptions {
  readonly findType: FindType;
  readonly names: Names;
  readonly readYaml?: ReadYaml;
  /** Resources are served in CBOR, too. */
  readonly cbor?: boolean;
}

export function createCodecs({ findType, names, readYaml, cbor = false }: CodecOptions): Codecs {
  const yaml = yamlCodec(readYaml);
  const protobuf = protobufCodec(findType, names);
  const documents = [jsonCodec, yaml, protobuf];
  // Custom types have no protobuf form, but their metadata has.
  const custom = [jsonCodec, yaml, { ...protobuf, onlyMetadata: true }];
  const patches: readonly PatchType[] = [
    { mediaType: 'application/json-patch+json', format: 'json', reader: jsonCodec },
    { mediaType: 'application/merge-patch+json', format: 'merge', reader: jsonCodec },
    { mediaType: 'application/strategic-merge-patch+json', format: 'strategic', reader: jsonCodec },
    { mediaType: 'application/apply-patch+yaml', format: 'apply', reader: yaml },
  ];
  if (!cbor) return { all: documents, custom, documents, patches };
  const builtIn = cborCodec((type: TypeMeta) => builtInSchema(findType, type), names);
  const untyped = cborCodec(() => undefined, names);
  return {
    all: [...documents, builtIn],
    custom: [...custom, untyped],
    documents,
    patches: [...patches, { mediaType: 'application/apply-patch+cbor', format: 'apply', reader: cborPatches(names) }],
  };
}

const cborPatches = (names: Names): BodyReader => ({
  decode: (body) => atOnce(readCborPatchInSteps(body, names)),
  decodeInSteps: (body) => readCborPatchInSteps(body, names),
});
