import {
  encodeOpenApi,
  encodeOpenApi3,
  encodeOpenApi3Part,
  encodeOpenApiPart,
  mostWanted,
  type OpenApiPart,
} from '../codec/index.ts';
import { type JsonObject, type Names, setKey, statusError } from '../meta/index.ts';
import type { Describe } from '../schema/index.ts';
import { emptyBody } from './answers.ts';
import { type ApiGroups, type Group, isCustom, isCustomVersion, rootOf, type ServedVersion } from './api-groups.ts';
import type { FindType } from './built-in-types.ts';
import { type Document, documentOf, serveDocument } from './documents.ts';
import { contentHash } from './openapi-custom.ts';
import { pathsOf } from './openapi-paths.ts';
import { isKnown, kindsOf, type SchemaWriter, schemasOf } from './openapi-schemas.ts';
import type { ApiResponse, RequestHeaders } from './types.ts';

export interface OpenApiOptions {
  readonly groups: ApiGroups;
  readonly names: Names;
  /** The body of `/version`. */
  readonly version: JsonObject;
  readonly findType: FindType;
  /** Includes the enums of fields. */
  readonly enums: boolean;
  readonly describe: Describe;
  /** Yields to the event loop: a large document is made in pieces. */
  readonly pause: () => Promise<void>;
}

/**
 * `/openapi/v2`, `/openapi/v3` and a document for each group version, made on the first request. What has changed since
 * is made again.
 */
export interface OpenApi {
  /** The paths that are served now. */
  readonly paths: () => readonly string[];
  /** Undefined when the path is none of these. */
  serve(path: string, headers: RequestHeaders, hash?: string | null): Promise<ApiResponse> | undefined;
}

/** What is served in one state of the registry. */
interface State {
  readonly groups: readonly Group[];
  readonly writer: Writer;
  /** By path. */
  readonly versions: ReadonlyMap<string, ServedVersion>;
  /** The documents of all versions together. */
  readonly whole: Documents;
}

export function createOpenApi(options: OpenApiOptions): OpenApi {
  const builtIn = options.groups().filter((group) => !isCustom(group));
  const kinds = kindsOf(
    builtIn.flatMap((group) => group.versions),
    options.findType,
  );
  const documents = new VersionDocuments();
  let state: State | undefined;
  const current = (): State => {
    const groups = options.groups();
    if (state?.groups !== groups) {
      const versions = groups.flatMap((group) => group.versions);
      const paths = new Map(versions.map((version) => [`/openapi/v3${rootOf(version)}`, version]));
      documents.keep(new Set(versions));
      state = { groups, writer: { ...options, kinds, versions }, versions: paths, whole: new Documents() };
    }
    return state;
  };
  return {
    paths: () => ['/openapi/v2', '/openapi/v3', ...current().versions.keys()],
    serve(path, headers, hash) {
      if (!path.startsWith('/openapi/')) return undefined;
      const tag = headers['if-none-match'];
      const { writer, versions, whole } = current();
      if (path === '/openapi/v2') {
        const type = formOf(headers, formsV2);
        const make = type === jsonType ? wholeDocument : wholeProtobuf;
        return whole
          .at(`${path} ${type}`, () => make(writer))
          .then((document) => serveDocument(document, type, tag, { vary: 'Accept' }));
      }
      if (path === '/openapi/v3') {
        return whole
          .at(path, () => indexOf(writer, versions, documents))
          .then((document) => serveDocument(document, 'text/plain; charset=utf-8', tag));
      }
      const version = versions.get(path);
      if (version === undefined) return undefined;
      const type = formOf(headers, formsV3);
      return documents.json(writer, version).then(async (document) => {
        if (hash && hash !== document.hash) return movedTo(`${path}?hash=${document.hash}`);
        // A URL with a hash always returns the same document.
        const keep = hash ? { 'cache-control': 'public, immutable, max-age=31536000' } : {};
        const made = type === jsonType ? document : await documents.protobuf(writer, version);
        return serveDocument(made, type, tag, { vary: 'Accept', ...keep });
      });
    },
  };
}

/** The v3 index: the document of each group version with its hash. */
async function indexOf(
  writer: Writer,
  versions: ReadonlyMap<string, ServedVersion>,
  documents: VersionDocuments,
): Promise<Document> {
  const paths: JsonObject = {};
  for (const [path, version] of versions) {
    const hash = await documents.hash(writer, version);
    setKey(paths, rootOf(version).slice(1), { serverRelativeURL: `${path}?hash=${hash}` });
    await writer.pause();
  }
  return documentOf(JSON.stringify({ paths }));
}

/** So many group versions of custom resources have their documents kept. */
const maxCustomVersions = 64;

/** The v3 documents of group versions. */
class VersionDocuments {
  readonly #builtIn = new Map<ServedVersion, Documents>();
  /** The ones that were asked for last are the last ones. */
  readonly #custom = new Map<ServedVersion, Documents>();
  readonly #customHashes = new WeakMap<ServedVersion, string>();

  json(writer: Writer, version: ServedVersion): Promise<Document> {
    return this.#of(version).at(jsonType, async () => {
      const document = await versionDocument(writer, version);
      return isCustomVersion(version) ? { ...document, hash: this.#customHash(writer, version) } : document;
    });
  }

  /** It has the hash of the JSON. */
  protobuf(writer: Writer, version: ServedVersion): Promise<Document> {
    return this.#of(version).at(protobufTypeV3, async () => ({
      body: await versionProtobuf(writer, version),
      hash: await this.hash(writer, version),
    }));
  }

  async hash(writer: Writer, version: ServedVersion): Promise<string> {
    return isCustomVersion(version) ? this.#customHash(writer, version) : (await this.json(writer, version)).hash;
  }

  /** Drops the documents of versions that are no longer served. */
  keep(served: ReadonlySet<ServedVersion>): void {
    for (const version of this.#custom.keys()) if (!served.has(version)) this.#custom.delete(version);
  }

  #of(version: ServedVersion): Documents {
    const kept = isCustomVersion(version) ? this.#custom : this.#builtIn;
    const documents = kept.get(version) ?? new Documents();
    kept.delete(version);
    kept.set(version, documents);
    for (const oldest of this.#custom.keys()) {
      if (this.#custom.size <= maxCustomVersions) break;
      this.#custom.delete(oldest);
    }
    return documents;
  }

  #customHash(writer: Writer, version: ServedVersion): string {
    let hash = this.#customHashes.get(version);
    if (hash === undefined) {
      hash = contentHash(version, writer);
      this.#customHashes.set(version, hash);
    }
    return hash;
  }
}

/** Documents that are made once. */
class Documents {
  readonly #made = new Map<string, Promise<Document>>();

  at(key: string, make: () => Promise<Document>): Promise<Document> {
    let document = this.#made.get(key);
    if (document === undefined) {
      document = make();
      // Waiting requests get the failure; the next request tries again.
      document.catch(() => this.#made.delete(key));
      this.#made.set(key, document);
    }
    return document;
  }
}

/** Redirects an outdated hash to the current one. */
const movedTo = (location: string): ApiResponse => ({
  status: 301,
  headers: { 'cache-control': 'no-cache, private', location, vary: 'Accept' },
  body: emptyBody,
});

const jsonType = 'application/json';
const protobufType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const protobufTypeV3 = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';

/** Requested media types and the Content-Type of the response: the name most clients use is not a valid media type. */
type Forms = ReadonlyMap<string, string>;
const formsV2 = formsOf(protobufType);
const formsV3 = formsOf(protobufTypeV3);

function formsOf(protobuf: string): Forms {
  const former = protobuf.replace('.v1.0+', '@v1.0+');
  return new Map([
    [jsonType, jsonType],
    [former, protobuf],
    [protobuf, protobuf],
  ]);
}

/** @throws StatusError 406 */
function formOf(headers: RequestHeaders, forms: Forms): string {
  const wanted = mostWanted(headers['accept'], [...forms.keys()]);
  const type = wanted === undefined ? undefined : forms.get(wanted);
  if (type === undefined) throw statusError.notAcceptable([...new Set(forms.values())]);
  return type;
}

interface Writer extends Omit<OpenApiOptions, 'groups'>, SchemaWriter {
  readonly versions: readonly ServedVersion[];
}

/** The document of a group version: its paths, and every type that they refer to. */
async function versionDocument(writer: Writer, version: ServedVersion): Promise<Document> {
  const { names, pause } = writer;
  const paths = await textOf(pathsOf(version, names, 'v3', isKnown(writer, version)), pause);
  const schemas = await textOf(Object.entries(schemasOf(writer, version, 'v3')), pause);
  const about = JSON.stringify(infoOf(writer));
  const security = JSON.stringify(securitySchemes);
  const text = `{"openapi":"3.0.0","info":${about},"paths":${paths},"components":{"schemas":${schemas},"securitySchemes":${security}}}`;
  await pause();
  return documentOf(text);
}

/** The same in protobuf. */
async function versionProtobuf(writer: Writer, version: ServedVersion): Promise<Uint8Array> {
  const { names, pause } = writer;
  const path = (name: string, value: JsonObject) => encodeOpenApi3Part('paths', name, value);
  const schema = (name: string, value: JsonObject) => encodeOpenApi3Part('schemas', name, value);
  const paths = await piecesOf(pathsOf(version, names, 'v3', isKnown(writer, version)), path, pause);
  const schemas = await piecesOf(Object.entries(schemasOf(writer, version, 'v3')), schema, pause);
  return encodeOpenApi3({ openapi: '3.0.0', info: infoOf(writer) }, { securitySchemes }, { paths, schemas });
}

/** How long a step may take before it yields to the event loop (ms). */
const turnMs = 5;

/** The fields of a large object, each encoded by itself, sorted by name. */
async function piecesOf<Piece>(
  fields: Iterable<readonly [string, JsonObject]>,
  write: (name: string, value: JsonObject) => Piece,
  pause: () => Promise<void>,
): Promise<Piece[]> {
  const pieces: (readonly [name: string, piece: Piece])[] = [];
  await pause();
  let started = performance.now();
  for (const [name, value] of fields) {
    pieces.push([name, write(name, value)]);
    if (performance.now() - started < turnMs) continue;
    await pause();
    started = performance.now();
  }
  pieces.sort(([a], [b]) => (a < b ? -1 : 1));
  return pieces.map(([, piece]) => piece);
}

const fieldText = (name: string, value: JsonObject): string => `${JSON.stringify(name)}:${JSON.stringify(value)}`;

async function textOf(fields: Iterable<readonly [string, JsonObject]>, pause: () => Promise<void>): Promise<string> {
  return `{${(await piecesOf(fields, fieldText, pause)).join(',')}}`;
}

/** The large parts of the v2 document, made group version by group version. */
async function partsOf<Piece>(
  writer: Writer,
  write: (part: OpenApiPart, name: string, value: JsonObject) => Piece,
): Promise<{ readonly [part in OpenApiPart]: Piece[] }> {
  const { names, pause } = writer;
  const path = (name: string, value: JsonObject) => write('paths', name, value);
  let paths = [path('/version/', versionPath)];
  const schemas: { [name: string]: JsonObject } = {};
  for (const version of writer.versions) {
    paths = paths.concat(await piecesOf(pathsOf(version, names, 'v2', isKnown(writer, version)), path, pause));
    await pause();
    for (const [name, schema] of Object.entries(schemasOf(writer, version, 'v2'))) setKey(schemas, name, schema);
    await pause();
  }
  const definition = (name: string, value: JsonObject) => write('definitions', name, value);
  return { paths, definitions: await piecesOf(Object.entries(schemas), definition, pause) };
}

/** The v2 document. */
async function wholeDocument(writer: Writer): Promise<Document> {
  const { paths, definitions } = await partsOf(writer, (_, name, value) => fieldText(name, value));
  const rest = JSON.stringify(restOf(writer)).slice(1, -1);
  const text = `{${rest},"paths":{${paths.join(',')}},"definitions":{${definitions.join(',')}}}`;
  await writer.pause();
  return documentOf(text);
}

/** The same in protobuf. */
async function wholeProtobuf(writer: Writer): Promise<Document> {
  const parts = await partsOf(writer, encodeOpenApiPart);
  await writer.pause();
  const bytes = encodeOpenApi(restOf(writer), parts);
  await writer.pause();
  return documentOf(bytes);
}

/** The small fields of the v2 document. */
const restOf = (writer: Writer): JsonObject => ({
  swagger: '2.0',
  info: infoOf(writer),
  securityDefinitions: { BearerToken: bearer },
  security: [{ BearerToken: [] }],
});

const versionPath: JsonObject = {
  get: {
    description: 'get the version information',
    operationId: 'getCodeVersion',
    produces: ['application/json'],
    responses: { 200: { description: 'OK' }, 401: { description: 'Unauthorized' } },
    schemes: ['https'],
    tags: ['version'],
  },
};

const bearer = { type: 'apiKey', name: 'authorization', in: 'header', description: 'Bearer Token authentication' };

const securitySchemes: JsonObject = { BearerToken: bearer };

const infoOf = ({ names, version }: Writer): JsonObject => ({
  title: names.product,
  version: version['gitVersion'] ?? '',
});
