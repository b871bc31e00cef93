/** Policies with their bindings, as they are stored: compiled once for each generation. */
import {
  inTurns,
  type JsonObject,
  type LabelSelector,
  type ObjectMeta,
  once,
  oneStep,
  type Steps,
  selectorFromObject,
  serverTurns,
} from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type { MatchResources, ParamKind, ParamRef } from '../../types/admissionregistration-v1.ts';
import { type CompiledMatch, compileMatch } from '../matching.ts';
import type { Derivation } from '../types.ts';
import type { ParameterReference } from './parameters.ts';

interface PolicySpec {
  readonly paramKind?: Infer<typeof ParamKind>;
  readonly matchConstraints?: MatchResources;
  readonly failurePolicy?: string;
}

interface BindingSpec {
  readonly policyName?: string;
  readonly paramRef?: Infer<typeof ParamRef>;
  readonly matchResources?: MatchResources;
  readonly validationActions?: readonly string[];
}

/** A stored policy. */
export interface CompiledPolicy<Program> {
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly match: CompiledMatch;
  readonly failurePolicy: string;
  readonly paramKind: Infer<typeof ParamKind> | undefined;
  /** Its expressions, compiled by the first request that needs them. */
  readonly program: () => Promise<Program>;
}

/** A stored binding. */
export interface CompiledBinding {
  readonly name: string;
  /** Undefined: whatever the policy matches. */
  readonly match: CompiledMatch | undefined;
  readonly parameters: ParameterReference | undefined;
  readonly actions: readonly string[];
}

export interface BoundPolicy<Program> {
  readonly policy: CompiledPolicy<Program>;
  readonly bindings: readonly CompiledBinding[];
}

/** A stored policy or binding. */
interface StoredObject<Spec> {
  readonly metadata: ObjectMeta;
  readonly spec?: Spec;
}

/** Compiles policies; those whose generation it has compiled before stay as they are. */
export function policyCompiler<Spec extends PolicySpec, Program>(
  compile: (spec: Spec) => Steps<Program>,
): Derivation<StoredObject<Spec>, CompiledPolicy<Program> | undefined, readonly CompiledPolicy<Program>[]> {
  let compiledByUid = new Map<string, CompiledPolicy<Program>>();
  return {
    compile: ({ metadata, spec }) =>
      oneStep(() => {
        const { uid = '', name = '', generation = 0 } = metadata;
        const compiledBefore = compiledByUid.get(uid);
        if (compiledBefore?.generation === generation) return compiledBefore;
        return spec && { name, uid, generation, ...compiled(spec, compile) };
      }),
    join: (policies) => {
      const all = policies.filter((policy) => policy !== undefined);
      compiledByUid = new Map(all.map((policy) => [policy.uid, policy]));
      return all;
    },
  };
}

function compiled<Spec extends PolicySpec, Program>(spec: Spec, compile: (spec: Spec) => Steps<Program>) {
  const { matchConstraints = {}, failurePolicy = 'Fail', paramKind } = spec;
  return {
    match: matchOf(matchConstraints),
    failurePolicy,
    paramKind: paramKind ?? undefined,
    // All requests wait for it.
    program: once(() => inTurns(compile(spec), serverTurns())),
  };
}

const matchOf = ({ resourceRules = [], ...match }: MatchResources): CompiledMatch =>
  compileMatch({ ...match, rules: resourceRules.length === 0 ? undefined : resourceRules });

/** The bindings of each policy, by its name. */
export const bindingsByPolicy: Derivation<
  StoredObject<BindingSpec>,
  readonly [policyName: string, binding: CompiledBinding],
  ReadonlyMap<string, readonly CompiledBinding[]>
> = {
  compile: ({ metadata, spec = {} }) =>
    oneStep(() => {
      const { policyName = '', matchResources, paramRef, validationActions = [] } = spec;
      return [
        policyName,
        {
          name: metadata.name ?? '',
          match: matchResources && matchOf(matchResources),
          parameters: paramRef && referenceOf(paramRef),
          actions: validationActions,
        },
      ];
    }),
  join: (bindings) => {
    const byPolicy = new Map<string, CompiledBinding[]>();
    for (const [policyName, binding] of bindings) {
      const list = byPolicy.get(policyName) ?? [];
      list.push(binding);
      byPolicy.set(policyName, list);
    }
    return byPolicy;
  },
};

function referenceOf(ref: Infer<typeof ParamRef>): ParameterReference {
  const { name = '', namespace = '', selector, parameterNotFoundAction: ifNone } = ref;
  return { name, namespace, ifNone, selector: name === '' ? selectorOf(selector) : undefined };
}

const selectorOf = (selector: object | undefined): LabelSelector => selectorFromObject((selector ?? {}) as JsonObject);

/** Returns a function that joins policies with their bindings, in the order of policies; those without bindings are left out. */
export function bindingsJoiner<Program>(): (
  policies: readonly CompiledPolicy<Program>[],
  bindings: ReadonlyMap<string, readonly CompiledBinding[]>,
) => readonly BoundPolicy<Program>[] {
  let joined: readonly BoundPolicy<Program>[] = [];
  let joinedFrom: readonly unknown[] = [];
  return (policies, bindings) => {
    if (joinedFrom[0] === policies && joinedFrom[1] === bindings) return joined;
    joinedFrom = [policies, bindings];
    joined = policies.flatMap((policy) => {
      const own = bindings.get(policy.name);
      return own === undefined ? [] : [{ policy, bindings: own }];
    });
    return joined;
  };
}
