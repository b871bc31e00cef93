/** The types of admissionregistration/v1beta1: the admission policies of v1. */
import * as v1 from './admissionregistration-v1.ts';
import { inVersion } from './in-version.ts';

const v1beta1 = inVersion('admissionregistration/v1beta1');

// ValidatingAdmissionPolicy

export const ParamKind = v1beta1(v1.ParamKind);
export const NamedRuleWithOperations = v1beta1(v1.NamedRuleWithOperations);
export const MatchResources = v1beta1(v1.MatchResources, { matchPolicy: false });
export const Validation = v1beta1(v1.Validation);
export const AuditAnnotation = v1beta1(v1.AuditAnnotation);
export const MatchCondition = v1beta1(v1.MatchCondition);
export const Variable = v1beta1(v1.Variable);
export const ValidatingAdmissionPolicySpec = v1beta1(v1.ValidatingAdmissionPolicySpec);
export const ExpressionWarning = v1beta1(v1.ExpressionWarning);
export const TypeChecking = v1beta1(v1.TypeChecking);
export const ValidatingAdmissionPolicyStatus = v1beta1(v1.ValidatingAdmissionPolicyStatus);
export const ValidatingAdmissionPolicy = v1beta1(v1.ValidatingAdmissionPolicy);

// ValidatingAdmissionPolicyBinding

export const ParamRef = v1beta1(v1.ParamRef);
export const ValidatingAdmissionPolicyBindingSpec = v1beta1(v1.ValidatingAdmissionPolicyBindingSpec);
export const ValidatingAdmissionPolicyBinding = v1beta1(v1.ValidatingAdmissionPolicyBinding);
