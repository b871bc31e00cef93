/** The plugin ValidatingAdmissionPolicy: what follows from the decisions of policies. */
import { type JsonObject, serverTurns } from '../../meta/index.ts';
import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../types/admissionregistration-v1.ts';
import { exemptFromPolicies } from '../exemptions.ts';
import { RequestValues } from '../expressions/activation.ts';
import type { AdmissionPlugin, AdmissionRequest, Awaitable, PluginInitializer, ServedKind } from '../types.ts';
import { type Application, applicationsOf, failureOf } from './applications.ts';
import { type BoundPolicy, bindingsByPolicy, boundPolicies, policyCompiler } from './bound-policies.ts';
import { compilePolicy, evaluatePolicy, type PolicyInputs, type PolicyProgram } from './evaluate.ts';
import { Outcome } from './outcome.ts';
import { PolicyRequest } from './policy-request.ts';

/** Rejects, warns about or annotates requests by the policies that are stored. */
export function validatingPolicies(initializer: PluginInitializer): AdmissionPlugin {
  const { objects, names } = initializer;
  const exempt = exemptFromPolicies(names);
  const bound = boundPolicies(
    objects.derived(ValidatingAdmissionPolicy, policyCompiler(compilePolicy)),
    objects.derived(ValidatingAdmissionPolicyBinding, bindingsByPolicy),
  );
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: ({ resource }) => !exempt.has(resource),
    validate: (request) => {
      const policies = bound();
      if (policies instanceof Promise) return policies.then((known) => enforce(known, request, initializer));
      return policies.length === 0 ? undefined : enforce(policies, request, initializer);
    },
  };
}

/** @throws StatusError of the first decision that denies */
async function enforce(
  policies: readonly BoundPolicy<PolicyProgram>[],
  request: AdmissionRequest,
  initializer: PluginInitializer,
): Promise<void> {
  const applications = await applicationsOf(policies, request, initializer);
  if (applications.length === 0) return;
  const outcome = new Outcome(request, initializer);
  const seen = new PolicyRequest(request, initializer);
  const known = new Map<ServedKind, RequestValues>();
  const turns = request.turns ?? serverTurns();
  for (const application of applications) {
    if (application.failure !== undefined) {
      outcome.addFailure(application, application.failure);
      continue;
    }
    const { policy, matched, parameters } = application;
    for (const params of parameters) {
      if (turns.over) await turns.next();
      const inputs = inputsOf({ policy, matched, params }, seen, known, initializer.clock);
      const read = inputs instanceof Promise ? await inputs : inputs;
      if (typeof read === 'string') outcome.addFailure(application, read);
      else outcome.add(application, await evaluatePolicy(read));
    }
  }
  outcome.finish();
}

/** A policy, the version in which the request matched it, and one parameter. */
type Evaluated = Pick<Extract<Application<PolicyProgram>, { readonly failure?: never }>, 'policy' | 'matched'> & {
  readonly params: JsonObject | undefined;
};

/** What a policy is evaluated for, or why it cannot be applied. `known`: the request in the versions that were read. */
function inputsOf(
  { policy, matched, params }: Evaluated,
  seen: PolicyRequest,
  known: Map<ServedKind, RequestValues>,
  clock: PolicyInputs['clock'],
): Awaitable<PolicyInputs | string> {
  const program = policy.program();
  const request = known.get(matched);
  if (request === undefined || program instanceof Promise || program.usesNamespace) {
    return readInputs({ policy, matched, params }, seen, known, clock);
  }
  return { program, request, params, namespaceObject: undefined, clock };
}

async function readInputs(
  { policy, matched, params }: Evaluated,
  seen: PolicyRequest,
  known: Map<ServedKind, RequestValues>,
  clock: PolicyInputs['clock'],
): Promise<PolicyInputs | string> {
  const program = await policy.program();
  let request = known.get(matched);
  if (request === undefined) {
    try {
      request = new RequestValues(await seen.read(matched));
    } catch (thrown) {
      return `failed to convert object version: ${failureOf(thrown)}`;
    }
    known.set(matched, request);
  }
  const namespaceObject = program.usesNamespace ? await seen.namespace() : undefined;
  return { program, request, params, namespaceObject, clock };
}
