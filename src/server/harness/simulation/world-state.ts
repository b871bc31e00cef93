import type { UntypedObject } from '../../../client/index.ts';
import { formatGroupResource, type Names, parseGroupVersion } from '../../../meta/index.ts';
import { resourceFinder } from '../../../registry/index.ts';
import { builtinResources } from '../../../resources/index.ts';
import type { Entry, Store } from '../../../store/index.ts';
import type { Item, JournalEntry } from '../checks/history.ts';
import type { Trace } from './trace.ts';

/** An object in the store of a simulated world. */
export type WorldObject = UntypedObject;

/** The objects that are stored at one moment, whatever servers and clients know of them. */
export interface WorldState {
  /** The latest resourceVersion. */
  readonly revision: number;
  /** The objects of a resource in the order of their names, such as `pods` or `deployments.apps`. */
  list(resource: string, namespace?: string): readonly WorldObject[];
  get(resource: string, name: string, namespace?: string): WorldObject | undefined;
}

/** A state whose objects can all be visited. */
export interface WholeState extends WorldState {
  /** All objects with their resources, in an unspecified order. */
  all(): Iterable<{ readonly resource: string; readonly object: WorldObject }>;
}

/** A change in the store of a simulated world. */
export interface WorldChange {
  readonly resource: string;
  /** Undefined after a creation. */
  readonly before: WorldObject | undefined;
  /** Undefined after a deletion. */
  readonly after: WorldObject | undefined;
}

/** Follows the store itself. */
export class StoreFollower implements WholeState {
  /** All changes so far, in order. */
  readonly journal: JournalEntry[] = [];
  #revision = 1;
  readonly #objects = new Map<string, Map<string, WorldObject>>();
  /** The objects as they are stored, by key. */
  readonly #stored = new Map<string, WorldObject>();

  /** `changed` is called after each change. */
  constructor(store: Store, names: Names, trace: Trace, changed: (change: WorldChange) => void) {
    const resourceOf = resourceFinder(builtinResources, names);
    store.watch(
      '/',
      1,
      {
        batch: (revision, changes) => {
          this.#revision = Math.max(this.#revision, revision);
          for (const { key, entry, previous } of changes) {
            trace.note('store', `${revision} ${entry === undefined ? 'deletes' : 'writes'} ${key}`, entry?.value);
            const resource = resourceOf(key);
            const before = previous && this.#stored.get(key);
            const after = objectOf(entry);
            if (after === undefined) this.#stored.delete(key);
            else this.#stored.set(key, after);
            if (resource !== undefined && (before ?? after) !== undefined) {
              this.#apply(formatGroupResource(resource), revision, before, after, changed);
            }
          }
        },
        error: (error) => {
          if (error.code !== 'closed') throw error;
        },
      },
      { previous: true },
    );
  }

  get revision(): number {
    return this.#revision;
  }

  *all(): Generator<{ readonly resource: string; readonly object: WorldObject }> {
    for (const [resource, objects] of this.#objects) for (const object of objects.values()) yield { resource, object };
  }

  list(resource: string, namespace?: string): readonly WorldObject[] {
    const all = [...(this.#objects.get(resource) ?? [])]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => object);
    return namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace);
  }

  get(resource: string, name: string, namespace = ''): WorldObject | undefined {
    return this.#objects.get(resource)?.get(`${namespace}/${name}`);
  }

  #apply(
    resource: string,
    revision: number,
    before: WorldObject | undefined,
    after: WorldObject | undefined,
    changed: (change: WorldChange) => void,
  ): void {
    const { namespace = '', name = '' } = (after ?? before)?.metadata ?? {};
    const objects = this.#objects.get(resource) ?? new Map<string, WorldObject>();
    this.#objects.set(resource, objects);
    if (after === undefined) objects.delete(`${namespace}/${name}`);
    else objects.set(`${namespace}/${name}`, withVersion(after, revision));
    this.journal.push({ revision, key: `${resource}/${namespace}/${name}`, object: after as Item | undefined });
    changed({ resource, before, after });
  }
}

/** Stored objects have no resourceVersion: it is the revision of their entry. */
const withVersion = (object: WorldObject, revision: number): WorldObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: String(revision) },
});

/** Undefined for what is no object, or is stored in another form than JSON. */
function objectOf(entry: Entry | undefined): WorldObject | undefined {
  if (entry === undefined || entry.value[0] !== '{'.charCodeAt(0)) return undefined;
  const object = JSON.parse(Buffer.from(entry.value).toString()) as Partial<WorldObject>;
  const isObject = typeof object.apiVersion === 'string' && parseGroupVersion(object.apiVersion) !== undefined;
  return isObject && object.metadata !== undefined ? (object as WorldObject) : undefined;
}
