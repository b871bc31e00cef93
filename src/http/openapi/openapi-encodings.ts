import {
  encodeOpenApi,
  encodeOpenApi3,
  encodeOpenApi3Part,
  encodeOpenApiPart,
  type OpenApiFrame,
  stringifyJsonInSteps,
} from '../../codec/index.ts';
import type { JsonObject, Names, Steps } from '../../meta/index.ts';
import type { Dialect } from './openapi-operations.ts';

/** The large parts of a document: objects with a field for each path, and for each type. */
export type Part = 'paths' | 'schemas';

/** The information about the server in a document. */
export interface About {
  readonly names: Names;
  /** The body of `/version`. */
  readonly version: JsonObject;
}

/** A version of OpenAPI in a media type. */
export interface Encoding {
  readonly dialect: Dialect;
  readonly mediaType: string;
  /** A field of a part. `first`: none is before it. */
  readonly field: (part: Part, name: string, value: JsonObject, first: boolean) => Steps<Uint8Array[]>;
  /** A document without its parts, whose sizes (bytes) are known. */
  readonly frame: (about: About, sizes: { readonly [part in Part]: number }) => OpenApiFrame;
}

const jsonType = 'application/json';
const protobufTypeV2 = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const protobufTypeV3 = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';

function* jsonField(_part: Part, name: string, value: JsonObject, first: boolean): Steps<Uint8Array[]> {
  const text = yield* stringifyJsonInSteps(value);
  yield;
  return [Buffer.from(`${first ? '' : ','}${JSON.stringify(name)}:`), Buffer.from(text)];
}

const frameOf = (...texts: readonly [string, string, string]): OpenApiFrame => [
  Buffer.from(texts[0]),
  Buffer.from(texts[1]),
  Buffer.from(texts[2]),
];

const inJson = { mediaType: jsonType, field: jsonField };

export const jsonV2: Encoding = {
  ...inJson,
  dialect: 'v2',
  frame: (about) => {
    const rest = JSON.stringify(restOf(about)).slice(1, -1);
    return frameOf(`{${rest},"paths":{`, '},"definitions":{', '}}');
  },
};

export const protobufV2: Encoding = {
  dialect: 'v2',
  mediaType: protobufTypeV2,
  field: (part, name, value) => encodeOpenApiPart(part === 'paths' ? 'paths' : 'definitions', name, value),
  frame: (about, { paths, schemas }) => encodeOpenApi(restOf(about), { paths, definitions: schemas }),
};

export const jsonV3: Encoding = {
  ...inJson,
  dialect: 'v3',
  frame: (about) => {
    const info = JSON.stringify(infoOf(about));
    const security = JSON.stringify(securitySchemes);
    return frameOf(
      `{"openapi":"3.0.0","info":${info},"paths":{`,
      '},"components":{"schemas":{',
      `},"securitySchemes":${security}}}`,
    );
  },
};

export const protobufV3: Encoding = {
  dialect: 'v3',
  mediaType: protobufTypeV3,
  field: encodeOpenApi3Part,
  frame: (about, sizes) => encodeOpenApi3({ openapi: '3.0.0', info: infoOf(about) }, { securitySchemes }, sizes),
};

/** The small fields of the v2 document. */
const restOf = (about: About): JsonObject => ({
  swagger: '2.0',
  info: infoOf(about),
  securityDefinitions: { BearerToken: bearer },
  security: [{ BearerToken: [] }],
});

const bearer = { type: 'apiKey', name: 'authorization', in: 'header', description: 'Bearer Token authentication' };

const securitySchemes: JsonObject = { BearerToken: bearer };

const infoOf = ({ names, version }: About): JsonObject => ({
  title: names.product,
  version: version['gitVersion'] ?? '',
});
