/** Validation of admission policies and their bindings; their expressions are compiled in `expressions.validation.ts`. */
import {
  dns1035Label,
  dns1123Subdomain,
  type FieldError,
  fieldError,
  parseGroupVersion,
  pathSegmentName,
  qualifiedName,
} from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import type {
  AuditAnnotation,
  ParamKind,
  ParamRef,
  TypeChecking,
  ValidatingAdmissionPolicyBindingSpec,
  ValidatingAdmissionPolicySpec,
  Validation,
  Variable,
} from '../../types/admissionregistration-v1.ts';
import type {
  MutatingAdmissionPolicyBindingSpec,
  MutatingAdmissionPolicySpec,
  Mutation,
} from '../../types/admissionregistration-v1alpha1.ts';
import { byRule, byRuleAsOne, eachOf, oneOf, selector, unique } from '../shared/field-rules.ts';
import { validateConditions, validateMatch } from './match-resources.validation.ts';

const MAX_ANNOTATIONS = 20;
/** The most bytes of the expression of an audit annotation. */
export const MAX_VALUE_EXPRESSION = 5 * 1024;
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

/** Validates a ValidatingAdmissionPolicy; its name is part of the keys of its audit annotations. */
export function validatePolicy(spec: ValidatingAdmissionPolicySpec, name: string): FieldError[] {
  const { validations = [], auditAnnotations = [] } = spec;
  const errors = validateCommon(spec);
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const why = 'validations or auditAnnotations must contain at least one item';
    for (const field of ['validations', 'auditAnnotations']) errors.push(fieldError.required(`spec.${field}`, why));
  }
  const path = 'spec.auditAnnotations';
  if (auditAnnotations.length > MAX_ANNOTATIONS) {
    const why = `must not have more than ${MAX_ANNOTATIONS} auditAnnotations`;
    errors.push(fieldError.invalid(path, auditAnnotations, why));
  }
  return [
    ...errors,
    ...eachOf(validations, 'spec.validations', validateValidation),
    ...eachOf(auditAnnotations, path, (annotation, at) => validateAnnotation(annotation, name, at)),
    ...unique(auditAnnotations, path, ({ key = '' }) => key, '.key'),
  ];
}

/** Validates the warnings about expressions in the status. */
export function validateTypeChecking({ expressionWarnings = [] }: Infer<typeof TypeChecking>): FieldError[] {
  return eachOf(expressionWarnings, 'status.typeChecking.expressionWarnings', ({ fieldRef = '', warning = '' }, at) => [
    ...(warning === '' ? [fieldError.required(`${at}.warning`)] : []),
    ...(fieldRef.trim() === '' ? [fieldError.required(`${at}.fieldRef`)] : []),
  ]);
}

/** Validates what both kinds of policy share: parameters, match constraints, match conditions and variables. */
function validateCommon(spec: ValidatingAdmissionPolicySpec | MutatingAdmissionPolicySpec): FieldError[] {
  const { paramKind, matchConstraints: match } = spec;
  const errors = paramKind === undefined ? [] : validateParamKind(paramKind, 'spec.paramKind');
  if (match === undefined) errors.push(fieldError.required('spec.matchConstraints'));
  else {
    errors.push(...validateMatch(match, 'spec.matchConstraints'));
    if ((match.resourceRules ?? []).length === 0) {
      errors.push(fieldError.required('spec.matchConstraints.resourceRules'));
    }
  }
  return [
    ...errors,
    ...validateConditions(spec.matchConditions, 'spec.matchConditions'),
    ...eachOf(spec.variables, 'spec.variables', validateVariable),
  ];
}

export function validateMutatingPolicy(spec: MutatingAdmissionPolicySpec): FieldError[] {
  const { mutations = [], reinvocationPolicy = '' } = spec;
  const errors = validateCommon(spec);
  if (mutations.length === 0) {
    errors.push(fieldError.required('spec.mutations', 'mutations must contain at least one item'));
  }
  errors.push(...eachOf(mutations, 'spec.mutations', validateMutation));
  return reinvocationPolicy === '' ? [...errors, fieldError.required('spec.reinvocationPolicy')] : errors;
}

/** Requires exactly the mutation that `patchType` names. */
function validateMutation(mutation: Mutation, path: string): FieldError[] {
  const types = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const;
  const { patchType = '' } = mutation;
  if (!Object.hasOwn(types, patchType)) return [];
  return Object.entries(types).flatMap(([type, field]) => {
    const at = `${path}.${field}`;
    if (type !== patchType) {
      const why = `must not be specified when patchType is ${patchType}`;
      return mutation[field] === undefined ? [] : [fieldError.invalid(at, mutation[field] ?? null, why)];
    }
    if (mutation[field] === undefined) {
      return [fieldError.required(at, `must be specified when patchType is ${patchType}`)];
    }
    const { expression = '' } = mutation[field];
    return expression.trim() === '' ? [fieldError.required(`${at}.expression`, 'expression is not specified')] : [];
  });
}

function validateParamKind({ apiVersion = '', kind = '' }: Infer<typeof ParamKind>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const at = `${path}.apiVersion`;
  const parsed = parseGroupVersion(apiVersion);
  if (apiVersion === '') errors.push(fieldError.required(at));
  else if (parsed === undefined) {
    errors.push(fieldError.invalid(at, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  } else {
    const { group, version } = parsed;
    if (group !== '') errors.push(...byRuleAsOne(at, group, dns1123Subdomain));
    if (version === '') errors.push(fieldError.invalid(at, apiVersion, 'version must be specified'));
    else errors.push(...byRuleAsOne(at, version, dns1035Label));
  }
  if (kind === '') return [...errors, fieldError.required(`${path}.kind`)];
  const problems = dns1035Label(kind.toLowerCase());
  if (problems.length === 0) return errors;
  const why = `may have mixed case, but should otherwise match: ${problems.join(',')}`;
  return [...errors, fieldError.invalid(`${path}.kind`, kind, why)];
}

const isIdentifier = (name: string): boolean => /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !reserved.has(name);
const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

function validateVariable({ name = '', expression = '' }: Infer<typeof Variable>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (name.trim() === '') errors.push(fieldError.required(`${path}.name`, 'name is not specified'));
  else if (!isIdentifier(name)) {
    errors.push(fieldError.invalid(`${path}.name`, name, 'must be a valid CEL identifier'));
  }
  if (expression.trim() !== '') return errors;
  return [...errors, fieldError.required(`${path}.expression`, 'expression is not specified')];
}

const hasLines = (text: string): boolean => /[\r\n]/.test(text);

function validateValidation(validation: Infer<typeof Validation>, path: string): FieldError[] {
  const { expression = '', message = '', messageExpression = '', reason } = validation;
  const errors: FieldError[] = [];
  if (expression.trim() === '') {
    errors.push(fieldError.required(`${path}.expression`, 'expression is not specified'));
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    const why = 'must be non-empty if specified';
    errors.push(fieldError.invalid(`${path}.messageExpression`, messageExpression, why));
  }
  const at = `${path}.message`;
  const text = message.trim();
  if (message !== '' && text === '') {
    errors.push(fieldError.invalid(at, message, 'message must be non-empty if specified'));
  } else if (hasLines(text)) errors.push(fieldError.invalid(at, message, 'message must not contain line breaks'));
  return reason === undefined ? errors : [...errors, ...oneOf(`${path}.reason`, reason, reasons)];
}

function validateAnnotation(
  { key = '', valueExpression = '' }: Infer<typeof AuditAnnotation>,
  name: string,
  path: string,
): FieldError[] {
  const errors =
    name === ''
      ? [fieldError.invalid(`${path}.key`, key, 'requires metadata.name be non-empty')]
      : byRule(`${path}.key`, `${name}/${key}`, qualifiedName);
  const at = `${path}.valueExpression`;
  const text = valueExpression.trim();
  if (text === '') return [...errors, fieldError.required(at, 'valueExpression is not specified')];
  if (Buffer.byteLength(text) <= MAX_VALUE_EXPRESSION) return errors;
  return [...errors, fieldError.required(at, `must not exceed ${MAX_VALUE_EXPRESSION} bytes in length`)];
}

export function validateBinding(spec: ValidatingAdmissionPolicyBindingSpec): FieldError[] {
  const { validationActions: actions = [] } = spec;
  const errors = validateMutatingBinding(spec);
  const path = 'spec.validationActions';
  if (actions.includes('Deny') && actions.includes('Warn')) {
    const why =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    errors.push(fieldError.invalid(path, actions, why));
  }
  if (actions.length === 0) errors.push(fieldError.required(path, 'at least one validation action is required'));
  return errors;
}

export function validateMutatingBinding(spec: MutatingAdmissionPolicyBindingSpec): FieldError[] {
  const { policyName = '', paramRef, matchResources } = spec;
  return [
    ...(policyName === ''
      ? [fieldError.required('spec.policyName')]
      : byRule('spec.policyName', policyName, dns1123Subdomain)),
    ...(paramRef === undefined ? [] : validateParamRef(paramRef, 'spec.paramRef')),
    ...validateMatch(matchResources, 'spec.matchResources'),
  ];
}

function validateParamRef(ref: Infer<typeof ParamRef>, path: string): FieldError[] {
  const { name = '', selector: labels, parameterNotFoundAction: action = '' } = ref;
  const errors = byRule(`${path}.name`, name, pathSegmentName);
  errors.push(...selector(labels, `${path}.selector`));
  if (name !== '' && labels !== undefined) {
    const why = 'name and selector are mutually exclusive';
    for (const field of ['name', 'selector']) errors.push(fieldError.forbidden(`${path}.${field}`, why));
  }
  if (name === '' && labels === undefined) {
    errors.push(fieldError.required(path, 'one of name or selector must be specified'));
  }
  const at = `${path}.parameterNotFoundAction`;
  return [...errors, ...(action === '' ? [fieldError.required(at)] : oneOf(at, action, ['Deny', 'Allow']))];
}
