import type { CachedObject } from '../../cache/index.ts';
import { formatGroupResource, type StatusCause, StatusError } from '../../meta/index.ts';
import type { RegistryContext } from '../context.ts';
import type { Resource } from '../resource/resource.ts';
import { unreadable } from '../stored/read.ts';

/** Maximum number of objects that one error names. */
const maxNamed = 100;

/**
 * The objects of a list that cannot be read. The first one fails the list; where such objects may be deleted, all of them
 * are named by one error.
 */
export class Unreadables {
  readonly #resource: Resource;
  readonly #collects: boolean;
  readonly #causes: StatusCause[] = [];

  constructor({ features }: Pick<RegistryContext, 'features'>, resource: Resource) {
    this.#resource = resource;
    this.#collects = features.AllowUnsafeMalformedObjectDeletion;
  }

  /** @throws StatusError 500 unless others may be added */
  add(object: CachedObject): void {
    const error = unreadable(object);
    if (!this.#collects) throw error;
    this.#causes.push({ reason: 'UnexpectedServerResponse', field: object.key, message: error.message });
    if (this.#causes.length < maxNamed) return;
    this.#causes.push({ reason: 'FieldValueTooMany', message: 'too many errors, the list is truncated' });
    this.check();
  }

  /** @throws StatusError 500 when objects have been added */
  check(): void {
    if (this.#causes.length === 0) return;
    const { id, keyPrefix } = this.#resource;
    const message = `failed to read one or more ${formatGroupResource(id)} from the storage`;
    throw new StatusError(500, 'StoreReadError', message, {
      name: keyPrefix,
      ...(id.group === '' ? {} : { group: id.group }),
      kind: id.resource,
      causes: this.#causes,
    });
  }
}
