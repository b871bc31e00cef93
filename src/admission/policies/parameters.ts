/** The parameters of policies. */
import type { JsonObject, LabelSelector } from '../../meta/index.ts';
import type { Awaitable, KindPlace, PluginInitializer } from '../types.ts';

/** Why a policy or a binding cannot be applied to a request; its failure policy decides what follows. */
export class ConfigurationError extends Error {}

/** Which parameters a binding refers to. */
export interface ParameterReference {
  readonly name: string;
  /** Empty: that of the request. */
  readonly namespace: string;
  /** Undefined: the name decides. */
  readonly selector: LabelSelector | undefined;
  /** What happens if there are none: the binding does not apply (`Allow`), or it cannot be applied (`Deny`). */
  readonly ifNone: string | undefined;
}

const without: readonly undefined[] = [undefined];

/**
 * The parameters with each of which a policy is evaluated, in the version of its kind of parameters; one that is undefined if the policy has no kind of parameters
 * (`place`) or the binding no reference. `namespace`: that of the request.
 * @throws ConfigurationError
 */
export function collectParameters(
  { objects }: Pick<PluginInitializer, 'objects'>,
  place: KindPlace | undefined,
  reference: ParameterReference | undefined,
  namespace: string,
): Awaitable<readonly (JsonObject | undefined)[]> {
  if (place === undefined || reference === undefined) return without;
  const { name, selector } = reference;
  const within = parameterNamespace(place, reference, namespace);
  if (selector === undefined) {
    const found = objects.getAs(place, within, name);
    const asList = (object: JsonObject | undefined) => orNone(object === undefined ? [] : [object], reference);
    return found instanceof Promise ? found.then(asList) : asList(found);
  }
  const selected = objects.selectAs(place, within, selector);
  return selected instanceof Promise ? selected.then((found) => orNone(found, reference)) : orNone(selected, reference);
}

function parameterNamespace({ namespaced }: KindPlace, reference: ParameterReference, namespace: string): string {
  if (!namespaced) {
    if (reference.namespace === '') return '';
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  const within = reference.namespace || namespace;
  if (within !== '') return within;
  throw new ConfigurationError(
    'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
  );
}

function orNone(found: readonly JsonObject[], { ifNone }: ParameterReference): readonly JsonObject[] {
  if (found.length > 0 || ifNone !== 'Deny') return found;
  throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
}
