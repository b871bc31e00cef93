import type { OpenApiV2 } from '../../aggregation/index.ts';
import { inTurns, type JsonObject, type Steps, type Turns } from '../../meta/index.ts';
import { isBuiltInVersion, isCustomVersion, type ServedResource, type ServedVersion } from '../documents/api-groups.ts';
import { hashOf } from '../documents/documents.ts';
import { MadeOnce } from '../documents/made-once.ts';
import { type Fragment, FragmentBody, fragmentOf, smallFragment } from './fragments.ts';
import { convertedFields } from './openapi-converted.ts';
import { customSchemas, resourceHash, schemaNamesOf } from './openapi-custom.ts';
import { type About, type Encoding, jsonV3, type Part } from './openapi-encodings.ts';
import { resourcePaths, rootPath, versionPath } from './openapi-paths.ts';
import { type RemoteFields, remoteFields } from './openapi-remote.ts';
import { declaredSchemas, type SchemaWriter, subresourceTypes } from './openapi-schemas.ts';

/** The dependencies of document fragments. */
export interface FragmentWriter extends SchemaWriter, About {
  /** Resources are served in CBOR, too. */
  readonly cbor: boolean;
}

/** A fragment of schemas, and their names. */
interface Schemas extends Fragment {
  readonly schemas: ReadonlySet<string>;
}

/** The fields of a part of a document; undefined between two steps of making them. */
type Fields = Generator<readonly [name: string, value: JsonObject] | undefined>;

/**
 * The fragments of OpenAPI documents. Each is made when a document that has it is asked for, and kept as long as the
 * resource or group version that it describes is served: a change of a definition makes its own fragments again.
 */
export class OpenApiFragments {
  readonly #writer: FragmentWriter;
  readonly #kept = new WeakMap<object, Map<string, MadeOnce<unknown>>>();
  /** Of versions of custom resources. */
  readonly #hashes = new WeakMap<ServedVersion, string>();

  constructor(writer: FragmentWriter) {
    this.#writer = writer;
  }

  /** The document of a group version. */
  async versionBody(version: ServedVersion, encoding: Encoding, turns: Turns): Promise<FragmentBody> {
    const { openApiV2 } = version.remote?.documents ?? {};
    if (openApiV2 !== undefined) return this.#convertedBody(openApiV2, encoding, turns);
    if (!isCustomVersion(version)) {
      const paths = await made(this.#builtInPaths([version], encoding), turns);
      const schemas = await made(this.#builtInSchemas([version], [], encoding), turns);
      return this.#body([paths], [schemas], encoding);
    }
    const common = await made(this.#commonSchemas(version, encoding), turns);
    const paths = [await made(this.#rootPath(version, encoding, true), turns)];
    const schemas: Fragment[] = [common];
    await this.#addResources(version, encoding, { paths, schemas, taken: common.schemas }, turns);
    return this.#body(paths, schemas, encoding);
  }

  /** The document of all of them. */
  async wholeBody(versions: readonly ServedVersion[], encoding: Encoding, turns: Turns): Promise<FragmentBody> {
    const { builtIn, custom, used } = this.#parted(versions);
    const declared = await made(this.#builtInSchemas(builtIn, used, encoding), turns);
    const paths = [await made(this.#builtInPaths(builtIn, encoding), turns)];
    const schemas: Fragment[] = [declared];
    for (const version of custom) {
      paths.push(await made(this.#rootPath(version, encoding, false), turns));
      await this.#addResources(version, encoding, { paths, schemas, taken: declared.schemas }, turns);
    }
    const remote = await this.#remoteFragments(versions, declared.schemas, encoding, turns);
    return this.#body([...paths, ...remote.paths], [...schemas, ...remote.schemas], encoding);
  }

  /** The OpenAPI v3 document with the content of an OpenAPI v2 document of an extension API server. */
  async #convertedBody(document: OpenApiV2, encoding: Encoding, turns: Turns): Promise<FragmentBody> {
    function* make() {
      return yield* remoteFragments(yield* convertedFields(document), encoding, true);
    }
    const { paths, schemas } = await made(this.#at(document, `converted ${encoding.mediaType}`, make), turns);
    return this.#body(paths, schemas, encoding);
  }

  /** The fragments of the documents of extension API servers. */
  async #remoteFragments(
    versions: readonly ServedVersion[],
    declared: ReadonlySet<string>,
    encoding: Encoding,
    turns: Turns,
  ): Promise<PartFragments> {
    const documents = openApiDocuments(versions);
    if (documents.length === 0) return { paths: [], schemas: [] };
    const { names } = this.#writer;
    const custom = versions.filter(isCustomVersion).flatMap(({ resources }) => resources);
    const taken = new Set([...declared, ...custom.flatMap((served) => Object.values(schemaNamesOf(served, names)))]);
    const fields = await inTurns(remoteFields(documents, taken), turns);
    return inTurns(remoteFragments(fields, encoding, false), turns);
  }

  /**
   * The hash of the document of a group version. That of custom resources comes from what the document is made from, which
   * is less work: it is the same on every server of the same release.
   */
  async versionHash(version: ServedVersion, turns: Turns): Promise<string> {
    const { openApiV2 } = version.remote?.documents ?? {};
    if (openApiV2 !== undefined) return hashOf([this.#release, openApiV2.hash]);
    if (!isCustomVersion(version)) {
      const paths = await made(this.#builtInPaths([version], jsonV3), turns);
      const schemas = await made(this.#builtInSchemas([version], [], jsonV3), turns);
      return hashOf([paths.hash, schemas.hash]);
    }
    const known = this.#hashes.get(version);
    if (known !== undefined) return known;
    const hashes: string[] = [];
    for (const served of version.resources) {
      const make = () => resourceHash(served, this.#release);
      hashes.push(await made(this.#at(served.resource, `${version.version} hash`, make), turns));
    }
    const hash = hashOf([version.group, version.version, ...hashes]);
    this.#hashes.set(version, hash);
    return hash;
  }

  /** The hash of the document of all of them. */
  async wholeHash(versions: readonly ServedVersion[], encoding: Encoding, turns: Turns): Promise<string> {
    const { builtIn, custom, used } = this.#parted(versions);
    const paths = await made(this.#builtInPaths(builtIn, encoding), turns);
    const schemas = await made(this.#builtInSchemas(builtIn, used, encoding), turns);
    const hashes = [encoding.mediaType, paths.hash, schemas.hash];
    for (const version of custom) hashes.push(await this.versionHash(version, turns));
    for (const { hash } of openApiDocuments(versions)) hashes.push(hash);
    return hashOf(hashes);
  }

  get #release(): string {
    return JSON.stringify(this.#writer.version['gitVersion'] ?? '');
  }

  /** The types of subresources that custom resources use are `used`. */
  #parted(versions: readonly ServedVersion[]) {
    const custom = versions.filter(isCustomVersion);
    const used = new Set(custom.flatMap((version) => subresourceTypes(this.#writer, version)));
    return { builtIn: versions.filter(isBuiltInVersion), custom, used: [...used].sort() };
  }

  /** Adds the fragments of custom resources. Schemas whose names are taken are left out. */
  async #addResources(
    version: ServedVersion,
    encoding: Encoding,
    to: { readonly [part in Part]: Fragment[] } & { readonly taken: ReadonlySet<string> },
    turns: Turns,
  ): Promise<void> {
    const { names } = this.#writer;
    const lists = new Set(version.resources.map((served) => schemaNamesOf(served, names).list));
    for (const served of version.resources) {
      const { own, list } = schemaNamesOf(served, names);
      const left = [own, list].filter((name) => to.taken.has(name) || (name === own && lists.has(own)));
      to.paths.push(await made(this.#resourcePaths(version, served, encoding), turns));
      to.schemas.push(await made(this.#resourceSchemas(version, served, left, encoding), turns));
    }
  }

  #resourcePaths(version: ServedVersion, served: ServedResource, encoding: Encoding) {
    const { names, cbor, describe } = this.#writer;
    function* fields(): Fields {
      yield* sorted(resourcePaths(version, served, { names, dialect: encoding.dialect, cbor, describe }));
    }
    return this.#fragment(served.resource, `${version.version} paths`, fields, encoding, 'paths', false);
  }

  #resourceSchemas(version: ServedVersion, served: ServedResource, left: readonly string[], encoding: Encoding) {
    const writer = this.#writer;
    function* fields(): Fields {
      const schemas = yield* customSchemas(served, version, writer, encoding.dialect);
      yield* schemas.filter(([name]) => !left.includes(name));
    }
    const key = `${version.version} schemas ${left.join()}`;
    return this.#fragment(served.resource, key, fields, encoding, 'schemas', false);
  }

  #rootPath(version: ServedVersion, encoding: Encoding, first: boolean) {
    const { names } = this.#writer;
    function* fields(): Fields {
      yield rootPath(version, names, encoding.dialect);
    }
    return this.#fragment(version, 'root', fields, encoding, 'paths', first);
  }

  /** The paths of built-in versions, with which a document begins. */
  #builtInPaths(versions: readonly ServedVersion[], encoding: Encoding) {
    const writer = this.#writer;
    const { names, cbor, describe } = writer;
    const { dialect } = encoding;
    function* fields(): Fields {
      if (dialect === 'v2') yield versionPath;
      for (const version of versions) {
        const all = [rootPath(version, names, dialect)];
        for (const served of version.resources) {
          for (const path of resourcePaths(version, served, { names, dialect, cbor, describe })) all.push(path);
          yield;
        }
        yield* sorted(all);
      }
    }
    return this.#fragment(versions[0] as ServedVersion, 'paths', fields, encoding, 'paths', true);
  }

  /** The schemas of built-in versions and of some more types, with which a document begins. */
  #builtInSchemas(versions: readonly ServedVersion[], used: readonly string[], encoding: Encoding) {
    const writer = this.#writer;
    const schemas = () => declaredSchemas(writer, versions, used, encoding.dialect);
    return this.#schemas(versions[0] as ServedVersion, `schemas ${used.join()}`, schemas, encoding);
  }

  /** The schemas that the documents of versions of custom resources begin with: many of them share a fragment. */
  #commonSchemas(version: ServedVersion, encoding: Encoding) {
    const writer = this.#writer;
    const used = subresourceTypes(writer, version);
    const schemas = () => declaredSchemas(writer, [], used, encoding.dialect);
    return this.#schemas(writer, `schemas ${used.join()}`, schemas, encoding);
  }

  #schemas(owner: object, key: string, make: () => Steps<{ [name: string]: JsonObject }>, encoding: Encoding) {
    return this.#at<Schemas>(owner, `${key} ${encoding.dialect} ${encoding.mediaType}`, function* () {
      const schemas = Object.entries(yield* make());
      function* fields(): Fields {
        yield* sorted(schemas);
      }
      const fragment = yield* fragmentOf(encoded(fields(), encoding, 'schemas', true));
      return { ...fragment, schemas: new Set(schemas.map(([name]) => name)) };
    });
  }

  #fragment(owner: object, key: string, fields: () => Fields, encoding: Encoding, part: Part, first: boolean) {
    const { dialect, mediaType } = encoding;
    const make = () => fragmentOf(encoded(fields(), encoding, part, first));
    return this.#at<Fragment>(owner, `${key} ${dialect} ${mediaType} ${first}`, make);
  }

  #at<T>(owner: object, key: string, make: () => Steps<T>): MadeOnce<T> {
    const kept = this.#kept.get(owner) ?? new Map<string, MadeOnce<unknown>>();
    this.#kept.set(owner, kept);
    const found = (kept.get(key) as MadeOnce<T> | undefined) ?? new MadeOnce(make);
    kept.set(key, found);
    return found;
  }

  #body(paths: readonly Fragment[], schemas: readonly Fragment[], encoding: Encoding): FragmentBody {
    const sizes = { paths: sizeOf(paths), schemas: sizeOf(schemas) };
    const [before, between, after] = encoding.frame(this.#writer, sizes).map(smallFragment) as [
      Fragment,
      Fragment,
      Fragment,
    ];
    return new FragmentBody([before, ...paths, between, ...schemas, after]);
  }
}

/** The OpenAPI v2 documents of extension API servers. */
const openApiDocuments = (versions: readonly ServedVersion[]) =>
  versions.flatMap(({ remote }) => remote?.documents?.openApiV2 ?? []);

type PartFragments = { readonly [part in Part]: readonly Fragment[] };

/** The fragments of the fields of extension API servers, which may hold anything; none when they cannot be encoded. */
function* remoteFragments(fields: RemoteFields, encoding: Encoding, first: boolean): Steps<PartFragments> {
  const fragment = (part: Part) => fragmentOf(encoded(each(fields[part]), encoding, part, first));
  try {
    return { paths: [yield* fragment('paths')], schemas: [yield* fragment('schemas')] };
  } catch {
    return { paths: [], schemas: [] };
  }
}

function* each(fields: Iterable<readonly [string, JsonObject]>): Fields {
  yield* fields;
}

async function made<T>(once: MadeOnce<T>, turns: Turns): Promise<T> {
  if (turns.over) await turns.next();
  return once.made ?? (await once.get(turns));
}

const sizeOf = (fragments: readonly Fragment[]): number => fragments.reduce((sum, { size }) => sum + size, 0);

const sorted = <T>(fields: Iterable<readonly [string, T]>): (readonly [string, T])[] =>
  [...fields].sort(([a], [b]) => (a < b ? -1 : 1));

/** The fields in bytes; undefined between two steps. */
function* encoded(
  fields: Fields,
  encoding: Encoding,
  part: Part,
  first: boolean,
): Generator<Uint8Array | undefined, void, undefined> {
  let opens = first;
  for (const field of fields) {
    if (field === undefined) {
      yield;
      continue;
    }
    yield* yield* encoding.field(part, ...field, opens);
    opens = false;
  }
}
