import { compressedFrom } from '../../codec/index.ts';
import { type JsonObject, type Names, setKey, statusError, type Turns } from '../../meta/index.ts';
import type { Describe } from '../../schema/index.ts';
import { emptyBody } from '../answers.ts';
import type { Aggregation, Call } from '../call.ts';
import { preferredMediaType } from '../codecs/negotiation.ts';
import {
  type ApiGroups,
  type Group,
  isBuiltInVersion,
  remembered,
  rootOf,
  type ServedVersion,
} from '../documents/api-groups.ts';
import { type Document, documentOf, serveDocument, validated } from '../documents/documents.ts';
import { MadeOnce } from '../documents/made-once.ts';
import { ReadTurns } from '../read-turns.ts';
import type { ApiResponse, RequestHeaders } from '../types.ts';
import type { FindType } from './built-in-types.ts';
import type { FragmentBody } from './fragments.ts';
import { type Encoding, jsonV2, jsonV3, protobufV2, protobufV3 } from './openapi-encodings.ts';
import { OpenApiFragments } from './openapi-fragments.ts';
import { kindsOf } from './openapi-schemas.ts';

export interface OpenApiOptions {
  readonly groups: ApiGroups;
  readonly names: Names;
  /** The body of `/version`. */
  readonly version: JsonObject;
  readonly findType: FindType;
  /** Includes the enums of fields. */
  readonly enums: boolean;
  /** Resources are served in CBOR, too. */
  readonly cbor: boolean;
  readonly describe: Describe;
  /** Relays requests for the OpenAPI v3 documents of extension API servers. */
  readonly relay?: Aggregation['answer'] | undefined;
}

/**
 * `/openapi/v2`, `/openapi/v3` and a document for each group version, made in the turns of those who ask. What has changed
 * since is made again.
 */
export interface OpenApi {
  /** The paths that are served now. */
  readonly paths: () => readonly string[];
  /** Undefined when the path is none of these. */
  serve(path: string, call: Call): Promise<ApiResponse> | undefined;
}

/** The served resources in one state of the registry. */
interface State {
  /** All versions, those of extension API servers too. */
  readonly all: readonly ServedVersion[];
  /** By path. */
  readonly versions: ReadonlyMap<string, ServedVersion>;
  /** Bodies by path and media type. */
  readonly bodies: Map<string, FragmentBody>;
  index: MadeOnce<Document> | undefined;
}

export function createOpenApi(options: OpenApiOptions): OpenApi {
  const builtIn = options.groups().flatMap((group) => group.versions.filter(isBuiltInVersion));
  const findType = withSubresourceTypes(options.findType, builtIn);
  const kinds = kindsOf(builtIn, findType);
  const fragments = new OpenApiFragments({ ...options, findType, kinds });
  const states = new WeakMap<readonly Group[], State>();
  const current = (): State => {
    const groups = options.groups();
    return remembered(states, groups, () => stateOf(groups));
  };
  return {
    paths: () => ['/openapi/v2', '/openapi/v3', ...current().versions.keys()],
    serve(path, call) {
      if (!path.startsWith('/openapi/')) return undefined;
      const shown = current();
      if (path === '/openapi/v2') return serveWhole(fragments, shown, call);
      if (path === '/openapi/v3') return serveIndex(fragments, shown, call);
      const version = shown.versions.get(path);
      if (version === undefined && path.startsWith('/openapi/v3/')) return Promise.resolve(noDocument);
      if (version?.remote?.documents?.openApiV3 !== undefined) return options.relay?.(call, version.remote);
      return version && serveVersion(fragments, shown, version, path, call);
    },
  };
}

function stateOf(groups: readonly Group[]): State {
  const all = groups.flatMap((group) => group.versions);
  const shown = all.filter(({ resources, remote }) => {
    const { openApiV2, openApiV3 } = remote?.documents ?? {};
    return resources.length > 0 || openApiV3 !== undefined || openApiV2 !== undefined;
  });
  const versions = new Map(shown.map((version) => [`/openapi/v3${rootOf(version)}`, version]));
  return { all, versions, bodies: new Map(), index: undefined };
}

/** Also finds the types of subresources that older versions declare themselves. */
function withSubresourceTypes(findType: FindType, versions: readonly ServedVersion[]): FindType {
  const schemas = versions.flatMap(({ resources }) =>
    resources.flatMap(({ resource }) => resource.definition.subresources.flatMap(({ schema }) => schema ?? [])),
  );
  const byName = new Map(schemas.map((schema) => [schema.name, schema]));
  return (name) => findType(name) ?? byName.get(name);
}

async function serveWhole(fragments: OpenApiFragments, { all, bodies }: State, call: Call): Promise<ApiResponse> {
  const { headers } = call.request;
  const encoding = encodingOf(headers, encodingsV2);
  const turns = new ReadTurns(call);
  const hash = await fragments.wholeHash(all, encoding, turns);
  const answer = validated(hash, headers['if-none-match'], { vary: 'Accept' });
  if (answer.notModified !== undefined) return answer.notModified;
  const key = `v2 ${encoding.mediaType}`;
  const body = bodies.get(key) ?? (await fragments.wholeBody(all, encoding, turns));
  bodies.set(key, body);
  return bodyResponse(body, { ...answer.headers, 'content-type': encoding.mediaType }, turns);
}

async function serveVersion(
  fragments: OpenApiFragments,
  { bodies }: State,
  version: ServedVersion,
  path: string,
  call: Call,
): Promise<ApiResponse> {
  const { headers } = call.request;
  const encoding = encodingOf(headers, encodingsV3);
  const turns = new ReadTurns(call);
  const hash = await fragments.versionHash(version, turns);
  const asked = call.info.query.get('hash');
  if (asked && asked !== hash) return movedTo(`${path}?hash=${hash}`);
  // A URL with a hash always returns the same document.
  const keep = asked ? { 'cache-control': 'public, immutable, max-age=31536000' } : {};
  const answer = validated(hash, headers['if-none-match'], { vary: 'Accept', ...keep });
  if (answer.notModified !== undefined) return answer.notModified;
  const key = `${path} ${encoding.mediaType}`;
  const body = bodies.get(key) ?? (await fragments.versionBody(version, encoding, turns));
  bodies.set(key, body);
  return bodyResponse(body, { ...answer.headers, 'content-type': encoding.mediaType }, turns);
}

/** The v3 index: the document of each group version with its hash. */
async function serveIndex(fragments: OpenApiFragments, state: State, call: Call): Promise<ApiResponse> {
  const turns = new ReadTurns(call);
  const paths: JsonObject = {};
  for (const [path, version] of state.index === undefined ? state.versions : []) {
    const hash = version.remote?.documents?.openApiV3 ?? (await fragments.versionHash(version, turns));
    setKey(paths, rootOf(version).slice(1), { serverRelativeURL: `${path}?hash=${hash}` });
  }
  state.index ??= new MadeOnce(() => documentOf(Buffer.from(JSON.stringify({ paths }))));
  const document = state.index.made ?? (await state.index.get(turns));
  return serveDocument(document, 'text/plain; charset=utf-8', call.request.headers['if-none-match']);
}

/** Shorter bodies are sent whole (bytes). */
const wholeBytes = 64 * 1024;

function bodyResponse(body: FragmentBody, headers: { readonly [name: string]: string }, turns: Turns): ApiResponse {
  if (body.length <= wholeBytes) return { status: 200, headers, body: body.whole() };
  const response = {
    status: 200,
    headers: { ...headers, 'content-length': String(body.length) },
    body: body.plain(turns),
  };
  if (body.length <= compressedFrom) return response;
  return { ...response, gzip: { body: body.gzip(turns), length: body.gzipLength } };
}

const noDocument: ApiResponse = { status: 404, headers: {}, body: emptyBody };

/** Redirects an outdated hash to the current one. */
const movedTo = (location: string): ApiResponse => ({
  status: 301,
  headers: { 'cache-control': 'no-cache, private', location, vary: 'Accept' },
  body: emptyBody,
});

/** By the media types that may be requested: the name that most clients use for protobuf is not a valid one. */
type Encodings = ReadonlyMap<string, Encoding>;
const encodingsV2 = encodingsOf(jsonV2, protobufV2);
const encodingsV3 = encodingsOf(jsonV3, protobufV3);

function encodingsOf(json: Encoding, protobuf: Encoding): Encodings {
  const former = protobuf.mediaType.replace('.v1.0+', '@v1.0+');
  return new Map([
    [json.mediaType, json],
    [former, protobuf],
    [protobuf.mediaType, protobuf],
  ]);
}

/** @throws StatusError 406 */
function encodingOf(headers: RequestHeaders, encodings: Encodings): Encoding {
  const wanted = preferredMediaType(headers['accept'], [...encodings.keys()]);
  const encoding = wanted === undefined ? undefined : encodings.get(wanted);
  if (encoding !== undefined) return encoding;
  throw statusError.notAcceptable([...new Set([...encodings.values()].map(({ mediaType }) => mediaType))]);
}
