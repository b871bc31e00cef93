/** The types of admissionregistration/v1alpha1. */
import { field, type Infer, inline, list, string, struct } from '../schema/index.ts';
import { RuleWithOperations } from './admissionregistration-v1.ts';
import { LabelSelector, ObjectMeta, typeMeta } from './meta-v1.ts';

// MutatingAdmissionPolicy

export const ParamKind = struct(
  'admissionregistration/v1alpha1.ParamKind',
  {
    apiVersion: field(1, string),
    kind: field(2, string),
  },
  { structType: 'atomic' },
);

export const NamedRuleWithOperations = struct(
  'admissionregistration/v1alpha1.NamedRuleWithOperations',
  {
    resourceNames: field(1, list(string), { listType: 'atomic' }),
    ...inline(2, 'ruleWithOperations', RuleWithOperations),
  },
  { structType: 'atomic' },
);

export const MatchResources = struct(
  'admissionregistration/v1alpha1.MatchResources',
  {
    namespaceSelector: field(1, LabelSelector, { nullable: true }),
    objectSelector: field(2, LabelSelector, { nullable: true }),
    resourceRules: field(3, list(NamedRuleWithOperations), { listType: 'atomic' }),
    excludeResourceRules: field(4, list(NamedRuleWithOperations), { listType: 'atomic' }),
    matchPolicy: field(7, string, { nullable: true, known: ['Equivalent', 'Exact'] }),
  },
  { structType: 'atomic' },
);

export const MatchCondition = struct('admissionregistration/v1alpha1.MatchCondition', {
  name: field(1, string, { required: true, always: true }),
  expression: field(2, string, { required: true, always: true }),
});

export const Variable = struct('admissionregistration/v1alpha1.Variable', {
  name: field(1, string, { required: true, emptyOk: true, always: true, protoName: 'Name' }),
  expression: field(2, string, { required: true, emptyOk: true, always: true, protoName: 'Expression' }),
});

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

export const ParamRef = struct(
  'admissionregistration/v1alpha1.ParamRef',
  {
    name: field(1, string),
    namespace: field(2, string),
    selector: field(3, LabelSelector, { nullable: true }),
    parameterNotFoundAction: field(4, string, { nullable: true, known: ['Allow', 'Deny'] }),
  },
  { structType: 'atomic' },
);

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
