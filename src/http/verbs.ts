import {
  formatGroupVersion,
  inTurns,
  type JsonObject,
  type Names,
  Stage,
  StatusError,
  selectorBytes,
  statusError,
  type Turns,
} from '../meta/index.ts';
import {
  type CachedObject,
  type Change,
  type Deprecation,
  internalName,
  isCustomObject,
  isStorageVersion,
  isUnsafe,
  largeBytes,
  type Representation,
  type Resource,
  readForRepresentation,
  readIncludeObject,
  representObject,
  type Target,
  type WatchOptions,
  type WriteOptions,
  type WriteResult,
} from '../registry/index.ts';
import { type CompiledType, compile, type StructSchema } from '../schema/index.ts';
import { pageNotFound } from './answers.ts';
import { auditList } from './audit-list.ts';
import type { Call, Serving } from './call.ts';
import {
  createNegotiation,
  type Negotiated,
  type Negotiation,
  type Offered,
  patchType,
  type Transform,
  valueAnswer,
} from './codecs/negotiation.ts';
import { builtInGroups } from './documents/api-groups.ts';
import { deleteOptionsKind, readObjectBody, readPatch } from './listener/bodies.ts';
import { WatchBody } from './listener/watch-body.ts';
import { builtInSchema } from './openapi/built-in-types.ts';
import { ReadTurns } from './read-turns.ts';
import { connectAnswer } from './relay/connect.ts';
import { isWebSocket, MessageBody, openWebSocket } from './relay/web-socket.ts';
import type { RequestInfo, ResourcePath } from './request-info.ts';
import type { ApiResponse, Chunk } from './types.ts';
import { deletionOptions, readDeleteOptions, writeOptions } from './write-options.ts';

/** The dependencies of the verbs. */
interface Verbs extends Serving {
  readonly negotiation: Negotiation;
  /** How bodies of delete requests, which are DeleteOptions, may be encoded. */
  readonly optionBodies: Offered;
  readonly deleteOptionsType: CompiledType;
}

/** Serves requests for resources. Throws StatusError. */
export function createVerbs(options: Serving): (call: Call) => ApiResponse | Promise<ApiResponse> {
  const { names, registry, codecs, findType } = options;
  const negotiation = createNegotiation(codecs.all, codecs.all, names, { routed: true });
  const verbs: Verbs = {
    ...options,
    negotiation,
    optionBodies: negotiation.bodies,
    deleteOptionsType: compile(builtInSchema(findType, deleteOptionsKind) as StructSchema, names),
  };
  const customVerbs: Verbs = {
    ...verbs,
    negotiation: createNegotiation(codecs.custom, codecs.all, names, { routed: false }),
  };
  const builtInVersions = new Set(
    registry.resources
      .flatMap(({ versions }) => [...versions.values()])
      .filter(({ declared: { schema } }) => findType(schema.name) === schema),
  );
  const isBuiltIn = builtInGroups(registry);
  return (call) => {
    const path = call.info.resource as ResourcePath;
    const target = targetOf(call.resource, path);
    if (target === undefined) {
      // In groups of custom resources no path is known but those of the resources.
      if (path.group === '' || isBuiltIn(path.group)) throw statusError.noSuchResource();
      return pageNotFound;
    }
    const { resource, name, subresource } = target;
    const { verb } = call.info;
    const { method } = call.request;
    const connection = resource.connections.get(subresource);
    const isProxied = connection?.answers === 'proxy' && name !== '' && verb !== 'watch' && proxyMethods.has(method);
    if (!isProxied) {
      const isCustom = resource.definition.custom !== undefined;
      if (isCustom && lacksNamespace(target, verb)) return pageNotFound;
      checkVerb(target, verb);
      const isHead = method === 'HEAD' && !isCustom;
      if (isHead || (verb === 'watch' && method !== 'GET' && method !== 'HEAD')) throw statusError.methodNotAllowed();
    }
    const version = resource.versions.get(target.version);
    if (version?.deprecation !== undefined) reportDeprecation(call, version.deprecation, names);
    if (connection !== undefined) return connectAnswer(options, call, target, connection);
    const serve = servers[verb];
    if (serve === undefined) throw statusError.methodNotAllowed();
    call.reached = true;
    return serve(version !== undefined && builtInVersions.has(version) ? verbs : customVerbs, call, target);
  };
}

/** Adds the warning and the audit annotations of a deprecated version. */
function reportDeprecation({ warn, audit }: Call, { warning, removedRelease }: Deprecation, { domain }: Names): void {
  audit?.annotate(`${domain}/deprecated`, 'true');
  if (removedRelease !== undefined) audit?.annotate(`${domain}/removed-release`, removedRelease);
  warn(warning);
}

/** The target of the path; undefined if there is no such resource. */
function targetOf(resource: Resource | undefined, path: ResourcePath): Target | undefined {
  const { version, name, subresource } = path;
  if (resource === undefined || (path.rest !== '' && subresource !== 'proxy')) return undefined;
  const { definition } = resource;
  if (!definition.namespaced) {
    // The request info of a namespace has its own name as its namespace.
    const own = definition.group === '' && definition.plural === 'namespaces' && path.namespace === name;
    if (path.namespace !== '' && !own) return undefined;
    return { resource, version, namespace: '', name, subresource };
  }
  if (path.namespace === '' && name !== '') return undefined;
  return { resource, version, namespace: path.namespace, name, subresource };
}

/** Whether a request of a namespaced kind has no namespace, although its verb needs one: custom objects have no such path. */
const lacksNamespace = ({ resource, namespace }: Target, verb: string): boolean =>
  resource.definition.namespaced && namespace === '' && verb !== 'list' && verb !== 'watch';

/** @throws StatusError 404 when the target serves no verb, 405 when it serves only others */
export function checkVerb({ resource, namespace, name, subresource }: Target, verb: string): void {
  let served: readonly string[];
  if (subresource !== '') served = resource.subresources.get(subresource)?.verbs ?? [];
  else if (name !== '') served = resource.verbs.object;
  else if (resource.definition.namespaced && namespace === '') served = resource.verbs.acrossNamespaces;
  else served = resource.verbs.collection;
  if (served.includes(verb)) return;
  if (resource.definition.custom !== undefined) {
    if (subresource !== '' && !resource.subresources.has(subresource)) throw statusError.notFound(resource.id, name);
    if (name === '' && (verb === 'patch' || verb === 'update')) throw statusError.badRequest('name must be provided');
    throw statusError.methodNotSupported(resource.id, verb);
  }
  // There is no route for the watch of a subresource: it is missing rather than not allowed.
  if (served.length === 0 || (verb === 'watch' && subresource !== '')) throw statusError.noSuchResource();
  throw statusError.methodNotAllowed();
}

/** Whether the objects of the target can be read. */
const isReadable = ({ resource, subresource }: Target): boolean =>
  (subresource === '' ? resource.definition : resource.subresources.get(subresource))?.verbs.includes('get') === true;

/** The methods that are proxied to a backend, whatever verbs its subresource has. */
const proxyMethods = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']);

/** The verb that a user needs in addition to delete an object that cannot be decoded. */
const unsafeVerb = 'unsafe-delete-ignore-read-errors';

type Serve = (verbs: Verbs, call: Call, target: Target) => Promise<ApiResponse>;

const servers: { readonly [verb: string]: Serve } = {
  async get(verbs, call, target) {
    const form = verbs.negotiation.objects(call.request, call.info);
    const view = form.view ?? tableView(verbs, call, form);
    call.stages.enter(Stage.store);
    const object = await verbs.registry.get(target, readOptions(call.info));
    call.stages.enter(Stage.serialization);
    if (form.as?.kind === 'PartialObjectMetadataList') throw wrongShape(target, form.as, 'object');
    const body = encodeObject(call, target, object, view, form);
    return { status: 200, headers: form.headers, body: body instanceof Promise ? await body : body };
  },

  async list(verbs, call, target) {
    const form = verbs.negotiation.lists(call.request, call.info);
    const view = form.view ?? tableView(verbs, call, form);
    const turns = new ReadTurns(call);
    if (call.info.selectorLength > 0) call.reservation.addSelectors(selectorBytes(call.info.selectors));
    call.stages.enter(Stage.store);
    let list = await verbs.registry.list(target, readOptions(call.info, turns));
    call.stages.enter(Stage.serialization);
    if (form.as?.kind === 'PartialObjectMetadata') throw wrongShape(target, form.as, 'list');
    if (call.audit?.recordsResponse === true) list = await auditList(call.audit, target, list, view, turns);
    return { status: 200, headers: form.headers, body: await form.codec.encodeList(target, list, view, turns) };
  },

  async watch(verbs, call, target) {
    const { request, info, series } = call;
    const form = verbs.negotiation.watches(request, info);
    const view = form.view ?? tableView(verbs, call, form);
    const opening = request.upgrades && isWebSocket(request.headers) ? openWebSocket(request) : undefined;
    if (opening !== undefined && opening.status !== 101) return opening;
    if (info.selectorLength > 0) call.reservation.addSelectors(selectorBytes(info.selectors));
    call.stages.enter(Stage.store);
    const isRemote = request.whenOver !== undefined;
    const stream = await verbs.registry.watch(target, readOptions(info, call.turns, isRemote));
    const { signal } = request;
    signal.addEventListener('abort', () => stream.close(), { once: true });
    if (signal.aborted) stream.close();
    const { watch: codec } = form.codec;
    const separate = opening !== undefined;
    const { clock, log } = verbs;
    const body = new WatchBody({
      stream,
      writer: codec.writer(target, view),
      codec,
      separate,
      series: series.watch,
      turns: call.turns,
      unread: isRemote ? call.reservation : undefined,
      clock,
      log,
    });
    if (opening === undefined) return { status: 200, headers: form.headers, body };
    return { ...opening, body: new MessageBody(body, codec.text ? 'text' : 'binary') };
  },

  create: (verbs, call, target) => writeBody(verbs, call, target, 'create'),

  update: (verbs, call, target) => writeBody(verbs, call, target, 'update'),

  async patch(verbs, call, target) {
    const strategic = target.resource.definition.custom === undefined;
    const type = patchType(call.request.headers['content-type'], verbs.codecs.patches, { strategic });
    const form = verbs.negotiation.objects(call.request, call.info);
    const options = writeOptions(call, verbs.names, type.format === 'apply' ? 'apply' : 'patch');
    call.stages.enter(Stage.body);
    const change = await readPatch(call, type);
    if (call.audit !== undefined && change.malformed === undefined) {
      await call.audit.requestValue(change.patch, call.turns);
    }
    return write(verbs, call, target, change, options, form);
  },

  async delete(verbs, call, target) {
    const form = verbs.negotiation.objects(call.request, call.info);
    const options = await readDeleteOptions(call, verbs.deleteOptionsType, verbs.optionBodies);
    const { AllowUnsafeMalformedObjectDeletion: mayBeUnsafe } = verbs.registry.features;
    if (mayBeUnsafe && isUnsafe(options)) {
      call.audit?.annotate(`apiserver.${verbs.names.domain}/unsafe-delete-ignore-read-error`, '');
      await verbs.permit(call, unsafeVerb);
    }
    return write(verbs, call, target, { verb: 'delete', options }, deletionOptions(call, options), form);
  },

  async deletecollection(verbs, call, target) {
    const form = verbs.negotiation.objects(call.request, call.info);
    const view = form.view ?? tableView(verbs, call, form);
    const options = await readDeleteOptions(call, verbs.deleteOptionsType, verbs.optionBodies);
    const { turns } = call;
    const read = readOptions(call.info, turns);
    call.stages.enter(Stage.store);
    let list = await verbs.registry.deleteCollection(target, read, options, deletionOptions(call, options));
    call.stages.enter(Stage.serialization);
    if (form.as?.kind === 'PartialObjectMetadata') throw wrongShape(target, form.as, 'list');
    if (call.audit?.recordsResponse === true) list = await auditList(call.audit, target, list, view, turns);
    return { status: 200, headers: form.headers, body: await form.codec.encodeList(target, list, view, turns) };
  },
};

/** Writes the object in the body of a request. */
async function writeBody(verbs: Verbs, call: Call, target: Target, verb: 'create' | 'update'): Promise<ApiResponse> {
  const { objects, unread, bodies } = verbs.negotiation;
  const form = (isReadable(target) ? objects : unread)(call.request, call.info);
  call.stages.enter(Stage.body);
  const object = await readObjectBody(call, typeOf(target), bodies);
  if (call.audit !== undefined) await call.audit.requestObject(object.value, call.turns);
  return write(verbs, call, target, { verb, object }, writeOptions(call, verbs.names, verb), form);
}

/** Makes the change and responds with its result. */
async function write(
  verbs: Verbs,
  call: Call,
  target: Target,
  change: Change,
  options: WriteOptions,
  form: Negotiated,
): Promise<ApiResponse> {
  const view = form.view ?? tableView(verbs, call, form);
  const result = await verbs.registry.write(target, change, options);
  // One transaction ends the writes of many users: those beyond a slice are answered in the order of their turns.
  if (call.turns.over) await call.turns.next();
  call.stages.enter(Stage.serialization);
  const { created, deleted } = result;
  // With the deprecated orphanDependents, a deletion that has only begun has status 202.
  const begun = change.verb === 'delete' && deleted === undefined && change.options['orphanDependents'] === false;
  const status = created ? 201 : begun ? 202 : 200;
  if (result.object === undefined) {
    const value = created ? doneStatus : deletedStatus(target, result);
    call.audit?.responseStatus(value);
    return valueAnswer(status, value, form);
  }
  if (form.as?.kind === 'PartialObjectMetadataList') throw wrongShape(target, form.as, 'object');
  if (change.verb === 'create') call.audit?.named(result.object.name);
  const body = encodeObject(call, target, result.object, view, form);
  return { status, headers: form.headers, body: body instanceof Promise ? await body : body };
}

/** The response to the creation of a virtual object. */
const doneStatus: JsonObject = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/** The response to the deletion of an object. */
function deletedStatus({ resource }: Target, { deleted }: WriteResult): JsonObject {
  const { group, plural } = resource.definition;
  const details = {
    name: deleted?.name ?? '',
    ...(group === '' ? {} : { group }),
    kind: plural,
    uid: deleted?.uid ?? '',
  };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

/** The apiVersion and kind of the objects that a target accepts. */
function typeOf(target: Target) {
  const { resource, version, subresource } = target;
  const { definition, versions } = resource;
  const served = definition.subresources.find(({ name }) => name === subresource);
  const own = versions.get(version)?.apiVersion ?? '';
  const apiVersion =
    served?.version === undefined ? own : formatGroupVersion({ group: served.group ?? '', version: served.version });
  return { apiVersion, kind: served?.kind ?? definition.kind, namesKind: isCustomObject(target) };
}

/** @throws StatusError 400 for the parameter `includeObject` */
function tableView({ clock }: Verbs, { info }: Call, { as }: Negotiated): Representation {
  const includeObject = readIncludeObject(info.query.get('includeObject') ?? undefined);
  return { as: 'table', version: as?.version ?? 'v1', includeObject, now: clock.now() };
}

/** The 406 for a list as PartialObjectMetadata, or for an object as PartialObjectMetadataList. */
function wrongShape(target: Target, { kind }: Transform, shape: 'object' | 'list'): StatusError {
  const what =
    shape === 'list' ? `is a list (*${internalName(target)}List)` : `is not a list (*${internalName(target)})`;
  return new StatusError(406, 'NotAcceptable', `you requested ${kind}, but the requested object ${what}`);
}

/** The body of a response with one object. */
function encodeObject(
  call: Call,
  target: Target,
  object: CachedObject,
  view: Representation,
  form: Negotiated,
): Chunk | Promise<Chunk> {
  const { audit, turns } = call;
  const { codec } = form;
  if (audit?.recordsResponse === true) return encodeInTurns(call, target, object, view, form);
  // The stored bytes are sent as they are.
  if (view.as === 'object' && isStorageVersion(target)) return codec.encodeObject(object.bytes, turns);
  if (object.bytes.length >= largeBytes) return encodeInTurns(call, target, object, view, form);
  return codec.encodeObject(representObject(target, object, view), turns);
}

/** The same for a large object, and for one that the audit records. */
async function encodeInTurns(
  { audit, turns }: Call,
  target: Target,
  object: CachedObject,
  view: Representation,
  { codec }: Negotiated,
): Promise<Chunk> {
  const read = await inTurns(readForRepresentation(target, object, view), turns);
  const json = representObject(target, object, view, read);
  if (audit?.recordsResponse === true) await audit.responseObject(json, turns);
  return codec.encodeObject(json, turns);
}

// Query parameters

const noOptions: WatchOptions = {};

/** The options of a read. `turns`: of its long work. */
function readOptions({ query, selectors }: RequestInfo, turns?: Turns, isRemote?: boolean): WatchOptions {
  if (query.size === 0 && turns === undefined) return noOptions;
  const parameter = (name: string) => query.get(name) ?? undefined;
  return {
    turns,
    isRemote,
    labelSelector: selectors.labelSelector,
    fieldSelector: selectors.fieldSelector,
    resourceVersion: parameter('resourceVersion'),
    resourceVersionMatch: parameter('resourceVersionMatch'),
    limit: parameter('limit'),
    continue: parameter('continue'),
    sendInitialEvents: parameter('sendInitialEvents'),
    timeoutSeconds: parameter('timeoutSeconds'),
    allowWatchBookmarks: parameter('allowWatchBookmarks'),
  };
}
