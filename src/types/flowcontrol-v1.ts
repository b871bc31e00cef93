/** The types of flowcontrol/v1. */
import { bool, field, type Infer, int32, list, string, struct, time } from '../schema/index.ts';
import { conditionStatuses, ObjectMeta, typeMeta } from './meta-v1.ts';

// FlowSchema

export const PriorityLevelConfigurationReference = struct('flowcontrol/v1.PriorityLevelConfigurationReference', {
  name: field(1, string, { required: true, emptyOk: true, always: true }),
});

export const FlowDistinguisherMethod = struct('flowcontrol/v1.FlowDistinguisherMethod', {
  type: field(1, string, { required: true, emptyOk: true, always: true, known: ['ByUser', 'ByNamespace'], open: true }),
});

export const UserSubject = struct('flowcontrol/v1.UserSubject', {
  name: field(1, string, { required: true, always: true }),
});

export const GroupSubject = struct('flowcontrol/v1.GroupSubject', {
  name: field(1, string, { required: true, always: true }),
});

export const ServiceAccountSubject = struct('flowcontrol/v1.ServiceAccountSubject', {
  namespace: field(1, string, { required: true, emptyOk: true, always: true }),
  name: field(2, string, { required: true, always: true }),
});

export const Subject = struct(
  'flowcontrol/v1.Subject',
  {
    kind: field(1, string, {
      required: true,
      emptyOk: true,
      always: true,
      known: ['User', 'Group', 'ServiceAccount'],
      open: true,
    }),
    user: field(2, UserSubject, { nullable: true }),
    group: field(3, GroupSubject, { nullable: true }),
    serviceAccount: field(4, ServiceAccountSubject, { nullable: true }),
  },
  { union: { discriminator: 'kind', members: ['user', 'group', 'serviceAccount'] } },
);

export const ResourcePolicyRule = struct('flowcontrol/v1.ResourcePolicyRule', {
  verbs: field(1, list(string), { required: true, emptyOk: true, always: true, listType: 'set', duplicates: true }),
  apiGroups: field(2, list(string), { required: true, emptyOk: true, always: true, listType: 'set', duplicates: true }),
  resources: field(3, list(string), { required: true, emptyOk: true, always: true, listType: 'set', duplicates: true }),
  clusterScope: field(4, bool),
  namespaces: field(5, list(string), { always: true, listType: 'set', duplicates: true }),
});

export const NonResourcePolicyRule = struct('flowcontrol/v1.NonResourcePolicyRule', {
  verbs: field(1, list(string), { required: true, emptyOk: true, always: true, listType: 'set', duplicates: true }),
  nonResourceURLs: field(6, list(string), {
    required: true,
    emptyOk: true,
    always: true,
    listType: 'set',
    duplicates: true,
  }),
});

export const PolicyRulesWithSubjects = struct('flowcontrol/v1.PolicyRulesWithSubjects', {
  subjects: field(1, list(Subject), { required: true, emptyOk: true, always: true, listType: 'atomic' }),
  resourceRules: field(2, list(ResourcePolicyRule), { listType: 'atomic' }),
  nonResourceRules: field(3, list(NonResourcePolicyRule), { listType: 'atomic' }),
});

export const FlowSchemaSpec = struct('flowcontrol/v1.FlowSchemaSpec', {
  priorityLevelConfiguration: field(1, PriorityLevelConfigurationReference, { required: true, always: true }),
  matchingPrecedence: field(2, int32, { always: true }),
  distinguisherMethod: field(3, FlowDistinguisherMethod, { nullable: true }),
  rules: field(4, list(PolicyRulesWithSubjects), { listType: 'atomic' }),
});
export type FlowSchemaSpec = Infer<typeof FlowSchemaSpec>;

export const FlowSchemaCondition = struct('flowcontrol/v1.FlowSchemaCondition', {
  type: field(1, string),
  status: field(2, string, { known: conditionStatuses, open: true }),
  lastTransitionTime: field(3, time),
  reason: field(4, string),
  message: field(5, string),
});

export const FlowSchemaStatus = struct('flowcontrol/v1.FlowSchemaStatus', {
  conditions: field(1, list(FlowSchemaCondition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
});
export type FlowSchemaStatus = Infer<typeof FlowSchemaStatus>;

export const FlowSchema = struct('flowcontrol/v1.FlowSchema', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, FlowSchemaSpec),
  status: field(3, FlowSchemaStatus),
});
export type FlowSchema = Infer<typeof FlowSchema>;

// PriorityLevelConfiguration

export const QueuingConfiguration = struct('flowcontrol/v1.QueuingConfiguration', {
  queues: field(1, int32, { always: true }),
  handSize: field(2, int32, { always: true }),
  queueLengthLimit: field(3, int32, { always: true }),
});

export const LimitResponse = struct(
  'flowcontrol/v1.LimitResponse',
  {
    type: field(1, string, { required: true, emptyOk: true, always: true, known: ['Queue', 'Reject'], open: true }),
    queuing: field(2, QueuingConfiguration, { nullable: true }),
  },
  { union: { discriminator: 'type', members: ['queuing'] } },
);

export const LimitedPriorityLevelConfiguration = struct('flowcontrol/v1.LimitedPriorityLevelConfiguration', {
  nominalConcurrencyShares: field(1, int32, { always: true, nullable: true }),
  limitResponse: field(2, LimitResponse),
  lendablePercent: field(3, int32, { nullable: true }),
  borrowingLimitPercent: field(4, int32, { nullable: true }),
});

export const ExemptPriorityLevelConfiguration = struct('flowcontrol/v1.ExemptPriorityLevelConfiguration', {
  nominalConcurrencyShares: field(1, int32, { nullable: true }),
  lendablePercent: field(2, int32, { nullable: true }),
});

export const PriorityLevelConfigurationSpec = struct(
  'flowcontrol/v1.PriorityLevelConfigurationSpec',
  {
    type: field(1, string, { required: true, emptyOk: true, always: true, known: ['Exempt', 'Limited'], enum: false }),
    limited: field(2, LimitedPriorityLevelConfiguration, { nullable: true }),
    exempt: field(3, ExemptPriorityLevelConfiguration, { nullable: true }),
  },
  { union: { discriminator: 'type', members: ['limited', 'exempt'] } },
);
export type PriorityLevelConfigurationSpec = Infer<typeof PriorityLevelConfigurationSpec>;

export const PriorityLevelConfigurationCondition = struct('flowcontrol/v1.PriorityLevelConfigurationCondition', {
  type: field(1, string),
  status: field(2, string, { known: conditionStatuses, open: true }),
  lastTransitionTime: field(3, time),
  reason: field(4, string),
  message: field(5, string),
});

export const PriorityLevelConfigurationStatus = struct('flowcontrol/v1.PriorityLevelConfigurationStatus', {
  conditions: field(1, list(PriorityLevelConfigurationCondition), {
    listType: 'map',
    listMapKeys: ['type'],
    duplicates: true,
    patchStrategy: 'merge',
    patchMergeKey: 'type',
  }),
});
export type PriorityLevelConfigurationStatus = Infer<typeof PriorityLevelConfigurationStatus>;

export const PriorityLevelConfiguration = struct('flowcontrol/v1.PriorityLevelConfiguration', {
  ...typeMeta,
  metadata: field(1, ObjectMeta),
  spec: field(2, PriorityLevelConfigurationSpec),
  status: field(3, PriorityLevelConfigurationStatus),
});
export type PriorityLevelConfiguration = Infer<typeof PriorityLevelConfiguration>;
