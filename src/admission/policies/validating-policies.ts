/** The plugin ValidatingAdmissionPolicy: what follows from the decisions of policies. */
import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../types/admissionregistration-v1.ts';
import { whenConfigured } from '../chain.ts';
import { exemptFromPolicies } from '../exemptions.ts';
import { RequestValues } from '../expressions/activation.ts';
import { admissionTurns } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer, ServedKind } from '../types.ts';
import { applicationsOf, failureOf } from './applications.ts';
import { type BoundPolicy, bindingsByPolicy, bindingsJoiner, policyCompiler } from './bound-policies.ts';
import { compilePolicy, evaluatePolicy, type PolicyProgram } from './evaluate.ts';
import { Outcome } from './outcome.ts';
import { PolicyRequest } from './policy-request.ts';

/** Rejects, warns about or annotates requests by the policies that are stored. */
export function validatingPolicies(initializer: PluginInitializer): AdmissionPlugin {
  const { objects, names } = initializer;
  const exempt = exemptFromPolicies(names);
  const policies = objects.derived(ValidatingAdmissionPolicy, policyCompiler(compilePolicy));
  const bindings = objects.derived(ValidatingAdmissionPolicyBinding, bindingsByPolicy);
  const join = bindingsJoiner<PolicyProgram>();
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: ({ resource }) => !exempt.has(resource),
    validate: whenConfigured(policies, async (stored, request) => {
      await enforce(join(stored, await bindings()), request, initializer);
    }),
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
  const turns = admissionTurns(request, initializer.clock);
  for (const application of applications) {
    if (application.failure !== undefined) {
      outcome.addFailure(application, application.failure);
      continue;
    }
    const { policy, matched, parameters } = application;
    const program = await policy.program();
    const values = known.get(matched) ?? (await readValues(seen, matched));
    if (typeof values === 'string') {
      outcome.addFailure(application, values);
      continue;
    }
    known.set(matched, values);
    const namespaceObject = program.usesNamespace ? await seen.namespace() : undefined;
    for (let index = 0; index < parameters.length; index++) {
      if (turns.over) await turns.next();
      const inputs = {
        program,
        request: values,
        params: await parameters.read(index),
        namespaceObject,
        clock: initializer.clock,
      };
      outcome.add(application, await evaluatePolicy(inputs));
    }
  }
  outcome.finish();
}

/** Reads the request in a version; returns why when it cannot be converted. */
async function readValues(seen: PolicyRequest, matched: ServedKind): Promise<RequestValues | string> {
  try {
    return new RequestValues(await seen.read(matched));
  } catch (thrown) {
    return `failed to convert object version: ${failureOf(thrown)}`;
  }
}
