import type { Names } from '../../meta/index.ts';
import type { FindType } from '../openapi/built-in-types.ts';
import { jsonCodec } from './json-codec.ts';
import { protobufCodec } from './protobuf-codec.ts';
import type { WireCodec } from './wire-codec.ts';
import { type ReadYaml, yamlCodec } from './yaml-codec.ts';

export interface Codecs {
  /** Every codec, the default first. */
  readonly all: readonly WireCodec[];
  readonly json: WireCodec;
  readonly yaml: WireCodec;
}

export interface CodecOptions {
  readonly findType: FindType;
  readonly names: Names;
  readonly readYaml?: ReadYaml;
}

export function createCodecs({ findType, names, readYaml }: CodecOptions): Codecs {
  const yaml = yamlCodec(readYaml);
  return { all: [jsonCodec, yaml, protobufCodec(findType, names)], json: jsonCodec, yaml };
}
