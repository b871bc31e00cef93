/** The plugin MutatingAdmissionPolicy. */
import { type JsonObject, jsonEqual, type ObjectMeta, StatusError } from '../../meta/index.ts';
import { MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding } from '../../types/admissionregistration-v1alpha1.ts';
import { whenConfigured } from '../chain.ts';
import { exemptFromPolicies } from '../exemptions.ts';
import { Activation, type RequestInputs, RequestValues } from '../expressions/activation.ts';
import { matchesConditions } from '../expressions/match-conditions.ts';
import { Invocations } from '../reinvocations.ts';
import { admissionTurns, forbidden } from '../request.ts';
import type { AdmissionPlugin, AdmissionRequest, PluginInitializer } from '../types.ts';
import { type Application, applicationsOf, failureOf } from './applications.ts';
import { bindingsByPolicy, bindingsJoiner, type CompiledPolicy, policyCompiler } from './bound-policies.ts';
import { applyMutation, compileMutatingPolicy, type MutatingProgram, MutationFailure } from './mutations.ts';
import { PolicyRequest } from './policy-request.ts';

/** Changes objects as the stored policies say, one after the other. */
export function mutatingPolicies(initializer: PluginInitializer): AdmissionPlugin {
  const { objects, names, features } = initializer;
  const exempt = exemptFromPolicies(names);
  const policies = objects.derived(MutatingAdmissionPolicy, policyCompiler(compileMutatingPolicy));
  const bindings = objects.derived(MutatingAdmissionPolicyBinding, bindingsByPolicy);
  const join = bindingsJoiner<MutatingProgram>();
  const runs = new WeakMap<AdmissionRequest, Invocations>();
  const mutate = async (stored: readonly CompiledPolicy<MutatingProgram>[], request: AdmissionRequest) => {
    const applications = await applicationsOf(join(stored, await bindings()), request, initializer);
    if (applications.length === 0) return;
    const invocations = runs.get(request) ?? new Invocations(request);
    runs.set(request, invocations);
    await new Run(request, invocations, initializer).apply(applications);
  };
  return {
    name: 'MutatingAdmissionPolicy',
    replaces: true,
    handles: ({ operation, resource }) =>
      features.MutatingAdmissionPolicy && operation !== 'DELETE' && !exempt.has(resource),
    mutate: whenConfigured(policies, mutate),
  };
}

type Evaluated = Extract<Application<MutatingProgram>, { readonly failure?: never }>;
/** A policy with a binding and one parameter. */
type Applied = Omit<Evaluated, 'parameters'> & { readonly params: JsonObject | undefined };

/** The policy and the binding that reject a request, with the reason. */
interface Failure {
  readonly policy: string;
  readonly binding: string | undefined;
  readonly why: string;
  readonly reason: string | undefined;
}

/** One run of all policies that concern a request. */
class Run {
  readonly #request: AdmissionRequest;
  readonly #invocations: Invocations;
  readonly #initializer: PluginInitializer;
  readonly #seen: PolicyRequest;
  readonly #failures: Failure[] = [];

  constructor(request: AdmissionRequest, invocations: Invocations, initializer: PluginInitializer) {
    this.#request = request;
    this.#invocations = invocations;
    this.#initializer = initializer;
    this.#seen = new PolicyRequest(request, initializer);
  }

  /** @throws StatusError 403 when a policy fails that does not ignore its failures */
  async apply(applications: readonly Application<MutatingProgram>[]): Promise<void> {
    this.#invocations.begin();
    let applied = false;
    for (const application of applications) {
      if (application.failure !== undefined) this.#configurationFailed(application);
    }
    const turns = admissionTurns(this.#request, this.#initializer.clock);
    for (const application of applications) {
      if (application.failure !== undefined) continue;
      const { parameters, ...policy } = application;
      for (let index = 0; index < parameters.length; index++) {
        if (turns.over) await turns.next();
        if (await this.#applyPolicy({ ...policy, params: await parameters.read(index) })) applied = true;
      }
    }
    // As in the reference server, also when the mutations have changed nothing.
    if (applied) this.#invocations.changed();
    this.#invocations.end();
    const [first] = this.#failures;
    if (first !== undefined) throw this.#rejection(first);
  }

  /** Whether a mutation was applied. */
  async #applyPolicy(application: Applied): Promise<boolean> {
    const { policy, binding, matched, params } = application;
    const program = await policy.program();
    const inputs = await this.#read(application);
    if (inputs === undefined) return false;
    if (program.conditions.conditions.length > 0) {
      const result = await matchesConditions(program.conditions, new RequestValues(inputs), params);
      if (result.result === 'error') this.#failed(application, result.message);
      if (result.result !== 'match') return false;
    }
    const id = [policy.name, binding.name, ...identityOf(params)].join('/');
    if (this.#invocations.skips(id)) return false;
    const { object: before } = inputs;
    const applied = before !== undefined && (await this.#mutate(application, program, inputs, before));
    if (applied && !jsonEqual(before, (await this.#seen.read(matched)).object ?? {})) this.#invocations.changed();
    if (program.reinvocable) this.#invocations.add(id);
    return applied;
  }

  /** Applies the mutations in order, also after one that fails. Returns whether one was applied. */
  async #mutate(
    application: Applied,
    { mutations, compiler, usesNamespace }: MutatingProgram,
    inputs: RequestInputs,
    before: JsonObject,
  ): Promise<boolean> {
    const { policy, binding, matched: as, params } = application;
    const { clock, mutationChecked } = this.#initializer;
    const labels = { policy: policy.name, binding: binding.name };
    const namespaceObject = usesNamespace ? await this.#seen.namespace() : undefined;
    let object = before;
    let applied = false;
    for (const mutation of mutations) {
      const began = clock.monotonic();
      const observe = (error: MutationFailure['kind'] | 'no_error') =>
        mutationChecked({ ...labels, error }, (clock.monotonic() - began) / 1000);
      const activation = new Activation(new RequestValues({ ...inputs, object }), {
        params,
        namespaceObject,
        compiler,
      });
      try {
        await applyMutation(mutation, { request: this.#request, as, object }, activation);
        observe('no_error');
        object = (await this.#seen.read(as)).object ?? {};
        applied = true;
      } catch (thrown) {
        observe(thrown instanceof MutationFailure ? thrown.kind : 'invalid_error');
        if (!(thrown instanceof MutationFailure)) throw thrown;
        this.#failed(application, thrown.message);
      }
    }
    return applied;
  }

  /** Undefined: the request cannot be converted to the version in which the policy matched. */
  async #read({ policy, matched }: Applied): Promise<RequestInputs | undefined> {
    try {
      return await this.#seen.read(matched);
    } catch (thrown) {
      this.#configurationFailed({ policy, binding: undefined, failure: failureOf(thrown) });
      return undefined;
    }
  }

  #failed({ policy, binding }: Applied, why: string): void {
    if (policy.failurePolicy === 'Ignore') return;
    this.#failures.push({ policy: policy.name, binding: binding.name, why, reason: 'Invalid' });
  }

  #configurationFailed({ policy, binding, failure }: Exclude<Application<MutatingProgram>, Evaluated>): void {
    if (policy.failurePolicy === 'Ignore') return;
    const why = `failed to configure ${binding === undefined ? 'policy' : 'binding'}: ${failure}`;
    this.#failures.push({ policy: policy.name, binding: binding?.name, why, reason: undefined });
  }

  #rejection(first: Failure): StatusError {
    const { code, reason, details } = forbidden(this.#request, '');
    const causes = this.#failures.map((failure) => ({ message: messageOf(failure) }));
    return new StatusError(code, first.reason ?? reason, messageOf(first), { ...details, causes });
  }
}

const messageOf = ({ policy, binding, why }: Failure): string =>
  binding === undefined
    ? `policy ${JSON.stringify(policy)} denied request: ${why}`
    : `policy '${policy}' with binding '${binding}' denied request: ${why}`;

function identityOf(params: JsonObject | undefined): readonly string[] {
  const { namespace = '', name = '' } = (params?.['metadata'] ?? {}) as ObjectMeta;
  return [namespace, name];
}
