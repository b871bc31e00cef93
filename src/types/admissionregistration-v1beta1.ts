/** The types of admissionregistration/v1beta1. */
import { field, inline, int64, list, string, struct } from '../schema/index.ts';
import { RuleWithOperations } from './admissionregistration-v1.ts';
import { Condition, LabelSelector, ObjectMeta, typeMeta } from './meta-v1.ts';

// ValidatingAdmissionPolicy

export const ParamKind = struct(
  'admissionregistration/v1beta1.ParamKind',
  {
    apiVersion: field(1, string),
    kind: field(2, string),
  },
  { structType: 'atomic' },
);

export const NamedRuleWithOperations = struct(
  'admissionregistration/v1beta1.NamedRuleWithOperations',
  {
    resourceNames: field(1, list(string), { listType: 'atomic' }),
    ...inline(2, 'ruleWithOperations', RuleWithOperations),
  },
  { structType: 'atomic' },
);

export const MatchResources = struct(
  'admissionregistration/v1beta1.MatchResources',
  {
    namespaceSelector: field(1, LabelSelector, { nullable: true }),
    objectSelector: field(2, LabelSelector, { nullable: true }),
    resourceRules: field(3, list(NamedRuleWithOperations), { listType: 'atomic' }),
    excludeResourceRules: field(4, list(NamedRuleWithOperations), { listType: 'atomic' }),
    matchPolicy: field(7, string, { nullable: true, known: ['Equivalent', 'Exact'] }),
  },
  { structType: 'atomic' },
);

export const Validation = struct('admissionregistration/v1beta1.Validation', {
  expression: field(1, string, { required: true, emptyOk: true, always: true, protoName: 'Expression' }),
  message: field(2, string),
  reason: field(3, string, { nullable: true }),
  messageExpression: field(4, string),
});

export const AuditAnnotation = struct('admissionregistration/v1beta1.AuditAnnotation', {
  key: field(1, string, { required: true, emptyOk: true, always: true }),
  valueExpression: field(2, string, { required: true, emptyOk: true, always: true }),
});

export const MatchCondition = struct('admissionregistration/v1beta1.MatchCondition', {
  name: field(1, string, { required: true, always: true }),
  expression: field(2, string, { required: true, always: true }),
});

export const Variable = struct(
  'admissionregistration/v1beta1.Variable',
  {
    name: field(1, string, { required: true, emptyOk: true, always: true, protoName: 'Name' }),
    expression: field(2, string, { required: true, emptyOk: true, always: true, protoName: 'Expression' }),
  },
  { structType: 'atomic' },
);

export const ValidatingAdmissionPolicySpec = struct('admissionregistration/v1beta1.ValidatingAdmissionPolicySpec', {
  paramKind: field(1, ParamKind, { nullable: true }),
  matchConstraints: field(2, MatchResources, { nullable: true }),
  validations: field(3, list(Validation), { listType: 'atomic' }),
  failurePolicy: field(4, string, { nullable: true, known: ['Fail', 'Ignore'] }),
  auditAnnotations: field(5, list(AuditAnnotation), { listType: 'atomic' }),
  matchConditions: field(6, list(MatchCondition), {
    listType: 'map',
    listMapKeys: ['name'],
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
  variables: field(7, list(Variable), {
    listType: 'map',
    listMapKeys: ['name'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
});

export const ExpressionWarning = struct('admissionregistration/v1beta1.ExpressionWarning', {
  fieldRef: field(2, string, { required: true, emptyOk: true, always: true }),
  warning: field(3, string, { required: true, emptyOk: true, always: true }),
});

export const TypeChecking = struct('admissionregistration/v1beta1.TypeChecking', {
  expressionWarnings: field(1, list(ExpressionWarning), { listType: 'atomic' }),
});

export const ValidatingAdmissionPolicyStatus = struct('admissionregistration/v1beta1.ValidatingAdmissionPolicyStatus', {
  observedGeneration: field(1, int64),
  typeChecking: field(2, TypeChecking, { nullable: true }),
  conditions: field(3, list(Condition), { listType: 'map', listMapKeys: ['type'], duplicates: true }),
});

export const ValidatingAdmissionPolicy = struct('admissionregistration/v1beta1.ValidatingAdmissionPolicy', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ValidatingAdmissionPolicySpec),
  status: field(3, ValidatingAdmissionPolicyStatus),
});

// ValidatingAdmissionPolicyBinding

export const ParamRef = struct(
  'admissionregistration/v1beta1.ParamRef',
  {
    name: field(1, string),
    namespace: field(2, string),
    selector: field(3, LabelSelector, { nullable: true }),
    parameterNotFoundAction: field(4, string, { nullable: true, known: ['Allow', 'Deny'] }),
  },
  { structType: 'atomic' },
);

export const ValidatingAdmissionPolicyBindingSpec = struct(
  'admissionregistration/v1beta1.ValidatingAdmissionPolicyBindingSpec',
  {
    policyName: field(1, string),
    paramRef: field(2, ParamRef, { nullable: true }),
    matchResources: field(3, MatchResources, { nullable: true }),
    validationActions: field(4, list(string), { known: ['Audit', 'Deny', 'Warn'], listType: 'set' }),
  },
);

export const ValidatingAdmissionPolicyBinding = struct(
  'admissionregistration/v1beta1.ValidatingAdmissionPolicyBinding',
  {
    ...typeMeta,
    metadata: field(1, ObjectMeta),
    spec: field(2, ValidatingAdmissionPolicyBindingSpec),
  },
);
