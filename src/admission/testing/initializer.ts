import {
  type ApiObject,
  atOnce,
  defaultFeatures,
  formatGroupResource,
  type JsonObject,
  jsonCopy,
  namesFor,
  parseGroupVersion,
} from '../../meta/index.ts';
import { compile, type StructSchema } from '../../schema/index.ts';
import { ObjectMeta } from '../../types/meta-v1.ts';
import { createChain, runMutating, runValidating } from '../chain.ts';
import type {
  AdmissionPlugin,
  AdmissionRequest,
  ObjectLookup,
  PluginInitializer,
  RequestVersions,
  ResourceAttributes,
  ResourceKey,
  ServedKind,
} from '../types.ts';

/** The names of the reference server. */
export const names = namesFor('k8s.io');

/** An object of a resource in the fake lookup. */
export interface StoredObject {
  readonly resource: string;
  readonly object: ApiObject;
}

export function stored(resource: string, name: string, fields: JsonObject = {}, namespace = ''): StoredObject {
  const { metadata, ...rest } = fields;
  const place = namespace === '' ? {} : { namespace };
  const meta = { name, ...place, ...((metadata as JsonObject | undefined) ?? {}) };
  return { resource, object: { kind: 'Any', apiVersion: 'v1', metadata: meta, ...rest } as ApiObject };
}

/** The plural name of a resource: `storageclasses` for the schema of StorageClass and for `storageclasses.storage.k8s.io`. */
export function pluralOf(key: ResourceKey): string {
  const name = typeof key === 'string' ? (key.split('.')[0] ?? '') : key.name.replace(/^.*\./, '').toLowerCase();
  if (typeof key === 'string') return name;
  return name.endsWith('s') ? `${name}es` : `${name.replace(/cy$/, 'cie')}s`;
}

/** A plugin initializer over these objects, whose authorizer denies the attributes for which `denies` holds. */
export function fakeInitializer(
  objects: readonly StoredObject[] = [],
  denies: (attributes: ResourceAttributes) => boolean = () => false,
): PluginInitializer {
  const inPlace = (key: ResourceKey, namespace: string) =>
    objects.filter(
      (one) =>
        one.resource.split('.')[0] === pluralOf(key) &&
        (namespace === '' || one.object.metadata.namespace === namespace),
    );
  return {
    names,
    random: { uuid: () => '0', integer: () => 0 },
    features: { ...defaultFeatures, MutatingAdmissionPolicy: true },
    configurations: {},
    namespace: () => ({ terminating: false, revision: 1 }),
    objects: {
      get: (resource, namespace, name) =>
        inPlace(resource, namespace).find(({ object }) => object.metadata.name === name)?.object,
      getAs: ({ resource }, namespace, name) =>
        inPlace(resource, namespace).find(({ object }) => object.metadata.name === name)?.object,
      selectAs: async ({ resource }, namespace, selector) => {
        const selected = inPlace(resource, namespace).filter(({ object }) =>
          selector.matches(object.metadata.labels ?? {}),
        );
        return { length: selected.length, read: (index) => selected[index]?.object };
      },
      list: (resource, namespace) => inPlace(resource, namespace).map(({ object }) => object),
      cached: (resource, namespace) => ({
        objects: inPlace(resource, namespace).map(({ object }) => object),
        revision: 1,
      }),
      derived:
        (resource, { compile, join }) =>
        () =>
          join(inPlace(resource, '').map(({ object }) => atOnce(compile(object as never)))),
    } as ObjectLookup,
    authorize: (_, attributes) => ({
      allowed: !denies(attributes),
      reason: denies(attributes) ? 'no rule allows it' : '',
    }),
    clock: { now: () => 0, monotonic: () => 0 },
    webhook: () => () => Promise.reject(new Error('no webhooks')),
    reviewImages: () => Promise.reject(new Error('no webhook')),
    webhookFailed: () => {},
    webhookObserver: { called: () => {}, rejected: () => {}, failedOpen: () => {}, conditions: () => {} },
    authorizeAccess: ({ verb, resource }) => ({
      allowed: resource !== undefined && !denies({ verb, ...resource }),
      reason: '',
    }),
    findKind: (apiVersion, kind) =>
      kind === 'Unknown'
        ? undefined
        : {
            group: '',
            version: 'v1',
            ...parseGroupVersion(apiVersion),
            resource: `${kind.toLowerCase()}s`,
            namespaced: kind !== 'Node',
          },
    policyChecked: () => {},
    mutationChecked: () => {},
    updateQuotaStatus: () => Promise.resolve(undefined),
    createNamespace: () => Promise.resolve(),
    tolerationSeconds: { notReady: 300, unreachable: 300 },
    requestedSubject: () => ({ commonName: '', organizations: [] }),
  };
}

type Part = Partial<AdmissionRequest> & { readonly warnings?: string[]; readonly schema?: StructSchema };

/** A create request for the object in the namespace `n`, overridden by `part`; an update with an `oldObject`. */
export function requestFor(resource: string, object: JsonObject, part: Part = {}): AdmissionRequest {
  const [plural = '', group = ''] = resource.split(/\.(.*)/s);
  const metadata = { name: 'x', ...((object['metadata'] as JsonObject | undefined) ?? {}) };
  const { warnings = [], schema = ObjectMeta, ...rest } = part;
  const served = {
    kind: { group, version: 'v1', kind: 'Any' },
    resource: { group, version: 'v1', resource: plural },
  };
  const operation = rest.operation ?? (rest.oldObject === undefined ? 'CREATE' : 'UPDATE');
  const request: AdmissionRequest = {
    operation,
    ...served,
    subresource: '',
    namespace: 'n',
    name: 'x',
    object: jsonCopy({ kind: 'Any', apiVersion: 'v1', ...object, metadata }) as ApiObject,
    oldObject: undefined,
    user: { name: 'u', groups: [] },
    dryRun: false,
    began: 0,
    options: () => ({ kind: `${operation.charAt(0)}${operation.slice(1).toLowerCase()}Options` }),
    versions: oneVersion(served, schema, () => request),
    warn: (text) => warnings.push(text),
    ...rest,
  };
  return request;
}

/** The objects of a request for a resource that is served in its own version only. */
const oneVersion = (served: ServedKind, schema: StructSchema, request: () => AdmissionRequest): RequestVersions => ({
  equivalents: [served],
  read: (part) => request()[part],
  write: (_, value) => {
    const { object = {} as ApiObject } = request();
    for (const key of Object.keys(object)) delete object[key];
    Object.assign(object, jsonCopy(value));
  },
  type: () => compile(schema, names),
});

/** The object after both phases, or the reason in the message of the rejection. */
export async function outcome(plugin: AdmissionPlugin, request: AdmissionRequest): Promise<JsonObject | string> {
  const chain = createChain([plugin]);
  try {
    await runMutating(chain, request);
    await runValidating(chain, request);
  } catch (error) {
    if (error instanceof Error) {
      const start = `${formatGroupResource(request.resource)} "${request.name}" is forbidden: `;
      return error.message.startsWith(start) ? error.message.slice(start.length) : `?? ${error.message}`;
    }
    throw error;
  }
  return request.object ?? {};
}

export const old = (fields: JsonObject): ApiObject => stored('', 'x', fields).object;

/** A pod with the one container `c`. */
export const podOf = (container: JsonObject = {}, spec: JsonObject = {}): JsonObject => ({
  spec: { containers: [{ name: 'c', ...container }], ...spec },
});
