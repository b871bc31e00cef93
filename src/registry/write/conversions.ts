import { stringifyJson } from '../../codec/index.ts';
import { type ApiObject, type JsonObject, StatusError, type WaitingSteps } from '../../meta/index.ts';
import type { ConvertObjects } from '../resource/custom-storage.ts';

/** How many conversions for managed fields one write may need: two for each version that its managers use, and some. */
const maxConversions = 64;

/** The conversions by a webhook that the managed fields of one write need. An object is converted once for each version. */
export class Conversions {
  readonly #webhook: ConvertObjects;
  readonly #converted = new Map<string, ApiObject>();

  constructor(webhook: ConvertObjects) {
    this.#webhook = webhook;
  }

  /**
   * The object in another version, with its own metadata except for labels and annotations. The step that needs the
   * webhook waits for it. @throws StatusError
   */
  *convert(object: ApiObject, apiVersion: string): WaitingSteps<ApiObject> {
    if (object.apiVersion === apiVersion) return object;
    const { managedFields: _, ...metadata } = object.metadata;
    // A new object has another uid in each attempt.
    const { labels, annotations } = metadata;
    const key = `${apiVersion} ${stringifyJson({ ...object, metadata: { labels, annotations } } as JsonObject)}`;
    if (!this.#converted.has(key)) yield this.#call(key, { ...object, metadata } as ApiObject, apiVersion);
    const converted = this.#converted.get(key) ?? object;
    return {
      ...converted,
      metadata: { ...metadata, ...only(converted.metadata, 'labels', 'annotations') },
    } as ApiObject;
  }

  async #call(key: string, object: ApiObject, apiVersion: string): Promise<void> {
    if (this.#converted.size === maxConversions) {
      const why = `the managed fields of the object need more than ${maxConversions} conversions between versions`;
      throw new StatusError(500, '', why);
    }
    const [converted] = await this.#webhook([object], apiVersion);
    if (converted !== undefined) this.#converted.set(key, converted);
  }
}

function only(metadata: JsonObject, ...names: readonly string[]): JsonObject {
  const fields: JsonObject = {};
  for (const name of names) fields[name] = metadata[name] as never;
  return fields;
}
