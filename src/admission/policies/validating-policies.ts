/** The plugin ValidatingAdmissionPolicy: what follows from the decisions of policies. */
import type { JsonObject, Names } from '../../meta/index.ts';
import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../types/admissionregistration-v1.ts';
import { Namespace } from '../../types/core-v1.ts';
import { RequestValues } from '../expressions/activation.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer, ServedKind } from '../types.ts';
import { type Application, applicationsOf } from './applications.ts';
import { type BoundPolicy, bindingsByPolicy, boundPolicies, policyCompiler } from './bound-policies.ts';
import { compilePolicy, evaluatePolicy, type PolicyProgram, type PolicyResult } from './evaluate.ts';
import { Outcome } from './outcome.ts';

/** Rejects, warns about or annotates requests by the policies that are stored. */
export function validatingPolicies(initializer: PluginInitializer): AdmissionPlugin {
  const { objects, names } = initializer;
  const excluded = excludedFrom(names);
  const bound = boundPolicies(
    objects.derived(ValidatingAdmissionPolicy, policyCompiler(compilePolicy)),
    objects.derived(ValidatingAdmissionPolicyBinding, bindingsByPolicy),
  );
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: ({ resource }) => !excluded.has(resource),
    validate: (request) => {
      const policies = bound();
      if (policies instanceof Promise) return policies.then((known) => enforce(known, request, initializer));
      return policies.length === 0 ? undefined : enforce(policies, request, initializer);
    },
  };
}

/** The resources that policies do not apply to: policies themselves, and reviews, which a cluster cannot do without. */
export function excludedFrom({ domain }: Names): ReadonlySet<string> {
  const policies = [
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
  ];
  const accessReviews = ['localsubjectaccessreviews', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews'];
  return new Set([
    ...policies.map((name) => `${name}.admissionregistration.${domain}`),
    ...[...accessReviews, 'subjectaccessreviews'].map((name) => `${name}.authorization.${domain}`),
    ...['selfsubjectreviews', 'tokenreviews'].map((name) => `${name}.authentication.${domain}`),
  ]);
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
  const inputs = new Inputs(request, initializer);
  for (const application of applications) {
    if (application.failure === undefined) outcome.add(application, await evaluateApplication(application, inputs));
    else outcome.addFailure(application, application.failure);
  }
  outcome.finish();
}

type Evaluated = Extract<Application<PolicyProgram>, { readonly failure?: never }>;

async function evaluateApplication({ policy, matched, params }: Evaluated, inputs: Inputs): Promise<PolicyResult> {
  const { clock } = inputs.initializer;
  const compiling = policy.program();
  const program = compiling instanceof Promise ? await compiling : compiling;
  const request = inputs.values(matched);
  const namespaceObject = program.usesNamespace ? await inputs.namespace() : undefined;
  return evaluatePolicy(program, { request: await request, params, namespaceObject, clock });
}

/** What the expressions of all policies see of a request. */
class Inputs {
  readonly initializer: PluginInitializer;
  readonly #request: AdmissionRequest;
  readonly #values = new Map<ServedKind, RequestValues>();

  constructor(request: AdmissionRequest, initializer: PluginInitializer) {
    this.#request = request;
    this.initializer = initializer;
  }

  /** The objects in the version in which a policy matched. */
  async values(matched: ServedKind): Promise<RequestValues> {
    const known = this.#values.get(matched);
    if (known !== undefined) return known;
    const { versions } = this.#request;
    const values = new RequestValues({
      request: this.#request,
      matched,
      object: await versions.read('object', matched),
      oldObject: await versions.read('oldObject', matched),
      authorize: this.initializer.authorizeAccess,
    });
    this.#values.set(matched, values);
    return values;
  }

  /** That of the object; undefined for a namespace and other cluster-scoped objects. */
  async namespace(): Promise<JsonObject | undefined> {
    const { namespace, resource } = this.#request;
    if (namespace === '' || (resource.group === '' && resource.resource === 'namespaces')) return undefined;
    return this.initializer.objects.get(Namespace, '', namespace);
  }
}
