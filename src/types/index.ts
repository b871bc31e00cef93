/**
 * Every built-in type, by group and version. The files that are not listed here hold rules of these types that admission
 * and the kinds share.
 */

export * as admissionV1 from './admission-v1.ts';
export * as admissionregistrationV1 from './admissionregistration-v1.ts';
export * as admissionregistrationV1alpha1 from './admissionregistration-v1alpha1.ts';
export * as admissionregistrationV1beta1 from './admissionregistration-v1beta1.ts';
export * as apidiscoveryV2 from './apidiscovery-v2.ts';
export * as apiextensionsV1 from './apiextensions-v1.ts';
export * as apiregistrationV1 from './apiregistration-v1.ts';
export * as apiserverinternalV1alpha1 from './apiserverinternal-v1alpha1.ts';
export * as appsV1 from './apps-v1.ts';
export * as authenticationV1 from './authentication-v1.ts';
export * as authenticationV1alpha1 from './authentication-v1alpha1.ts';
export * as authenticationV1beta1 from './authentication-v1beta1.ts';
export * as authorizationV1 from './authorization-v1.ts';
export * as authorizationV1beta1 from './authorization-v1beta1.ts';
export * as autoscalingV1 from './autoscaling-v1.ts';
export * as autoscalingV2 from './autoscaling-v2.ts';
export * as batchV1 from './batch-v1.ts';
export * as certificatesV1 from './certificates-v1.ts';
export * as certificatesV1alpha1 from './certificates-v1alpha1.ts';
export * as certificatesV1beta1 from './certificates-v1beta1.ts';
export * as coordinationV1 from './coordination-v1.ts';
export * as coordinationV1alpha2 from './coordination-v1alpha2.ts';
export * as coordinationV1beta1 from './coordination-v1beta1.ts';
export * as coreV1 from './core-v1.ts';
export * as discoveryV1 from './discovery-v1.ts';
export * as eventsV1 from './events-v1.ts';
export * as flowcontrolV1 from './flowcontrol-v1.ts';
export * as metaV1 from './meta-v1.ts';
export * as metricsV1beta1 from './metrics-v1beta1.ts';
export * as networkingV1 from './networking-v1.ts';
export * as networkingV1beta1 from './networking-v1beta1.ts';
export * as nodeV1 from './node-v1.ts';
export * as policyV1 from './policy-v1.ts';
export * as rbacV1 from './rbac-v1.ts';
export * as resourceV1alpha3 from './resource-v1alpha3.ts';
export * as resourceV1beta1 from './resource-v1beta1.ts';
export * as resourceV1beta2 from './resource-v1beta2.ts';
export * as schedulingV1 from './scheduling-v1.ts';
export * as storageV1 from './storage-v1.ts';
export * as storageV1alpha1 from './storage-v1alpha1.ts';
export * as storageV1beta1 from './storage-v1beta1.ts';
export * as storagemigrationV1alpha1 from './storagemigration-v1alpha1.ts';
