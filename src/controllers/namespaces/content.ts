import { type Client, type ListOptions, metadataOnly } from '../../client/index.ts';
import { type ApiObject, isStatus, type Names, parseTime } from '../../meta/index.ts';
import type { ServedResource } from '../metadata/discovery.ts';
import { placeOf } from '../shared/kind.ts';
import * as kinds from '../shared/kinds.ts';
import type { Found } from './conditions.ts';

/** How long objects with finalizers are expected to remain (s). */
const finalizerSeconds = 15;
const pageSize = 500;

export interface ContentOptions {
  readonly client: Client;
  readonly names: Names;
  readonly now: () => number;
}

/** Deletes the content of namespaces. */
export class Content {
  readonly #options: ContentOptions;

  constructor(options: ContentOptions) {
    this.#options = options;
  }

  /**
   * Deletes the objects of the resources, and adds what remains to `findings`. Resolves to the seconds after which the rest
   * may be gone, 0 when nothing remains that is waited for.
   */
  async delete(
    namespace: string,
    deletedAt: string,
    resources: readonly ServedResource[],
    findings: Found,
  ): Promise<number> {
    let estimate = 0;
    for (const resource of resources) {
      try {
        estimate = Math.max(estimate, await this.#deleteAll(namespace, deletedAt, resource, findings));
      } catch (error) {
        findings.failures.push(error instanceof Error ? error.message : String(error));
      }
    }
    return estimate;
  }

  async #deleteAll(namespace: string, deletedAt: string, resource: ServedResource, findings: Found): Promise<number> {
    const grace = isPods(resource) ? await this.#gracePeriod(namespace, deletedAt) : 0;
    if (!(await this.#deleteCollection(namespace, resource))) await this.#deleteEach(namespace, resource);
    const finalizers = new Map<string, number>();
    let remaining = 0;
    await this.#forEach(namespace, resource, ({ metadata }) => {
      remaining++;
      for (const name of metadata.finalizers ?? []) finalizers.set(name, (finalizers.get(name) ?? 0) + 1);
    });
    if (remaining === 0) return 0;
    findings.remaining.set(resource, remaining);
    for (const [name, count] of finalizers) findings.finalizers.set(name, (findings.finalizers.get(name) ?? 0) + count);
    if (grace > 0) return grace;
    if (finalizers.size > 0) return finalizerSeconds;
    const { group, apiVersion } = resource;
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
    throw new Error(
      `unexpected items still remain in namespace: ${namespace} for gvr: ${group}/${version}, Resource=${resource.resource}`,
    );
  }

  /** The longest grace period of the running pods (s); 0 when it has passed since the namespace was deleted. */
  async #gracePeriod(namespace: string, deletedAt: string): Promise<number> {
    const { client, now } = this.#options;
    let longest = 0;
    for (const { spec, status } of (await client.kind(kinds.pods).list({ namespace })).items) {
      if (status?.phase === 'Succeeded' || status?.phase === 'Failed') continue;
      longest = Math.max(longest, spec?.terminationGracePeriodSeconds ?? 0);
    }
    return now() - parseTime(deletedAt) >= longest * 1000 ? 0 : longest;
  }

  /** False when the server cannot delete a whole collection. */
  async #deleteCollection(namespace: string, resource: ServedResource): Promise<boolean> {
    if (!resource.verbs.includes('deletecollection')) return false;
    const { client, names } = this.#options;
    try {
      const accept = metadataOnly(names).list;
      await client.deleteCollection(
        placeOf(resource, names, namespace),
        { propagationPolicy: 'Background' },
        { accept },
      );
      return true;
    } catch (error) {
      if (isStatus(error, 404) || isStatus(error, 405)) return false;
      throw error;
    }
  }

  async #deleteEach(namespace: string, resource: ServedResource): Promise<void> {
    const { client, names } = this.#options;
    const objectNames: string[] = [];
    await this.#forEach(namespace, resource, ({ metadata: { name = '' } }) => objectNames.push(name));
    for (const name of objectNames) {
      try {
        await client.delete({ ...placeOf(resource, names, namespace), name }, { propagationPolicy: 'Background' });
      } catch (error) {
        if (!isStatus(error, 404) && !isStatus(error, 405)) throw error;
      }
    }
  }

  /** Calls `visit` for the metadata of each object; for none when the resource cannot be listed. */
  async #forEach(namespace: string, resource: ServedResource, visit: (object: ApiObject) => void): Promise<void> {
    if (!resource.verbs.includes('list')) return;
    const { client, names } = this.#options;
    let options: ListOptions = { accept: metadataOnly(names).list, limit: pageSize };
    try {
      for (;;) {
        const { items, metadata } = await client.list<ApiObject>(placeOf(resource, names, namespace), options);
        for (const item of items) visit(item);
        const { continue: token = '' } = metadata;
        if (token === '') return;
        options = { ...options, continue: token };
      }
    } catch (error) {
      // The resource is not served any more.
      if (!isStatus(error, 404) && !isStatus(error, 405)) throw error;
    }
  }
}

export const isPods = ({ group, resource }: ServedResource): boolean => group === '' && resource === 'pods';
