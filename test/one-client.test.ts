import { expect, it } from 'vitest';
import { type ApiObject, StatusError } from '../src/server/index.ts';
import { inTime, seededRandom, startWorld, turns, type World } from './support/in-process.ts';

// No client is shown a state that goes backwards within one connection: gets and lists of any version, watches and
// bookmarks, however they are mixed, while the news of writes comes late and the cache loses the store.
const places = ['w0', 'w1'].map((namespace) => ({ apiVersion: 'v1', resource: 'configmaps', namespace }));
const names = ['n0', 'n1', 'n2', 'n3', 'n4', 'n5'];

const keyOf = ({ metadata }: ApiObject) => `${metadata.namespace}/${metadata.name}`;
const versionOf = ({ metadata }: { metadata: { resourceVersion?: string } }) => Number(metadata.resourceVersion);

/** What one client has been shown, in the order in which it was. */
class Shown {
  /** The version of the latest whole state. */
  #state = 0;
  /** The latest version of each object, and whether it was there. */
  readonly #objects = new Map<string, { version: number; there: boolean }>();
  count = 0;

  /** A whole state: of all objects, or of a namespace. */
  list(version: number, items: readonly ApiObject[], namespace: string | undefined): void {
    this.count++;
    if (version < this.#state) throw new Error(`a list goes back to ${version}, from ${this.#state}`);
    const listed = new Set(items.map(keyOf));
    for (const object of items) this.object(object, true);
    for (const [key, { version: seen, there }] of this.#objects) {
      const inside = namespace === undefined || key.startsWith(`${namespace}/`);
      if (!inside || listed.has(key)) continue;
      if (there && seen > version) throw new Error(`a list at ${version} lacks ${key}, seen at ${seen}`);
      this.#objects.set(key, { version: Math.max(seen, version), there: false });
    }
    this.#state = version;
  }

  /** An object as it is at present. */
  object(object: ApiObject, there: boolean): void {
    this.count++;
    const [key, version] = [keyOf(object), versionOf(object)];
    const before = this.#objects.get(key);
    // One that is seen again after it was gone was made anew, at a later version than that.
    const back = before !== undefined && (version < before.version || (there && !before.there && version === before.version));
    if (back) throw new Error(`${key} goes back to ${version}, from ${before.version}${before.there ? '' : ' (gone)'}`);
    this.#objects.set(key, { version, there });
  }

  /** An object is said not to be there. */
  absent(key: string, atLeast: number): void {
    this.count++;
    const before = this.#objects.get(key);
    if (before?.there === true && before.version > atLeast) throw new Error(`${key} is gone, seen at ${before.version}`);
  }

  get state(): number {
    return this.#state;
  }

  get latest(): number {
    return Math.max(this.#state, ...[...this.#objects.values()].map(({ version }) => version));
  }
}
