import {
  encodeOpenApi,
  encodeOpenApi3,
  encodeOpenApi3Part,
  encodeOpenApiPart,
  mostWanted,
  type OpenApiPart,
} from '../codec/index.ts';
import type { GroupVersionKind, JsonObject, Names } from '../meta/index.ts';
import { setKey, statusError } from '../meta/index.ts';
import { openApiName, openApiSchemas, type StructSchema } from '../schema/index.ts';
import { emptyBody } from './answers.ts';
import { type Group, rootOf, type ServedResource, type ServedVersion } from './api-groups.ts';
import type { FindType } from './built-in-types.ts';
import { type Document, documentOf, serveDocument } from './documents.ts';
import type { Dialect } from './openapi-operations.ts';
import { listTypeOf, metaTypes, pathsOf, subresourceType } from './openapi-paths.ts';
import type { ApiResponse, RequestHeaders } from './types.ts';

export interface OpenApiOptions {
  readonly groups: readonly Group[];
  readonly names: Names;
  /** The body of `/version`. */
  readonly version: JsonObject;
  readonly findType: FindType;
  /** Includes the enums of fields. */
  readonly enums: boolean;
  /** Yields to the event loop: a large document is made in pieces. */
  readonly pause: () => Promise<void>;
}

/** `/openapi/v2`, `/openapi/v3` and a document for each group version, made on the first request. */
export interface OpenApi {
  readonly paths: readonly string[];
  /** Undefined when the path is none of these. */
  serve(path: string, headers: RequestHeaders, hash?: string | null): Promise<ApiResponse> | undefined;
}

export function createOpenApi(options: OpenApiOptions): OpenApi {
  const versions = options.groups.flatMap((group) => group.versions);
  const writer: Writer = { ...options, kinds: kindsOf(versions, options.findType), versions };
  const made = new Map<string, Promise<Document>>();
  const cached = (key: string, make: () => Promise<Document>) => {
    let document = made.get(key);
    if (document === undefined) {
      document = make();
      // Waiting requests get the failure; the next request tries again.
      document.catch(() => made.delete(key));
      made.set(key, document);
    }
    return document;
  };
  const v3 = new Map(versions.map((version) => [`/openapi/v3${rootOf(version)}`, version]));
  const documentAt = (path: string, version: ServedVersion) => cached(path, () => versionDocument(writer, version));
  // Both encodings use the hash of the JSON.
  const protobufAt = (path: string, version: ServedVersion) =>
    cached(`${path} ${protobufTypeV3}`, async () => ({
      body: await versionProtobuf(writer, version),
      hash: (await documentAt(path, version)).hash,
    }));
  const index = () =>
    cached('/openapi/v3', async () => {
      const paths: JsonObject = {};
      for (const [path, version] of v3) {
        const { hash } = await documentAt(path, version);
        setKey(paths, rootOf(version).slice(1), { serverRelativeURL: `${path}?hash=${hash}` });
        await options.pause();
      }
      return documentOf(JSON.stringify({ paths }));
    });
  return {
    paths: ['/openapi/v2', '/openapi/v3', ...v3.keys()],
    serve(path, headers, hash) {
      const tag = headers['if-none-match'];
      if (path === '/openapi/v2') {
        const type = formOf(headers, formsV2);
        const make = type === jsonType ? wholeDocument : wholeProtobuf;
        return cached(`${path} ${type}`, () => make(writer)).then((document) =>
          serveDocument(document, type, tag, { vary: 'Accept' }),
        );
      }
      if (path === '/openapi/v3') {
        return index().then((document) => serveDocument(document, 'text/plain; charset=utf-8', tag));
      }
      const version = v3.get(path);
      if (version === undefined) return undefined;
      const type = formOf(headers, formsV3);
      return documentAt(path, version).then(async (document) => {
        if (hash && hash !== document.hash) return movedTo(`${path}?hash=${document.hash}`);
        // A URL with a hash always returns the same document.
        const keep = hash ? { 'cache-control': 'public, immutable, max-age=31536000' } : {};
        const made = type === jsonType ? document : await protobufAt(path, version);
        return serveDocument(made, type, tag, { vary: 'Accept', ...keep });
      });
    },
  };
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

interface Writer extends OpenApiOptions {
  readonly versions: readonly ServedVersion[];
  /** The kinds of a type, by the name of the type. */
  readonly kinds: ReadonlyMap<string, readonly GroupVersionKind[]>;
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

/** Whether a type is in the document of a version. */
function isKnown(writer: Writer, version: ServedVersion): (typeName: string) => boolean {
  const own = new Set(version.resources.map((served) => served.version.schema.name));
  return (name) => own.has(name) || writer.findType(name) !== undefined;
}

function schemasOf(writer: Writer, version: ServedVersion, dialect: Dialect): { [name: string]: JsonObject } {
  const { names, findType, kinds } = writer;
  const roots = new Map<string, StructSchema>();
  const want = (schema: StructSchema | undefined) => {
    if (schema !== undefined) roots.set(schema.name, schema);
  };
  for (const served of version.resources) {
    want(served.version.schema);
    for (const sub of served.resource.definition.subresources) want(findType(subresourceType(sub, version)));
  }
  for (const name of Object.values(metaTypes)) want(findType(name));
  const schemas = openApiSchemas(
    roots.values(),
    names,
    dialect,
    (schema) => kinds.get(schema.name) ?? [],
    writer.enums,
  );
  const prefix = dialect === 'v2' ? '#/definitions/' : '#/components/schemas/';
  for (const served of version.resources) {
    if (!served.resource.definition.verbs.includes('list')) continue;
    setKey(schemas, openApiName(listTypeOf(served), names), listSchema(served, version, names, prefix));
  }
  for (const [name, schema] of Object.entries(freeSchemas)) schemas[openApiName(name, names)] ??= schema;
  return schemas;
}

/** Types without a declaration: they contain fields of the kind at hand. */
const freeSchemas: { readonly [type: string]: JsonObject } = {
  [metaTypes.patch]: { description: 'A change to an object.', type: 'object' },
  [metaTypes.watchEvent]: {
    description: 'One event of a watch.',
    type: 'object',
    required: ['type', 'object'],
    properties: { type: { type: 'string' }, object: { type: 'object' } },
  },
};

function listSchema(
  served: ServedResource,
  { group, version }: ServedVersion,
  names: Names,
  prefix: string,
): JsonObject {
  const { kind } = served.resource.definition;
  const listMeta = { $ref: prefix + openApiName(metaTypes.listMeta, names) };
  return {
    description: `${kind}List is a list of ${kind}.`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string', description: 'Group and version of the list.' },
      items: { type: 'array', items: { $ref: prefix + openApiName(served.version.schema.name, names) } },
      kind: { type: 'string', description: 'Name of the kind of the list.' },
      metadata: listMeta,
    },
    [`${names.extension}group-version-kind`]: [{ group, kind: `${kind}List`, version }],
  };
}

function kindsOf(versions: readonly ServedVersion[], findType: FindType): Map<string, GroupVersionKind[]> {
  const kinds = new Map<string, GroupVersionKind[]>();
  const put = (name: string, kind: GroupVersionKind) => {
    const all = kinds.get(name) ?? [];
    kinds.set(name, all);
    const same = all.some((k) => k.group === kind.group && k.version === kind.version && k.kind === kind.kind);
    if (!same) all.push(kind);
  };
  for (const served of versions) {
    const { group, version } = served;
    for (const { resource, version: declared } of served.resources) {
      const { definition } = resource;
      put(declared.schema.name, { group, version, kind: definition.kind });
      for (const sub of definition.subresources) {
        const name = subresourceType(sub, served);
        if (findType(name) === undefined) continue;
        put(name, { group: sub.group ?? group, version: sub.version ?? version, kind: sub.kind });
      }
    }
    put(metaTypes.deleteOptions, { group, version, kind: 'DeleteOptions' });
  }
  put(metaTypes.status, { group: '', version: 'v1', kind: 'Status' });
  return kinds;
}
