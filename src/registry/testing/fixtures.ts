import type { AdmissionPlugin } from '../../admission/index.ts';
import {
  type ApiObject,
  type Clock,
  decodeText,
  type Json,
  type JsonObject,
  namesFor,
  type Random,
  receiveSelectors,
  type Selectors,
} from '../../meta/index.ts';
import {
  anyObject,
  bool,
  field,
  type Infer,
  int32,
  int64,
  list,
  map,
  type StructSchema,
  string,
  struct,
  time,
} from '../../schema/index.ts';
import { openMemoryStore, type Store } from '../../store/index.ts';
import { type DrivenClock, drivenClock } from '../../store/testing/driven-clock.ts';
import { lateStore } from '../../store/testing/late-store.ts';
import {
  allVerbs,
  type Change,
  createRegistry,
  type ListPiece,
  type ReadOptions,
  type Registry,
  type RegistryOptions,
  type ResourceDefinition,
  representList,
  representObject,
  type Target,
  type WatchOptions,
  type WriteOptions,
  type WriteResult,
} from '../index.ts';

const OwnerReference = struct('meta/v1.OwnerReference', {
  apiVersion: field(5, string),
  kind: field(1, string),
  name: field(3, string),
  uid: field(4, string),
  controller: field(6, bool, { nullable: true }),
});

export const ObjectMeta = struct('meta/v1.ObjectMeta', {
  name: field(1, string),
  generateName: field(2, string),
  namespace: field(3, string),
  selfLink: field(4, string),
  uid: field(5, string),
  resourceVersion: field(6, string),
  generation: field(7, int64),
  creationTimestamp: field(8, time),
  deletionTimestamp: field(9, time, { nullable: true }),
  deletionGracePeriodSeconds: field(10, int64, { nullable: true }),
  labels: field(11, map(string)),
  annotations: field(12, map(string)),
  ownerReferences: field(13, list(OwnerReference)),
  finalizers: field(14, list(string)),
  managedFields: field(17, list(anyObject)),
});

const typeMeta = { kind: field(1, string), apiVersion: field(2, string) };

/** A kind with defaults for what is not declared. */
function kind(
  declared: Pick<ResourceDefinition, 'plural' | 'kind'> & { schema: StructSchema } & Partial<ResourceDefinition>,
): ResourceDefinition {
  const { schema, ...rest } = declared;
  const group = declared.group ?? '';
  return {
    group,
    singular: declared.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced: true,
    verbs: allVerbs,
    versions: [{ version: 'v1', schema }],
    storage: { group, resource: declared.plural, version: 'v1' },
    subresources: [],
    columns: [],
    selectableFields: [],
    strategy: {},
    ...rest,
  };
}

const status = {
  name: 'status',
  type: 'status',
  verbs: ['get', 'patch', 'update'],
  kind: '',
  resetFields: [['spec']],
} as const;

/** Namespaced, with free data, without a strategy. */
export const notes = kind({
  plural: 'configmaps',
  kind: 'ConfigMap',
  schema: struct('core/v1.ConfigMap', {
    ...typeMeta,
    metadata: field(3, ObjectMeta),
    data: field(4, map(string)),
    binaryData: field(5, map(string)),
  }),
});

const DeploymentSpec = struct('apps/v1.DeploymentSpec', {
  replicas: field(1, int32, { nullable: true, default: 1, min: 0 }),
  image: field(2, string),
  node: field(3, string),
});
const DeploymentStatus = struct('apps/v1.DeploymentStatus', {
  ready: field(1, int32),
  phase: field(2, string),
});
const Deployment = struct('apps/v1.Deployment', {
  ...typeMeta,
  metadata: field(3, ObjectMeta),
  spec: field(4, DeploymentSpec),
  status: field(5, DeploymentStatus),
});
type Deployment = Infer<typeof Deployment>;

/** Namespaced, with status, generation, selectable fields and columns. */
const deployments = kind({
  group: 'apps',
  plural: 'deployments',
  kind: 'Deployment',
  schema: Deployment,
  subresources: [{ ...status, kind: 'Deployment' }],
  selectableFields: [
    { path: 'spec.node', value: (object) => (object as Deployment).spec?.node ?? '', indexed: true },
    { path: 'status.phase', value: (object) => (object as Deployment).status?.phase ?? '' },
  ],
  completion: (object) =>
    (object as Deployment).spec?.replicas === 0 ? { reason: 'Gone', message: 'Nothing runs "any more".' } : undefined,
  columns: [
    { name: 'Name', type: 'string', format: 'name', cell: ({ metadata }) => metadata.name ?? '' },
    { name: 'Replicas', type: 'integer', cell: (object) => (object as Deployment).spec?.replicas ?? 0 },
  ],
  strategy: {
    generation: true,
    unconditionalUpdate: false,
    validateUpdate: (object, old) =>
      (object as Deployment).spec?.node === (old as Deployment).spec?.node
        ? []
        : [{ reason: 'FieldValueInvalid', field: 'spec.node', message: 'Invalid value: field is immutable' }],
    warnings: (object) => ((object as Deployment).spec?.image === 'old' ? ['spec.image: old is old'] : []),
    statusWarnings: (object) => ((object as Deployment).status?.phase === 'Odd' ? ['status.phase: Odd is odd'] : []),
  },
});

/** Cluster-scoped, created by PUT too. */
const namespaces = kind({
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
  schema: struct('core/v1.Namespace', {
    ...typeMeta,
    metadata: field(3, ObjectMeta),
    status: field(4, struct('core/v1.NamespaceStatus', { phase: field(1, string) })),
  }),
  subresources: [{ ...status, kind: 'Namespace' }],
  selectableFields: [
    {
      path: 'status.phase',
      value: (object) => ((object['status'] as JsonObject | undefined)?.['phase'] as string) ?? '',
    },
  ],
  strategy: { createOnUpdate: true, returnsDeleted: true },
});

/** Two versions: `size` of `v1` is `spec.size` of `v2`, the storage version. */
const widgets = kind({
  group: 'example.com',
  plural: 'widgets',
  kind: 'Widget',
  schema: struct('example/v2.Widget', { ...typeMeta, metadata: field(3, ObjectMeta) }),
  versions: [
    {
      version: 'v2',
      schema: struct('example/v2.Widget', {
        ...typeMeta,
        metadata: field(3, ObjectMeta),
        spec: field(4, struct('example/v2.WidgetSpec', { size: field(1, int32) })),
      }),
    },
    {
      version: 'v1',
      schema: struct('example/v1.Widget', { ...typeMeta, metadata: field(3, ObjectMeta), size: field(4, int32) }),
      toStorage: ({ size, ...rest }) => ({ ...rest, spec: { size: size ?? 0 } }) as unknown as ApiObject,
      fromStorage: ({ spec, ...rest }) =>
        ({ ...rest, size: (spec as JsonObject | undefined)?.['size'] ?? 0 }) as unknown as ApiObject,
    },
  ],
  storage: { group: 'example.com', resource: 'widgets', version: 'v2' },
});

/** Expires after a minute; its grace period is that of the delete. */
const pings = kind({
  plural: 'pings',
  kind: 'Ping',
  schema: struct('core/v1.Ping', { ...typeMeta, metadata: field(3, ObjectMeta) }),
  strategy: { ttlSeconds: 60, returnsDeleted: true, gracePeriod: (_, asked) => asked ?? 0 },
});

/** Virtual, with a review handler. */
const reviews = kind({
  group: 'authorization.{domain}',
  plural: 'reviews',
  kind: 'Review',
  namespaced: false,
  verbs: ['create'],
  virtual: true,
  schema: struct('authorization/v1.Review', {
    ...typeMeta,
    metadata: field(3, ObjectMeta),
    spec: field(4, map(string)),
    status: field(5, map(string)),
  }),
});

/** Virtual, with a virtual list. */
const gauges = kind({
  group: '',
  plural: 'gauges',
  kind: 'Gauge',
  namespaced: false,
  verbs: ['get', 'list'],
  virtual: true,
  schema: struct('core/v1.Gauge', { ...typeMeta, metadata: field(3, ObjectMeta), level: field(4, string) }),
});

const virtualLists: NonNullable<RegistryOptions['virtualLists']> = new Map([
  [
    'gauges',
    async () =>
      ['a', 'b'].map((name) => ({ kind: 'Gauge', apiVersion: 'v1', metadata: { name }, level: `high ${name}` })),
  ],
]);

const reviewHandlers: NonNullable<RegistryOptions['reviewHandlers']> = new Map([
  [
    'reviews.authorization.k8s.io',
    (posted, { requester }) => ({ ...posted, status: { allowed: 'true', asked: requester.name } }),
  ],
]);

/** A deterministic generator. */
function seededRandom(seed = 1): Random {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  const hex = (digits: number) => next().toString(16).padStart(8, '0').slice(0, digits);
  return {
    integer: (below) => Math.floor((next() / 2 ** 32) * below),
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(8)}${hex(4)}`,
  };
}

export const names = namesFor('k8s.io');
const requester = { name: 'tester', groups: ['system:masters'] };
export const how: WriteOptions = {
  requester,
  dryRun: false,
  fieldManager: '',
  fieldValidation: 'Warn',
  force: false,
  warn: () => {},
};

export interface Bench {
  readonly store: Store;
  readonly clock: DrivenClock;
  readonly registry: Registry;
  readonly target: (plural: string, place?: Partial<Target>) => Target;
  /** Each writes in version v1, in namespace `ns`, and returns the object as JSON. */
  readonly create: (plural: string, object: JsonObject, options?: Partial<WriteOptions>) => Promise<ApiObject>;
  /** The same for any change, of the object `name` unless `place` names another. */
  readonly change: (
    plural: string,
    place: string | Partial<Target>,
    change: Change,
    options?: Partial<WriteOptions>,
  ) => Promise<ApiObject>;
  readonly write: (
    plural: string,
    place: Partial<Target>,
    change: Change,
    options?: Partial<WriteOptions>,
  ) => Promise<WriteResult>;
  readonly read: (plural: string, name: string, options?: ReadOptions) => Promise<ApiObject>;
  /** Names of the objects of a list, and the rest of it. */
  readonly names: (
    plural: string,
    options?: QueryTexts,
    place?: Partial<Target>,
  ) => Promise<{ names: string[]; list: JsonObject }>;
}

/** Query parameters of a list or watch, with selectors as text. */
export interface QueryTexts extends Omit<WatchOptions, keyof Selectors> {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

export const optionsOf = ({ labelSelector = '', fieldSelector = '', ...rest }: QueryTexts): WatchOptions => ({
  ...rest,
  ...receiveSelectors(labelSelector, fieldSelector),
});

/** The options of a registry, with its admission plugins as they are. */
type BenchOptions = Omit<Partial<RegistryOptions>, 'admission'> & { readonly admission?: readonly AdmissionPlugin[] };

/** A registry over a memory store, with the kinds of this file. */
export function bench({ admission = [], ...options }: BenchOptions = {}): Bench {
  const clock = drivenClock();
  const store = options.store ?? openMemoryStore({ clock: clock as Clock });
  const registry = createRegistry({
    store,
    names,
    clock,
    random: seededRandom(),
    definitions: [notes, deployments, namespaces, widgets, pings, reviews, gauges],
    admission: () => admission,
    authorize: () => ({ allowed: true, reason: '' }),
    reviewHandlers,
    virtualLists,
    ...options,
  });
  const target = (plural: string, place: Partial<Target> = {}): Target => {
    const { version = 'v1' } = place;
    const resource = registry.resources.find(
      ({ definition: { custom, plural: own, storage } }) =>
        own === plural && (custom === undefined || storage.version === version),
    );
    if (resource === undefined) throw new Error(`no ${plural}`);
    const { namespaced } = resource.definition;
    return { resource, version: 'v1', namespace: namespaced ? 'ns' : '', name: '', subresource: '', ...place };
  };
  const write: Bench['write'] = (plural, place, change, with_ = {}) =>
    registry.write(target(plural, place), change, { ...how, ...with_ });
  return {
    store,
    clock,
    registry,
    target,
    write,
    create: async (plural, object, with_) => {
      const change: Change = { verb: 'create', object: { value: object, findings: [] } };
      return shown(target(plural), await write(plural, {}, change, with_));
    },
    change: async (plural, place, change, with_) => {
      const at = typeof place === 'string' ? { name: place } : place;
      return shown(target(plural, at), await write(plural, at, change, with_));
    },
    read: async (plural, name, read = {}) => {
      const place = target(plural, { name });
      return JSON.parse(
        decodeText(representObject(place, await registry.get(place, read), { as: 'object' })),
      ) as ApiObject;
    },
    names: async (plural, read = {}, place = {}) => {
      const at = target(plural, place);
      const text = allPieces(representList(at, await registry.list(at, optionsOf(read)), { as: 'object' })).join('');
      const body = JSON.parse(Buffer.from(text, 'latin1').toString()) as JsonObject;
      return { names: (body['items'] as ApiObject[]).map(({ metadata }) => metadata.name ?? ''), list: body };
    },
  };
}

/** The same over a store whose watches are late, with config maps that the server follows. */
export const followedBench = (): Bench =>
  bench({
    definitions: [{ ...notes, followed: true }, deployments],
    store: lateStore(openMemoryStore({ clock: drivenClock() }), 2),
  });

/** The object of a write result, as JSON. */
function shown(target: Target, { object }: WriteResult): ApiObject {
  if (object === undefined) throw new Error('the write answers no object');
  return JSON.parse(decodeText(representObject(target, object, { as: 'object' }))) as ApiObject;
}

export const note = (
  name: string,
  data: { [key: string]: string } = { a: '1' },
  meta: JsonObject = {},
): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...meta },
  data,
});

export const update = (value: JsonObject): Change => ({ verb: 'update', object: { value, findings: [] } });
export const merge = (patch: Json): Change => ({ verb: 'patch', format: 'merge', patch });
export const json = (patch: Json): Change => ({ verb: 'patch', format: 'json', patch });
export const strategic = (patch: Json): Change => ({ verb: 'patch', format: 'strategic', patch });
export const apply = (patch: Json): Change => ({ verb: 'patch', format: 'apply', patch });
export const remove = (options: JsonObject = {}): Change => ({ verb: 'delete', options });

/** All pieces of a list, each joined, of which the last one is returned. */
export function allPieces(pieces: Iterator<ListPiece, ListPiece>): string[] {
  const all: string[] = [];
  for (;;) {
    const { value, done } = pieces.next();
    all.push(value.join(''));
    if (done === true) return all;
  }
}

/** The error of a promise. */
export async function failure(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was refused');
}
