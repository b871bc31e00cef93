/** The applications of policies to a request: each policy that matches, with each binding that does and each parameter. */
import { StatusError, serverTurns, statusError } from '../../meta/index.ts';
import { matchRequest, namespaceOf } from '../matching.ts';
import { admissionTurns } from '../request.ts';
import type { AdmissionRequest, Awaitable, KindPlace, PluginInitializer, ServedKind } from '../types.ts';
import type { BoundPolicy, CompiledBinding, CompiledPolicy } from './bound-policies.ts';
import { ConfigurationError, collectParameters, noParameters, type Parameters } from './parameters.ts';

/** A policy to be evaluated with a binding, once for each parameter; or why it cannot be. */
export type Application<Program> = {
  readonly policy: CompiledPolicy<Program>;
} & (
  | {
      readonly binding: CompiledBinding;
      /** The version in which the request matched. */
      readonly matched: ServedKind;
      readonly parameters: Parameters;
      readonly failure?: never;
    }
  | {
      /** Undefined: it is the policy that cannot be evaluated. */
      readonly binding: CompiledBinding | undefined;
      readonly failure: string;
    }
);

/** How often policies are applied to one request: more are held in memory for no use. */
const maxApplications = 100_000;

const tooMany = () =>
  statusError.internal(
    `policies, their bindings and parameters apply to the request more than ${maxApplications} times`,
  );

const none: Parameters = { length: 0, read: () => undefined };

type Lookups = Pick<PluginInitializer, 'objects' | 'findKind' | 'clock'>;

/** All applications of policies to a request, in the order of policies and bindings. Parameters are held as references only. */
export async function applicationsOf<Program>(
  bound: readonly BoundPolicy<Program>[],
  request: AdmissionRequest,
  lookups: Lookups,
): Promise<readonly Application<Program>[]> {
  const found: Application<Program>[] = [];
  let count = 0;
  const add = (application: Application<Program>) => {
    found.push(application);
    count += application.failure === undefined ? application.parameters.length : 1;
    if (count > maxApplications) throw tooMany();
  };
  const turns = admissionTurns(request, lookups.clock);
  for (const { policy, bindings } of bound) {
    if (turns.over) await turns.next();
    const matched = await matchPolicy(policy, request, lookups);
    if (matched === undefined) continue;
    if (typeof matched === 'string') {
      add({ policy, binding: undefined, failure: matched });
      continue;
    }
    for (const binding of bindings) {
      if (turns.over) await turns.next();
      const parameters = await parametersOf(binding, matched.place, request, lookups);
      if (typeof parameters === 'string') add({ policy, binding, failure: parameters });
      else if (parameters.length > 0) add({ policy, binding, matched: matched.as, parameters });
    }
  }
  return found;
}

/** Returns the version in which a policy matches, with the place of its parameters; or why the policy cannot be applied. */
async function matchPolicy(
  policy: CompiledPolicy<unknown>,
  request: AdmissionRequest,
  lookups: Lookups,
): Promise<{ readonly as: ServedKind; readonly place: KindPlace | undefined } | string | undefined> {
  try {
    const as = await matchRequest(policy.match, request, lookups.objects);
    return as && { as, place: parameterPlace(policy, lookups) };
  } catch (thrown) {
    return failureOf(thrown);
  }
}

/**
 * Returns the parameters with which a binding applies, none when it does not match; or why it cannot be applied. A promise
 * only when the binding has criteria or parameters of its own.
 */
function parametersOf(
  binding: CompiledBinding,
  place: KindPlace | undefined,
  request: AdmissionRequest,
  lookups: Lookups,
): Awaitable<Parameters | string> {
  const { match, parameters } = binding;
  if (match === undefined && (place === undefined || parameters === undefined)) return noParameters;
  return findParameters(binding, place, request, lookups);
}

async function findParameters(
  { match, parameters }: CompiledBinding,
  place: KindPlace | undefined,
  request: AdmissionRequest,
  lookups: Lookups,
): Promise<Parameters | string> {
  try {
    if (match !== undefined && (await matchRequest(match, request, lookups.objects)) === undefined) return none;
    if (place === undefined || parameters === undefined) return noParameters;
    const turns = request.turns ?? serverTurns();
    return await collectParameters(lookups, place, parameters, namespaceOf(request), turns);
  } catch (thrown) {
    return failureOf(thrown);
  }
}

/** Where the parameters of a policy are; undefined: it has none. @throws ConfigurationError */
function parameterPlace({ paramKind }: CompiledPolicy<unknown>, { findKind }: Lookups): KindPlace | undefined {
  if (paramKind === undefined) return undefined;
  const { apiVersion = '', kind = '' } = paramKind;
  const place = findKind(apiVersion, kind);
  if (place !== undefined) return place;
  const qualifiedVersion = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  throw new ConfigurationError(`failed to find resource referenced by paramKind: '${qualifiedVersion}, Kind=${kind}'`);
}

/** Why a policy cannot be applied; anything else is thrown again. */
export function failureOf(thrown: unknown): string {
  if (thrown instanceof ConfigurationError || thrown instanceof StatusError) return thrown.message;
  throw thrown;
}
