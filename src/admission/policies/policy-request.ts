import type { KnownDecisions } from '../../cel/index.ts';
import { type JsonObject, statusError } from '../../meta/index.ts';
import { Namespace } from '../../types/core-v1.ts';
import type { RequestInputs } from '../expressions/activation.ts';
import type { AdmissionRequest, PluginInitializer, ServedKind } from '../types.ts';

/** A request as policies see it: in the versions in which they match, and with its namespace. */
export class PolicyRequest {
  readonly #request: AdmissionRequest;
  readonly #initializer: Pick<PluginInitializer, 'objects' | 'authorizeAccess'>;
  /** Decisions of the authorizer, which is asked once for all policies. */
  readonly #decisions: KnownDecisions = new Map();
  #namespace: JsonObject | undefined;

  constructor(request: AdmissionRequest, initializer: Pick<PluginInitializer, 'objects' | 'authorizeAccess'>) {
    this.#request = request;
    this.#initializer = initializer;
  }

  /** The request in a version, with its object as it is now. @throws StatusError when a webhook does not convert it */
  async read(matched: ServedKind): Promise<RequestInputs> {
    const request = this.#request;
    const object = await request.versions.read('object', matched);
    const oldObject = await request.versions.read('oldObject', matched);
    const authorize = this.#initializer.authorizeAccess;
    // The object itself may be replaced in place.
    return { request, matched, object: object && { ...object }, oldObject, authorize, decisions: this.#decisions };
  }

  /** That of the object; undefined for a namespace and other cluster-scoped objects. @throws StatusError 404 */
  async namespace(): Promise<JsonObject | undefined> {
    const { namespace, resource } = this.#request;
    if (namespace === '' || (resource.group === '' && resource.resource === 'namespaces')) return undefined;
    this.#namespace ??= await this.#initializer.objects.get(Namespace, '', namespace);
    if (this.#namespace === undefined) throw statusError.notFound({ group: '', resource: 'namespaces' }, namespace);
    return this.#namespace;
  }
}
