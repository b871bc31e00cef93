/** The parameters of policies. */
import type { JsonObject, LabelSelector, Turns } from '../../meta/index.ts';
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

/** The parameters with each of which a policy is evaluated. Reading one may decode an object. */
export interface Parameters {
  readonly length: number;
  /** The parameter at an index below `length`. Undefined: the policy is evaluated without. */
  readonly read: (index: number) => Awaitable<JsonObject | undefined>;
}

/** A policy without a kind of parameters, or with a binding without a reference to them, is evaluated once. */
export const noParameters: Parameters = { length: 1, read: () => undefined };

/**
 * Returns the parameters with each of which a policy is evaluated, in the version of their kind (`place`). `namespace`: that
 * of the request. @throws ConfigurationError
 */
export async function collectParameters(
  { objects }: Pick<PluginInitializer, 'objects'>,
  place: KindPlace,
  reference: ParameterReference,
  namespace: string,
  turns: Turns,
): Promise<Parameters> {
  const { name, selector } = reference;
  const within = parameterNamespace(place, reference, namespace);
  if (selector !== undefined) {
    return requireParameters(await objects.selectAs(place, within, selector, turns), reference);
  }
  const parameter = await objects.getAs(place, within, name);
  return requireParameters({ length: parameter === undefined ? 0 : 1, read: () => parameter }, reference);
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

/** @throws ConfigurationError when there are no parameters, and the binding does not allow that */
function requireParameters(parameters: Parameters, { ifNone }: ParameterReference): Parameters {
  if (parameters.length > 0 || ifNone !== 'Deny') return parameters;
  throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
}
