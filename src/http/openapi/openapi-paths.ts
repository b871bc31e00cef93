import type { JsonObject, Names } from '../../meta/index.ts';
import type { ConnectSubresource, Subresource } from '../../registry/index.ts';
import { type Describe, openApiName } from '../../schema/index.ts';
import { rootOf, type ServedResource, type ServedVersion } from '../documents/api-groups.ts';
import { type ConnectedResource, connectOperations, optionParameters } from './openapi-connections.ts';
import {
  capital,
  type Dialect,
  type Operation,
  type Parameter,
  parameter,
  queryOf,
  wordOf,
  writeOperation,
} from './openapi-operations.ts';

/** Names of the types in every document. */
export const metaTypes = {
  resourceList: 'meta/v1.APIResourceList',
  deleteOptions: 'meta/v1.DeleteOptions',
  listMeta: 'meta/v1.ListMeta',
  objectMeta: 'meta/v1.ObjectMeta',
  patch: 'meta/v1.Patch',
  status: 'meta/v1.Status',
  watchEvent: 'meta/v1.WatchEvent',
} as const;

/** The type name of a subresource's kind: `autoscaling/v1.Scale`. */
export function subresourceType(sub: Subresource, version: ServedVersion): string {
  const group = sub.group ?? version.group;
  const home = group === '' ? 'core' : (group.split('.')[0] ?? group);
  return `${home}/${sub.version ?? version.version}.${sub.kind}`;
}

/** The type name of the lists of a resource: `apps/v1.DeploymentList`. */
export function listTypeOf({ resource, version: { schema } }: ServedResource): string {
  const { listKind } = resource.definition;
  return listKind === undefined ? `${schema.name}List` : schema.name.replace(/[^.]*$/, listKind);
}

type Paths = [path: string, item: JsonObject][];

/** The dependencies of paths. */
export interface PathWriter {
  readonly names: Names;
  readonly dialect: Dialect;
  /** Resources are served in CBOR, too. */
  readonly cbor: boolean;
  readonly describe: Describe;
}

/** The path at which a group version lists its resources. */
export function rootPath(version: ServedVersion, names: Names, dialect: Dialect): [path: string, item: JsonObject] {
  const writer = writerFor(version, { names, dialect, cbor: false, describe: () => undefined });
  add(writer, `${rootOf(version)}/`, [resourcesOperation(writer)]);
  return writer.paths[0] as Paths[number];
}

/** The paths of a resource with their operations. */
export function resourcePaths(version: ServedVersion, served: ServedResource, options: PathWriter): Paths {
  const writer = writerFor(version, options);
  addResource(writer, served);
  return writer.paths;
}

/** The path of the version of the server, which is of no group. */
export const versionPath: [path: string, item: JsonObject] = [
  '/version/',
  {
    get: {
      description: 'get the version information',
      operationId: 'getCodeVersion',
      produces: ['application/json'],
      responses: { 200: { description: 'OK' }, 401: { description: 'Unauthorized' } },
      schemes: ['https'],
      tags: ['version'],
    },
  },
];

interface Writer extends PathWriter {
  readonly version: ServedVersion;
  readonly word: string;
  readonly paths: Paths;
}

const writerFor = (version: ServedVersion, options: PathWriter): Writer => ({
  ...options,
  version,
  word: wordOf(version, options.names),
  paths: [],
});

/** Adds a path. The parameters that all of its operations have are those of the path. */
function add(writer: Writer, path: string, operations: readonly Operation[], more: readonly Parameter[] = []): void {
  const [first] = operations;
  if (first === undefined) return;
  const { version, names, dialect } = writer;
  const shared = first.query.filter((name) => operations.every(({ query }) => query.includes(name)));
  const item: JsonObject = {};
  for (const operation of operations) {
    const query = operation.query.filter((name) => !shared.includes(name));
    item[operation.method] = writeOperation({ ...operation, query }, version, names, dialect);
  }
  const inPath = ['name', 'namespace', 'path'].filter((name) => path.includes(`{${name}}`));
  const parameters = [
    ...inPath.map((name) => parameter(name, 'path', dialect)),
    ...shared.map((name) => parameter(name, 'query', dialect)),
    ...more,
  ];
  if (parameters.length > 0) item['parameters'] = parameters.sort(byName);
  writer.paths.push([path, item]);
}

const byName = (a: Parameter, b: Parameter) => (a.name < b.name ? -1 : 1);

function addResource(writer: Writer, served: ServedResource): void {
  const { definition } = served.resource;
  const root = rootOf(writer.version);
  const base = `${definition.namespaced ? '/namespaces/{namespace}' : ''}/${definition.plural}`;
  const namespaced = definition.namespaced ? 'Namespaced' : '';
  const verbs = new Set<string>(definition.verbs);
  const make = (verb: Verb, suffix = '') => operationOf(writer, served, verb, namespaced, suffix);
  const offered = (...some: Verb[]) => some.filter((verb) => verbs.has(verb)).map((verb) => make(verb));
  add(writer, root + base, offered('list', 'create', 'deletecollection'));
  add(writer, `${root}${base}/{name}`, offered('get', 'update', 'patch', 'delete'));
  if (definition.namespaced && verbs.has('list')) {
    const everywhere = operationOf(writer, served, 'list', '', 'ForAllNamespaces');
    add(writer, `${root}/${definition.plural}`, [everywhere]);
  }
  for (const sub of definition.subresources) {
    const path = `${root}${base}/{name}/${sub.name}`;
    if (sub.type === 'connect') addConnection(writer, served, sub, path);
    else add(writer, path, subresourceOperations(writer, served, sub));
  }
  if (!verbs.has('watch')) return;
  add(writer, `${root}/watch${base}`, [make('watchlist')]);
  add(writer, `${root}/watch${base}/{name}`, [make('watch')]);
  if (definition.namespaced) {
    const everywhere = operationOf(writer, served, 'watchlist', '', 'ForAllNamespaces');
    add(writer, `${root}/watch/${definition.plural}`, [everywhere]);
  }
}

function addConnection(writer: Writer, served: ServedResource, sub: ConnectSubresource, path: string): void {
  const { group, version } = writer.version;
  const { kind, namespaced } = served.resource.definition;
  const { produces } = mediaOf(writer, 'get', false);
  const resource: ConnectedResource = {
    kind: { group, version, kind },
    word: writer.word,
    namespaced: namespaced ? 'Namespaced' : '',
    produces,
  };
  const options = optionParameters(sub.connect.options, writer);
  const isText = sub.connect.answers === 'text';
  const more = isText ? [...options, parameter('pretty', 'query', writer.dialect)] : options;
  add(writer, path, connectOperations(resource, sub), more);
  if (sub.connect.answers !== 'proxy') return;
  add(writer, `${path}/{path}`, connectOperations(resource, sub, 'WithPath'), options);
}

type Verb = 'get' | 'list' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection' | 'watch' | 'watchlist';

const media = ['application/json', 'application/yaml'];
const strategicMedia = 'application/strategic-merge-patch+json';
const patchMedia = [
  'application/json-patch+json',
  'application/merge-patch+json',
  strategicMedia,
  'application/apply-patch+yaml',
];

/** The media types of bodies of a verb. */
function mediaOf({ names, cbor }: PathWriter, verb: Verb, isCustom: boolean): Pick<Operation, 'consumes' | 'produces'> {
  const streams = verb === 'list' || verb === 'watch' || verb === 'watchlist';
  const patches = patchMedia.filter((type) => !isCustom || type !== strategicMedia);
  const binary = isCustom ? [] : [names.protobufMediaType];
  return {
    consumes: verb === 'patch' ? [...patches, ...(cbor ? ['application/apply-patch+cbor'] : [])] : ['*/*'],
    produces: [
      ...media,
      ...binary,
      ...(cbor ? ['application/cbor'] : []),
      ...(streams ? ['application/json', ...binary].map((type) => `${type};stream=watch`) : []),
      ...(streams && cbor ? ['application/cbor-seq'] : []),
    ],
  };
}

/** The verbs in operations. `id` is the first word of the operation id. */
const shapes: {
  readonly [verb in Verb]: Pick<Operation, 'method' | 'action' | 'codes'> & {
    readonly id: string;
    readonly says: string;
  };
} = {
  get: { method: 'get', action: 'get', codes: [200], id: 'read', says: 'read the specified' },
  list: { method: 'get', action: 'list', codes: [200], id: 'list', says: 'list or watch objects of kind' },
  create: { method: 'post', action: 'post', codes: [200, 201, 202], id: 'create', says: 'create a' },
  update: { method: 'put', action: 'put', codes: [200, 201], id: 'replace', says: 'replace the specified' },
  patch: { method: 'patch', action: 'patch', codes: [200, 201], id: 'patch', says: 'partially update the specified' },
  delete: { method: 'delete', action: 'delete', codes: [200, 202], id: 'delete', says: 'delete a' },
  deletecollection: {
    method: 'delete',
    action: 'deletecollection',
    codes: [200],
    id: 'delete',
    says: 'delete collection of',
  },
  watch: { method: 'get', action: 'watch', codes: [200], id: 'watch', says: 'watch changes to an object of kind' },
  watchlist: {
    method: 'get',
    action: 'watchlist',
    codes: [200],
    id: 'watch',
    says: 'watch changes to objects of kind',
  },
};

function operationOf(
  writer: Writer,
  served: ServedResource,
  verb: Verb,
  namespaced: string,
  suffix: string,
): Operation {
  const { group, version } = writer.version;
  const { kind, strategy, custom } = served.resource.definition;
  const { id, says, ...shape } = shapes[verb];
  const typeName = (name: string) => openApiName(name, writer.names);
  const own = typeName(served.version.schema.name);
  const collection = verb === 'deletecollection' ? 'Collection' : '';
  const listed = verb === 'watchlist' ? 'List' : '';
  const written = verb === 'create' || verb === 'update';
  const deletes = verb === 'delete' || verb === 'deletecollection';
  const body = written
    ? own
    : verb === 'patch'
      ? typeName(metaTypes.patch)
      : deletes
        ? typeName(metaTypes.deleteOptions)
        : undefined;
  const answer = {
    list: typeName(listTypeOf(served)),
    watch: typeName(metaTypes.watchEvent),
    watchlist: typeName(metaTypes.watchEvent),
    // A delete returns the object while it is terminating, otherwise a Status.
    delete: strategy.returnsDeleted === true && strategy.termination === undefined ? own : typeName(metaTypes.status),
    deletecollection: typeName(metaTypes.status),
    get: own,
    create: own,
    update: own,
    patch: own,
  }[verb];
  return {
    ...shape,
    id: `${id}${writer.word}${collection}${namespaced}${kind}${listed}${suffix}`,
    description: `${says} ${kind}`,
    kind: { group, version, kind },
    query: ['pretty', ...queryOf[verb]],
    ...(body === undefined ? {} : { body }),
    bodyRequired: written || verb === 'patch',
    ...mediaOf(writer, verb, custom !== undefined),
    answer,
  };
}

function subresourceOperations(writer: Writer, served: ServedResource, sub: Subresource): Operation[] {
  const { definition } = served.resource;
  const name = sub.kind === definition.kind ? served.version.schema.name : subresourceType(sub, writer.version);
  const type = openApiName(name, writer.names);
  const kind = {
    group: sub.group ?? writer.version.group,
    version: sub.version ?? writer.version.version,
    kind: sub.kind,
  };
  const suffix = sub.name.split('/').map(capital).join('');
  return sub.verbs.flatMap((verb): Operation[] => {
    if (verb !== 'get' && verb !== 'create' && verb !== 'update' && verb !== 'patch') return [];
    const { body, ...whole } = operationOf(writer, served, verb, definition.namespaced ? 'Namespaced' : '', suffix);
    const own = body === undefined ? {} : { body: verb === 'patch' ? body : type };
    return [{ ...whole, kind, answer: type, ...own }];
  });
}

function resourcesOperation(writer: Writer): Operation {
  const types = [...media, writer.names.protobufMediaType];
  return {
    method: 'get',
    id: `get${writer.word}APIResources`,
    description: 'get available resources',
    query: [],
    consumes: types,
    produces: types,
    answer: openApiName(metaTypes.resourceList, writer.names),
    codes: [200],
  };
}
