/** The types of admissionregistration/v1. */
import { bytes, field, type Infer, inline, int32, int64, list, string, struct } from '../schema/index.ts';
import { Condition, LabelSelector, ObjectMeta, typeMeta } from './meta-v1.ts';

// ValidatingAdmissionPolicy

export const ParamKind = struct(
  'admissionregistration/v1.ParamKind',
  {
    apiVersion: field(1, string),
    kind: field(2, string),
  },
  { structType: 'atomic' },
);

export const Rule = struct('admissionregistration/v1.Rule', {
  apiGroups: field(1, list(string), { listType: 'atomic' }),
  apiVersions: field(2, list(string), { listType: 'atomic' }),
  resources: field(3, list(string), { listType: 'atomic' }),
  scope: field(4, string, { nullable: true, known: ['*', 'Cluster', 'Namespaced'] }),
});

export const RuleWithOperations = struct('admissionregistration/v1.RuleWithOperations', {
  operations: field(1, list(string), { known: ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'], listType: 'atomic' }),
  ...inline(2, 'rule', Rule),
});
export type RuleWithOperations = Infer<typeof RuleWithOperations>;

export const NamedRuleWithOperations = struct(
  'admissionregistration/v1.NamedRuleWithOperations',
  {
    resourceNames: field(1, list(string), { listType: 'atomic' }),
    ...inline(2, 'ruleWithOperations', RuleWithOperations),
  },
  { structType: 'atomic' },
);

export const MatchResources = struct(
  'admissionregistration/v1.MatchResources',
  {
    namespaceSelector: field(1, LabelSelector, { nullable: true }),
    objectSelector: field(2, LabelSelector, { nullable: true }),
    resourceRules: field(3, list(NamedRuleWithOperations), { listType: 'atomic' }),
    excludeResourceRules: field(4, list(NamedRuleWithOperations), { listType: 'atomic' }),
    matchPolicy: field(7, string, { nullable: true, known: ['Equivalent', 'Exact'] }),
  },
  { structType: 'atomic' },
);
export type MatchResources = Infer<typeof MatchResources>;

export const Validation = struct('admissionregistration/v1.Validation', {
  expression: field(1, string, { required: true, emptyOk: true, always: true, protoName: 'Expression' }),
  message: field(2, string),
  reason: field(3, string, { nullable: true }),
  messageExpression: field(4, string),
});

export const AuditAnnotation = struct('admissionregistration/v1.AuditAnnotation', {
  key: field(1, string, { required: true, emptyOk: true, always: true }),
  valueExpression: field(2, string, { required: true, emptyOk: true, always: true }),
});

export const MatchCondition = struct('admissionregistration/v1.MatchCondition', {
  name: field(1, string, { required: true, always: true }),
  expression: field(2, string, { required: true, always: true }),
});

export const Variable = struct(
  'admissionregistration/v1.Variable',
  {
    name: field(1, string, { required: true, emptyOk: true, always: true, protoName: 'Name' }),
    expression: field(2, string, { required: true, emptyOk: true, always: true, protoName: 'Expression' }),
  },
  { structType: 'atomic' },
);

export const ValidatingAdmissionPolicySpec = struct('admissionregistration/v1.ValidatingAdmissionPolicySpec', {
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
export type ValidatingAdmissionPolicySpec = Infer<typeof ValidatingAdmissionPolicySpec>;

export const ExpressionWarning = struct('admissionregistration/v1.ExpressionWarning', {
  fieldRef: field(2, string, { required: true, emptyOk: true, always: true }),
  warning: field(3, string, { required: true, emptyOk: true, always: true }),
});

export const TypeChecking = struct('admissionregistration/v1.TypeChecking', {
  expressionWarnings: field(1, list(ExpressionWarning), { listType: 'atomic' }),
});

export const ValidatingAdmissionPolicyStatus = struct('admissionregistration/v1.ValidatingAdmissionPolicyStatus', {
  observedGeneration: field(1, int64),
  typeChecking: field(2, TypeChecking, { nullable: true }),
  conditions: field(3, list(Condition), { listType: 'map', listMapKeys: ['type'], duplicates: true }),
});
export type ValidatingAdmissionPolicyStatus = Infer<typeof ValidatingAdmissionPolicyStatus>;

export const ValidatingAdmissionPolicy = struct('admissionregistration/v1.ValidatingAdmissionPolicy', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ValidatingAdmissionPolicySpec),
  status: field(3, ValidatingAdmissionPolicyStatus),
});
export type ValidatingAdmissionPolicy = Infer<typeof ValidatingAdmissionPolicy>;

// ValidatingAdmissionPolicyBinding

export const ParamRef = struct(
  'admissionregistration/v1.ParamRef',
  {
    name: field(1, string),
    namespace: field(2, string),
    selector: field(3, LabelSelector, { nullable: true }),
    parameterNotFoundAction: field(4, string, {
      nullable: true,
      known: ['Allow', 'Deny'],
      enum: false,
      checkedByKind: true,
    }),
  },
  { structType: 'atomic' },
);

export const ValidatingAdmissionPolicyBindingSpec = struct(
  'admissionregistration/v1.ValidatingAdmissionPolicyBindingSpec',
  {
    policyName: field(1, string),
    paramRef: field(2, ParamRef, { nullable: true }),
    matchResources: field(3, MatchResources, { nullable: true }),
    validationActions: field(4, list(string), { known: ['Audit', 'Deny', 'Warn'], listType: 'set' }),
  },
);
export type ValidatingAdmissionPolicyBindingSpec = Infer<typeof ValidatingAdmissionPolicyBindingSpec>;

export const ValidatingAdmissionPolicyBinding = struct('admissionregistration/v1.ValidatingAdmissionPolicyBinding', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, ValidatingAdmissionPolicyBindingSpec),
});
export type ValidatingAdmissionPolicyBinding = Infer<typeof ValidatingAdmissionPolicyBinding>;

// ValidatingWebhookConfiguration

export const ServiceReference = struct('admissionregistration/v1.ServiceReference', {
  namespace: field(1, string, { required: true, emptyOk: true, always: true }),
  name: field(2, string, { required: true, emptyOk: true, always: true }),
  path: field(3, string, { nullable: true }),
  port: field(4, int32, { nullable: true }),
});

export const WebhookClientConfig = struct('admissionregistration/v1.WebhookClientConfig', {
  url: field(3, string, { nullable: true }),
  service: field(1, ServiceReference, { nullable: true }),
  caBundle: field(2, bytes),
});

export const ValidatingWebhook = struct('admissionregistration/v1.ValidatingWebhook', {
  name: field(1, string, { required: true, always: true }),
  clientConfig: field(2, WebhookClientConfig, { required: true, always: true }),
  rules: field(3, list(RuleWithOperations), { listType: 'atomic' }),
  failurePolicy: field(4, string, { nullable: true, known: ['Fail', 'Ignore'] }),
  matchPolicy: field(9, string, { nullable: true, known: ['Equivalent', 'Exact'] }),
  namespaceSelector: field(5, LabelSelector, { nullable: true }),
  objectSelector: field(10, LabelSelector, { nullable: true }),
  sideEffects: field(6, string, {
    required: true,
    emptyOk: true,
    always: true,
    nullable: true,
    known: ['Unknown', 'None', 'Some', 'NoneOnDryRun'],
    open: true,
    enum: true,
  }),
  timeoutSeconds: field(7, int32, { nullable: true }),
  admissionReviewVersions: field(8, list(string), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
  matchConditions: field(11, list(MatchCondition), {
    listType: 'map',
    listMapKeys: ['name'],
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
});
export type ValidatingWebhook = Infer<typeof ValidatingWebhook>;

export const ValidatingWebhookConfiguration = struct('admissionregistration/v1.ValidatingWebhookConfiguration', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  webhooks: field(2, list(ValidatingWebhook), {
    listType: 'map',
    listMapKeys: ['name'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'name',
    protoName: 'Webhooks',
  }),
});
export type ValidatingWebhookConfiguration = Infer<typeof ValidatingWebhookConfiguration>;

// MutatingWebhookConfiguration

export const MutatingWebhook = struct('admissionregistration/v1.MutatingWebhook', {
  name: field(1, string, { required: true, always: true }),
  clientConfig: field(2, WebhookClientConfig, { required: true, always: true }),
  rules: field(3, list(RuleWithOperations), { listType: 'atomic' }),
  failurePolicy: field(4, string, { nullable: true, known: ['Fail', 'Ignore'] }),
  matchPolicy: field(9, string, { nullable: true, known: ['Equivalent', 'Exact'] }),
  namespaceSelector: field(5, LabelSelector, { nullable: true }),
  objectSelector: field(11, LabelSelector, { nullable: true }),
  sideEffects: field(6, string, {
    required: true,
    emptyOk: true,
    always: true,
    nullable: true,
    known: ['Unknown', 'None', 'Some', 'NoneOnDryRun'],
    open: true,
    enum: true,
  }),
  timeoutSeconds: field(7, int32, { nullable: true }),
  admissionReviewVersions: field(8, list(string), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
  reinvocationPolicy: field(10, string, { nullable: true, known: ['IfNeeded', 'Never'] }),
  matchConditions: field(12, list(MatchCondition), {
    listType: 'map',
    listMapKeys: ['name'],
    patchStrategy: 'merge',
    patchMergeKey: 'name',
  }),
});
export type MutatingWebhook = Infer<typeof MutatingWebhook>;

export const MutatingWebhookConfiguration = struct('admissionregistration/v1.MutatingWebhookConfiguration', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  webhooks: field(2, list(MutatingWebhook), {
    listType: 'map',
    listMapKeys: ['name'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'name',
    protoName: 'Webhooks',
  }),
});
export type MutatingWebhookConfiguration = Infer<typeof MutatingWebhookConfiguration>;
