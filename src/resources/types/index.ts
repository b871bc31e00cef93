/** Every built-in type, by group and version. */

export * as admissionV1 from './admission-v1.ts';
export * as admissionregistrationV1 from './admissionregistration-v1.ts';
export * as apidiscoveryV2 from './apidiscovery-v2.ts';
export * as apiextensionsV1 from './apiextensions-v1.ts';
export * as apiregistrationV1 from './apiregistration-v1.ts';
export * as appsV1 from './apps-v1.ts';
export * as authenticationV1 from './authentication-v1.ts';
export * as authorizationV1 from './authorization-v1.ts';
export * as autoscalingV1 from './autoscaling-v1.ts';
export * as autoscalingV2 from './autoscaling-v2.ts';
export * as batchV1 from './batch-v1.ts';
export * as certificatesV1 from './certificates-v1.ts';
export * as coordinationV1 from './coordination-v1.ts';
export * as coreV1 from './core-v1.ts';
export * as discoveryV1 from './discovery-v1.ts';
export * as eventsV1 from './events-v1.ts';
export * as flowcontrolV1 from './flowcontrol-v1.ts';
export * as metaV1 from './meta-v1.ts';
export * as networkingV1 from './networking-v1.ts';
export * as nodeV1 from './node-v1.ts';
export * as policyV1 from './policy-v1.ts';
export * as rbacV1 from './rbac-v1.ts';
export * as schedulingV1 from './scheduling-v1.ts';
export * as storageV1 from './storage-v1.ts';
