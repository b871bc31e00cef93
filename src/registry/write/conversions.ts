import { stringifyJson } from '../../codec/index.ts';
import { type ApiObject, type JsonObject, StatusError } from '../../meta/index.ts';
import type { ConvertObjects } from '../resource/custom-storage.ts';
import type { Resource } from '../resource/resource.ts';

/** How many conversions for managed fields one write may need: two for each version that its managers use, and some. */
const maxConversions = 64;

/** Ends an attempt that needs an object in another version. */
class ConversionNeeded extends Error {
  readonly key: string;
  readonly object: ApiObject;
  readonly apiVersion: string;

  constructor(key: string, object: ApiObject, apiVersion: string) {
    super('an object is to be converted');
    this.key = key;
    this.object = object;
    this.apiVersion = apiVersion;
  }
}

/**
 * The conversions that the managed fields of one write need, of a custom resource that a webhook converts. They are
 * needed deep in a computation that does not wait: it ends with an error, and is made again when they are known.
 */
export class Conversions {
  readonly #webhook: ConvertObjects;
  readonly #known = new Map<string, ApiObject>();

  constructor(webhook: ConvertObjects) {
    this.#webhook = webhook;
  }

  /** The object in another version, with its own metadata except for labels and annotations. */
  convert(object: ApiObject, apiVersion: string): ApiObject {
    if (object.apiVersion === apiVersion) return object;
    const { managedFields: _, ...metadata } = object.metadata;
    // A new object has another uid in each attempt.
    const { labels, annotations } = metadata;
    const key = `${apiVersion} ${stringifyJson({ ...object, metadata: { labels, annotations } } as JsonObject)}`;
    const known = this.#known.get(key);
    if (known === undefined) throw new ConversionNeeded(key, { ...object, metadata } as ApiObject, apiVersion);
    return { ...known, metadata: { ...metadata, ...only(known.metadata, 'labels', 'annotations') } } as ApiObject;
  }

  /** What `attempt` returns once all that it converts is known. @throws StatusError */
  async during<T>(attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof ConversionNeeded)) throw error;
        await this.#learn(error);
      }
    }
  }

  async #learn({ key, object, apiVersion }: ConversionNeeded): Promise<void> {
    if (this.#known.size === maxConversions) {
      const why = `the managed fields of the object need more than ${maxConversions} conversions between versions`;
      throw new StatusError(500, '', why);
    }
    const [converted] = await this.#webhook([object], apiVersion);
    if (converted !== undefined) this.#known.set(key, converted);
  }
}

function only(metadata: JsonObject, ...names: readonly string[]): JsonObject {
  const found: JsonObject = {};
  for (const name of names) found[name] = metadata[name] as never;
  return found;
}

/** Undefined for a resource without a webhook. */
export const conversionsOf = ({ format }: Resource): Conversions | undefined =>
  format.custom?.webhook === undefined ? undefined : new Conversions(format.custom.webhook);
