/** The types of admissionregistration/v1alpha1: mutating admission policies. */
import { field, type Infer, list, string, struct } from '../schema/index.ts';
import * as v1 from './admissionregistration-v1.ts';
import { inVersion } from './in-version.ts';
import { ObjectMeta, typeMeta } from './meta-v1.ts';

const v1alpha1 = inVersion('admissionregistration/v1alpha1');

// MutatingAdmissionPolicy

export const ParamKind = v1alpha1(v1.ParamKind);
export const NamedRuleWithOperations = v1alpha1(v1.NamedRuleWithOperations);
export const MatchResources = v1alpha1(v1.MatchResources);
export const MatchCondition = v1alpha1(v1.MatchCondition);

// Unlike in v1, not atomic.
export const Variable = struct('admissionregistration/v1alpha1.Variable', v1.Variable.fields);

export const ApplyConfiguration = struct('admissionregistration/v1alpha1.ApplyConfiguration', {
  expression: field(1, string),
});

export const JSONPatch = struct('admissionregistration/v1alpha1.JSONPatch', {
  expression: field(1, string),
});

export const Mutation = struct('admissionregistration/v1alpha1.Mutation', {
  patchType: field(2, string, { required: true, always: true, known: ['ApplyConfiguration', 'JSONPatch'] }),
  applyConfiguration: field(3, ApplyConfiguration, { nullable: true }),
  jsonPatch: field(4, JSONPatch, { nullable: true }),
});
export type Mutation = Infer<typeof Mutation>;

export const MutatingAdmissionPolicySpec = struct('admissionregistration/v1alpha1.MutatingAdmissionPolicySpec', {
  paramKind: field(1, ParamKind, { nullable: true }),
  matchConstraints: field(2, MatchResources, { nullable: true }),
  variables: field(3, list(Variable), { listType: 'atomic' }),
  mutations: field(4, list(Mutation), { listType: 'atomic' }),
  failurePolicy: field(5, string, { nullable: true, known: ['Fail', 'Ignore'] }),
  matchConditions: field(6, list(MatchCondition), {
    listType: 'map',
    listMapKeys: ['name'],
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
  reinvocationPolicy: field(7, string, { known: ['IfNeeded', 'Never'] }),
});
export type MutatingAdmissionPolicySpec = Infer<typeof MutatingAdmissionPolicySpec>;

export const MutatingAdmissionPolicy = struct('admissionregistration/v1alpha1.MutatingAdmissionPolicy', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, MutatingAdmissionPolicySpec),
});

// MutatingAdmissionPolicyBinding

export const ParamRef = v1alpha1(v1.ParamRef, { parameterNotFoundAction: true });

export const MutatingAdmissionPolicyBindingSpec = struct(
  'admissionregistration/v1alpha1.MutatingAdmissionPolicyBindingSpec',
  {
    policyName: field(1, string),
    paramRef: field(2, ParamRef, { nullable: true }),
    matchResources: field(3, MatchResources, { nullable: true }),
  },
);
export type MutatingAdmissionPolicyBindingSpec = Infer<typeof MutatingAdmissionPolicyBindingSpec>;

export const MutatingAdmissionPolicyBinding = struct('admissionregistration/v1alpha1.MutatingAdmissionPolicyBinding', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, MutatingAdmissionPolicyBindingSpec),
});
